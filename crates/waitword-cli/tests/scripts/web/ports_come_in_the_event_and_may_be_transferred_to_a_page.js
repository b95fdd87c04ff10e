//@ file: page.js
//> unnamed port

const { port1, port2 } = new MessageChannel();
const worker = new Worker("worker.js");
worker.postMessage("unnamed port", [port2]);
port1.onmessage = ({ data }) => { console.log(data); port1.close(); };
//@ file: worker.js
onmessage = ({ data, ports: [port] }) => { port.postMessage(data); close(); };
