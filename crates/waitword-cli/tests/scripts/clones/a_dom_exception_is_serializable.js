//> true AbortError m 20 true why true
//> true true
//> true
//> false 0
//> true AbortError m 20 true why true
//> true AbortError m 20 true why true
//> true AbortError m 20 true why true
//> true DataCloneError thrown 25

const e = new DOMException("m", { name: "AbortError", cause: new RangeError("why") });
const show = (it) => console.log(it instanceof DOMException, it.name, it.message, it.code, it.stack === e.stack, it.cause?.message, it !== e);
show(structuredClone(e));
const both = structuredClone({ one: e, two: e, list: [e] });
console.log(both.one === both.two, both.one === both.list[0]);
class Mine extends DOMException {}
console.log(Object.getPrototypeOf(structuredClone(new Mine("m", "DataCloneError"))) === DOMException.prototype);
console.log("cause" in structuredClone(new DOMException("m", "NoSuchName")), structuredClone(new DOMException("m", "NoSuchName")).code);
const { port1, port2 } = new MessageChannel();
port2.onmessage = ({ data }) => {
  show(data);
  port2.close();
  const worker = new Worker("data:text/javascript,onmessage = ({ data }) => { postMessage(data); close(); }");
  worker.postMessage(e);
  worker.onmessage = ({ data }) => {
    show(data);
    const [one, other] = [new BroadcastChannel("dom"), new BroadcastChannel("dom")];
    one.postMessage(e);
    other.onmessage = ({ data }) => {
      show(data);
      one.close();
      other.close();
      const { Worker } = require("node:worker_threads");
      new Worker("throw new DOMException('thrown', 'DataCloneError')", { eval: true })
        .on("error", (it) => console.log(it instanceof DOMException, it.name, it.message, it.code));
    };
  };
};
port1.postMessage(e);
