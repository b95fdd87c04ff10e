//@ each PATCH in patches.txt
//> 42
//> /b/c.jsy.c/q
//> file:///a/c%20d.js?q#h
//> http://a/?x=4#h8
//> true
//> 2
//> 3
//> tick
//> through a port
//> timer
//> 1
//> exit 1

const { ownKeys } = Reflect;
const { defineProperty, getPrototypeOf } = Object;
const boom = () => { throw "patched"; };
const each = (list, use) => { for (let at = 0; at < list.length; at++) use(list[at]); };
const { Worker, MessageChannel, receiveMessageOnPort } = require("worker_threads");
const path = require("path");
const { log } = console;
const folder = __dirname;
PATCH;
log(require("./part").answer + require("./data.json").answer);
const { basename, dirname, extname, join } = path.posix;
log(join("/a", "../b", "c.js") + basename("/x/y.js", ".js") + extname("a.b.c") + dirname("/q/r"));
log(new URL("../c d.js?q#h", "file:///a/b/e.js").href);
const url = new URL("http://a:80/?x=1");
url.search = "x=4";
url.hash = "h";
log(url.href + url.port + new URL("http://a:8/").port);
log(path.resolve("x") === folder + path.sep + "x");
const { port1, port2 } = new MessageChannel();
port1.postMessage({ list: [1, 2] });
log(receiveMessageOnPort(port2).message.list[1]);
log(structuredClone({ deep: { list: [3] } }).deep.list[0]);
port2.once("message", (value) => {
    log(value);
    setTimeout(start, 1, "timer");
});
port1.postMessage("through a port");
function start(word) {
    log(word);
    const worker = new Worker("./worker.js", { workerData: { a: 1 }, argv: ["x"] });
    worker.on("message", (message) => { log(message.n); worker.terminate(); });
    worker.once("exit", (code) => log("exit " + code));
}
process.nextTick((text) => log(text), "tick");
//@ file: worker.js
const { parentPort, workerData } = require("worker_threads");
const { ownKeys } = Reflect;
const { defineProperty, getPrototypeOf } = Object;
const boom = () => { throw "patched"; };
const each = (list, use) => { for (let at = 0; at < list.length; at++) use(list[at]); };
PATCH;
parentPort.postMessage({ n: workerData.a });
setTimeout(() => {}, 100000);
//@ file: part.js
exports.answer = 40;
//@ file: data.json
{ "answer": 2 }
