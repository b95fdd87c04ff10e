//@ each PATCH in patches.txt
//@ code: 1
//@ stderr has: uncaught exception in main
//@ stderr has: TypeError: this one
//@ stderr has: main.js:

const { ownKeys, defineProperty, getPrototypeOf, boom, each } = require("./support/tools.js");
const wrong = new TypeError('this one');
setTimeout(() => { throw wrong; }, 1);
PATCH;
