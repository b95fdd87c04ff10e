// What a worker prints comes out, and can be read as well: all of it if asked for in the job that makes the worker.
//@ stderr has: wrong\nwrong\n
//> early
//> late
//> { out: 'early\nlate\n', err: 'wrong\n' } true null
//> early
//> late
//> true
//> rest 0

const { Worker } = require("worker_threads");
const source = `
  const { parentPort } = require("worker_threads");
  console.log("early");
  process.stderr.write("wrong\\n");
  parentPort.once("message", () => console.log("late"));`;
const first = new Worker(source, { eval: true });
const heard = { out: "", err: "" };
first.stdout.on("data", (text) => (heard.out += text));
first.stderr.on("data", (text) => (heard.err += text));
const ended = (stream) => new Promise((resolve) => stream.on("end", resolve));
const all = [ended(first.stdout), ended(first.stderr)];
first.postMessage(0);
Promise.all(all).then(() => {
  console.log(heard, first.stdout === first.stdout, first.stdin);
  // One that is asked for later has what is printed later.
  const second = new Worker(source, { eval: true });
  let text = "";
  second.on("online", () => setTimeout(() => {
    second.stdout.on("data", (more) => (text += more)).on("end", () => console.log(["late\n", "early\nlate\n"].includes(text)));
    second.postMessage(0);
  }));
  second.on("exit", async () => {
    // After the end there is nothing to come.
    let rest = 0;
    for await (const _ of second.stderr) rest++;
    console.log("rest", rest);
  });
});
