//> re x true

const channel = new BroadcastChannel("c");
const text = `
  const channel = new BroadcastChannel("c");
  channel.onmessage = ({ data }) => { channel.postMessage("re " + data); channel.close(); close(); };
  postMessage("ready");`;
const worker = new Worker(URL.createObjectURL(new Blob([text])));
worker.onmessage = () => channel.postMessage("x");
channel.addEventListener("message", ({ data, target }) => {
  console.log(data, target === channel);
  channel.close();
});
