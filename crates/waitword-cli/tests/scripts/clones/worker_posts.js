// A worker checks what it posts as its page does.
//@ file: page.js
//> TypeError TypeError TypeError TypeError TypeError TypeError TypeError

const worker = new Worker('worker.js'); worker.onmessage = ({ data }) => console.log(data);
//@ file: worker.js
const results = [];
for (const bad of [0, false, "X", Symbol(), { transfer: null }]) {
  try {
    self.postMessage(1, bad);
    results.push("taken");
  } catch (error) {
    results.push(error.name);
  }
}
try {
  postMessage();
} catch (error) {
  results.push(error.name);
}
const channel = new BroadcastChannel("x");
try {
  channel.postMessage();
} catch (error) {
  results.push(error.name);
}
channel.postMessage(1, 0);
postMessage(results.join(" "));
close();
