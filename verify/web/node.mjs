// The suite in Node: node node.mjs PKG [QUERY]
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { optionsOf, runSuite } from './suite.mjs';

const [pkg, query = ''] = process.argv.slice(2);
const file = (name) => path.resolve(pkg, name);
const bindgen = await import(pathToFileURL(file('waitword_web_tests.js')));
const module = new WebAssembly.Module(fs.readFileSync(file('waitword_web_tests_bg.wasm')));
const wasm = bindgen.initSync({ module });
// A pending waitAsync keeps no program alive.
const alive = setInterval(() => {}, 1000);
// A lost wakeup is a failure, and not a run without an end. A busy machine is none: each test has as long. In a thread of its own, because
// the main thread may be what does not come to an end.
const LIMIT = Number(process.env.LIMIT_S ?? 300);
const logged = new Int32Array(new SharedArrayBuffer(4));
new Worker(`
  const { workerData: logged } = require('node:worker_threads');
  for (let seen = 0; Atomics.wait(logged, 0, seen, ${LIMIT * 1000}) !== 'timed-out';) seen = Atomics.load(logged, 0);
  require('node:fs').writeSync(1, 'FAILED: nothing was logged for ${LIMIT} s\\n');
  process.kill(process.pid, 'SIGKILL');
`, { eval: true, workerData: logged }).unref();
const failed = (error) => { console.log(`FAILED: ${error?.stack ?? error}`); process.exit(1); };
process.on('uncaughtException', failed);
process.on('unhandledRejection', failed);
await runSuite(bindgen, wasm, optionsOf(query), (line) => {
  console.log(line);
  Atomics.add(logged, 0, 1);
  Atomics.notify(logged, 0);
});
clearInterval(alive);
process.exit(0);
