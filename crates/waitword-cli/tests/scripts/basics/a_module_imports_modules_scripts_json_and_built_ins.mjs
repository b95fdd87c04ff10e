//> 1 3 1 true true undefined undefined
//> main.mjs main.mjs a_module_imports_modules_scripts_json_and_built_ins
//> late top-level await

import { basename } from "node:path";
import threads, { isMainThread } from "worker_threads";
import { counter, increment } from "./counter.mjs";
import { add } from "./lib.cjs";
import data from "./data.json" with { type: "json" };
increment();
console.log(counter, add(1, 2), data.z, isMainThread, threads.isMainThread, this, typeof require);
console.log(basename(import.meta.url), basename(import.meta.filename), basename(import.meta.dirname));
console.log((await import("./late.js")).default, await Promise.resolve("top-level await"));
//@ file: counter.mjs
export let counter = 0; export const increment = () => counter++; import './main.mjs';
//@ file: lib.cjs
exports.add = (a, b) => a + b;
//@ file: data.json
{ "z": 1 }
//@ file: late.js
export default 'late';
