// Two tasks of one agent, without atomics: node single.mjs PKG
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const pkg = process.argv[2];
const program = await import(pathToFileURL(path.resolve(pkg, 'waitword_web_size.js')));
program.initSync({ module: fs.readFileSync(path.join(pkg, 'waitword_web_size_bg.wasm')) });
assert.equal(await program.count(1000), 2000);
const start = performance.now();
assert.equal(await program.timesOut(30), true);
assert(performance.now() - start >= 29);
console.log('ok without atomics');
