// `data:` URLs: as workers, and as modules; what is no JavaScript.
//@ flags: --main-can-block
//@ stdout: as on Node

const { Worker } = require("node:worker_threads");
const ran = (url, opt) => new Promise((resolve) => { const log = []; let w; try { w = new Worker(typeof url === "string" ? new URL(url) : url, opt); } catch (e) { return resolve([e.name, e.code, e.message]); } w.on("message", (m) => log.push(m)); w.on("error", (e) => log.push([e?.name, e?.code, e?.message])); w.on("exit", (c) => resolve([...log, c])); });
const post = "import { parentPort } from 'node:worker_threads'; parentPort.postMessage(";
(async () => {
  for (const u of [
    "data:text/javascript," + post + "import.meta.url.slice(0,20))", "data:text/javascript;charset=utf-8," + post + "'p')", "data:text/javascript;base64," + btoa(post + "'b64')"),
    "data:text/javascript," + post + "[typeof require, typeof module, this])", "data:text/javascript,throw new Error('inside')", 
    "data:text/javascript," + post + "await 5)", "data:text/javascript,import './x.js'", "data:text/javascript,import 'data:text/javascript,import %22node:worker_threads%22'; " + post + "'nested')",
    "data:application/json,{\"a\":1}", "data:text/plain,hello", "data:text/html,<p>", "data:application/wasm,xx", "data:,console.log(1)", "data:text/javascript", "data:", "data:application/javascript," + post + "1)", "data:text/ecmascript," + post + "1)", "data:TEXT/JAVASCRIPT," + post + "1)",
    "data:text/javascript," + post + "'%F0%9F%98%80 %41')", "data:text/javascript,//#x\n" + post + "1)", "data:text/javascript," + post + "1)#frag", "data:text/javascript," + post + "(await import('data:application/json,[1]', { assert: { type: 'json' } })).default)",
    "data:text/javascript," + post + "(await import('data:application/json,[2]', { with: { type: 'json' } })).default)",
    "data:text/javascript," + post + "await import('data:text/plain,x').catch((e) => [e.name, e.code, e.message]))", "data:text/javascript," + post + "(await import('data:text/javascript,export default 7')).default)",
    "data:text/javascript," + post + "await import('data:text/javascript,bad syntax').catch((e) => [e.name]))",
    "http://x.y/z.js", "data:text/javascript;foo=bar;base64," + btoa(post + "'b64b')"),
  ]) console.log(JSON.stringify(u), await ran(u));
  console.log(await ran("data:text/javascript,x", { eval: true }));
  for (const s of ["data:text/javascript,1", 5, null, undefined, {}]) try { new Worker(s); } catch (e) { console.log(e.name, e.code, e.message); }
  console.log((await import("data:text/javascript,export const a = 1; export default import.meta.url")).default);
  console.log(await import("data:text/javascript,export const a = 1") === await import("data:text/javascript,export const a = 1"));
  try { require("data:text/javascript,1") } catch (e) { console.log(e.code); }
})();
