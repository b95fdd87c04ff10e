// Each function that posts, as `post(...arguments)`.
const { Worker: NodeWorker } = require("node:worker_threads");
const page = new Worker("data:text/javascript,onmessage = () => {}");
const node = new NodeWorker("require('worker_threads').parentPort.on('message', () => {})", { eval: true });
exports.posts = [
  structuredClone,
  (...all) => new MessageChannel().port1.postMessage(...all),
  (...all) => page.postMessage(...all),
  (...all) => node.postMessage(...all),
];
exports.end = () => { page.terminate(); node.terminate(); };
exports.shown = (call) => { try { call(); return "taken"; } catch (error) { return error.name; } };
