// The suite in Node: node node.mjs PKG [QUERY]
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { optionsOf, runSuite } from './suite.mjs';

const [pkg, query = ''] = process.argv.slice(2);
const file = (name) => path.resolve(pkg, name);
const bindgen = await import(pathToFileURL(file('waitword_web_tests.js')));
const module = new WebAssembly.Module(fs.readFileSync(file('waitword_web_tests_bg.wasm')));
const wasm = bindgen.initSync({ module });
// A pending waitAsync keeps no program alive.
const alive = setInterval(() => {}, 1000);
// A lost wakeup is a failure, and not a run without an end. A busy machine is none: each test has as long.
const LIMIT = Number(process.env.LIMIT_S ?? 300);
const limit = setTimeout(() => failed(`nothing was logged for ${LIMIT} s`), LIMIT * 1000);
limit.unref();
const failed = (error) => { console.log(`FAILED: ${error?.stack ?? error}`); process.exit(1); };
process.on('uncaughtException', failed);
process.on('unhandledRejection', failed);
await runSuite(bindgen, wasm, optionsOf(query), (line) => {
  limit.refresh();
  console.log(line);
});
clearInterval(alive);
process.exit(0);
