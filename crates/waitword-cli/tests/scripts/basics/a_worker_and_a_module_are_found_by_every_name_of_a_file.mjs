//> 1 true true

import { createRequire } from "node:module";
import { sep } from "node:path";
import { Worker } from "node:worker_threads";
const { filename, url } = import.meta;
const part = (name) => name.replace("main.mjs", "part.js");
const absolute = [part(filename), new URL(part(url)), `.${sep}part.js`, "./part.js"];
// As Windows itself has it.
if (sep === "\\") absolute.push("\\\\?\\" + part(filename), part(filename).replaceAll("\\", "/"));
const worker = (name) => new Promise((resolve) => new Worker(name).on("message", resolve));
const answers = [];
for (const name of absolute) answers.push(await worker(name));
for (const name of [part(filename), part(url), "./part.js"]) answers.push((await import(name)).default);
answers.push(createRequire(url)(part(filename)), createRequire(filename)("./part.js"));
console.log(new Set(answers).size, answers[0] === part(filename), new URL(url).pathname.endsWith("/main.mjs"));
//@ file: part.js
require('worker_threads').parentPort?.postMessage(__filename); module.exports = __filename;
