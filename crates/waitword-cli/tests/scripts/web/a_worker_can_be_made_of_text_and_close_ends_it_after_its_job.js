//> ERR_WORKER_PATH
//> ERR_WORKER_PATH
//> after close
//> microtask

const text = `
  setInterval(() => postMessage("never"), 0);
  Promise.resolve().then(() => postMessage("microtask"));
  close();
  postMessage("after close");`;
const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
const worker = new Worker(url);
URL.revokeObjectURL(url);
worker.onmessage = ({ data }) => console.log(data);
for (const bad of [url, "https://example.com/worker.js"]) {
  try {
    new Worker(bad);
  } catch (error) {
    console.log(error.code);
  }
}
