// process.nextTick comes before microtasks, after the script and after each job.
//@ flags: --main-can-block
//@ stdout: as on Node

const log = [];
const say = (what) => log.push(what);
setTimeout(() => {
  process.nextTick(() => say("tick of a timer"));
  Promise.resolve().then(() => say("job of a timer"));
});
process.nextTick(say, "tick 1");
Promise.resolve().then(() => {
  say("job 1");
  process.nextTick(() => say("tick of a job"));
  queueMicrotask(() => say("job of a job"));
});
process.nextTick(() => {
  say("tick 2");
  Promise.resolve().then(() => say("job of a tick"));
  process.nextTick(() => say("tick of a tick"));
});
queueMicrotask(() => say("job 2"));
say("script");
setTimeout(() => console.log(log), 20);
