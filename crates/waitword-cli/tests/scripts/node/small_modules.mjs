// The small modules of Node that programs with workers use.
//@ flags: --main-can-block
//@ stdout: as on Node

import assert from "node:assert";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { setImmediate as immediate, setInterval as every, setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import util, { promisify, types } from "node:util";

console.log(os.availableParallelism() > 0, os.cpus().length > 0);
console.log(await sleep(1, "slept"), await immediate("at once"), await promisify(setTimeout)(1, "promised"));
let ticks = 0;
for await (const tick of every(1, "tick")) {
  console.log(tick);
  if (++ticks === 2) break;
}
const controller = new AbortController();
const long = sleep(1e6, null, { signal: controller.signal });
controller.abort();
console.log(await long.catch((error) => [error.name, error.code, error.message]));

console.log(await promisify((a, done) => done(null, a + 1))(1), await promisify((done) => done(new Error("no")))().catch((error) => error.message));
console.log(types.isSharedArrayBuffer(new SharedArrayBuffer(1)), types.isMap(new Map()), types.isPromise(1), types.isNativeError(new TypeError()), types.isInt32Array(new Int8Array(1)));
const deep = (tail) => ({ a: [1, new Map([["k", new Set([tail])]]), new Date(5), /x/g, new Uint8Array([1])] });
console.log(util.isDeepStrictEqual(deep(1), deep(1)), util.isDeepStrictEqual(deep(1), deep(2)), util.isDeepStrictEqual([1], ["1"]), util.isDeepStrictEqual(NaN, NaN));

assert.deepStrictEqual(deep(1), deep(1));
assert.throws(() => { throw new TypeError("x"); }, TypeError);
assert.throws(() => { throw new Error("abc"); }, /b/);
assert.throws(() => { throw new Error("abc"); }, { message: "abc" });
assert.match("abc", /b/);
for (const call of [() => assert(false, "said"), () => assert.equal(1, 2, "said"), () => assert.fail("failed"), () => assert.throws(() => {}), () => assert.notDeepStrictEqual([1], [1], "same")]) {
  try {
    call();
  } catch (error) {
    console.log(error.name, error.code, error.message.split("\n")[0], error instanceof assert.AssertionError);
  }
}
console.log(path.relative("/a/b/c", "/a/d"), path.parse("/home/u/f.tar.gz"), path.join("a", "..", "b", "./c/"), path.normalize("/a//b/../c/"), path.format({ dir: "/a", base: "b" }), path.delimiter);
console.log(fileURLToPath(pathToFileURL("/a b/c#d.js")), new URL("https://e.org:8080/a/../b?x=1").href);
const require = createRequire(import.meta.url);
console.log(require("node:worker_threads").isMainThread);
for (const name of ["left-pad", "node:nothing", "./nothing.js"]) {
  console.log(await import(name).catch((error) => error.code));
  try {
    require(name);
  } catch (error) {
    console.log(error.code);
  }
}
const bytes = new TextEncoder().encode("aé€😀");
console.log(bytes, new TextDecoder().decode(bytes), new TextDecoder().decode(new Uint8Array([0xff, 0x41, 0xf0, 0x9f, 0xe2, 0x82, 0x41])), new TextEncoder().encodeInto("aé€", new Uint8Array(4)));
for (let room = 0; room < 8; room++) console.log(new TextEncoder().encodeInto("x😀\ud83dé", new Uint8Array(room)));
const marked = new Uint8Array([0xef, 0xbb, 0xbf, 0x41]);
console.log([new TextDecoder(), new TextDecoder(" UTF8 ", { ignoreBOM: true })].map((decoder) => decoder.decode(marked).length));
console.log(new TextDecoder().decode(new Uint8Array(new SharedArrayBuffer(2))), new TextDecoder().decode(marked.buffer.slice(3)));
for (const bad of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82]]) {
  try {
    console.log(new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array(bad)));
  } catch (error) {
    console.log(error.name, error.code, new TextDecoder().decode(new Uint8Array(bad)).length);
  }
}
