//> ERR_WORKER_PATH revoked
//> ERR_WORKER_PATH not known
//> ERR_WORKER_PATH not known
//> ERR_WORKER_PATH not known
//> ERR_WORKER_PATH not known
//> ERR_WORKER_PATH revoked
//> ERR_WORKER_PATH not known

const why = (url) => {
  try {
    new Worker(url);
  } catch ({ code, message }) {
    return code + (/ was revoked$/.test(message) ? " revoked" : / is not known/.test(message) ? " not known" : message);
  }
};
const url = URL.createObjectURL(new Blob([`
  onmessage = ({ data }) => {
    URL.revokeObjectURL(data);
    postMessage(URL.createObjectURL(new Blob([""])));
  }`]));
const revoked = URL.createObjectURL(new Blob([""]));
URL.revokeObjectURL(revoked);
URL.revokeObjectURL("blob:of nobody");
for (const each of [revoked, revoked + "0", "blob:", "blob:null/0b1c", url.replace(/\d+$/, "0$&")]) console.log(why(each));
const byOther = URL.createObjectURL(new Blob([""]));
const { Worker: NodeWorker } = require("node:worker_threads");
const worker = new Worker(url);
worker.onmessage = ({ data }) => {
  console.log(why(byOther));
  // The URLs of an agent go with it.
  const maker = new NodeWorker("require('worker_threads').parentPort.postMessage(URL.createObjectURL(new Blob([''])))", { eval: true });
  let made;
  maker.on("message", (url) => { made = url; });
  maker.on("exit", () => {
    console.log(why(made));
    worker.terminate();
  });
  worker.onmessage = null;
};
worker.postMessage(byOther);
