//@ arguments: one --two
//> main.js a_script_has_what_common_js_gives_it true true
//> 3 true { z: [ 1 ] }
//> [ 'one', '--two' ]

#!/usr/bin/env waitword
const { basename } = require("node:path");
console.log(basename(__filename), basename(__dirname), this === module.exports, require.main === module);
const lib = require("./lib");
console.log(lib.add(1, 2), lib === require("./lib.js"), require("./data.json"));
console.log(process.argv.slice(2));
if (lib) return;
console.log("never");
//@ file: lib.js
exports.main = require('./main.js'); exports.add = (a, b) => a + b;
//@ file: data.json
{ "z": [1] }
