// `this` in the callbacks of timers, and which function stops which.
//@ stdout: checks
//@ node: same

const { setTimeout: sleep } = require("node:timers/promises");
// After timers and immediates that were due before: a busy machine may have a timer expire before an immediate that is older.
const all = async () => {
  await sleep(5);
  await new Promise((resolve) => setImmediate(resolve));
};
const say = (what, seen, expected) => console.log(`${seen === expected ? "ok " : "BAD"} ${what}: ${seen}`);
const called = (start) => new Promise((resolve) => {
  const timer = start(function (...args) {
    resolve([this === timer ? timer.constructor.name : this === undefined || this === globalThis ? "nothing" : typeof this, ...args].join());
  });
});

(async () => {
  say("setTimeout", await called((call) => setTimeout(call, 1, "a", 2)), "Timeout,a,2");
  say("setImmediate", await called((call) => setImmediate(call, "a", 2)), "Immediate,a,2");
  say("setInterval", await called((call) => {
    const timer = setInterval(function () {
      clearInterval(this);
      call.call(this);
    }, 1);
    return timer;
  }), "Timeout");
  say("nextTick", await called((call) => void process.nextTick(call, "a")), "nothing,a");
  const ran = [];
  const run = (name) => () => ran.push(name);
  clearTimeout(setImmediate(run("an immediate that clearTimeout got")));
  clearImmediate(setImmediate(run("an immediate that clearImmediate got")));
  clearInterval(setTimeout(run("a timeout that clearInterval got"), 1));
  clearTimeout(setInterval(run("an interval that clearTimeout got"), 1));
  clearTimeout(String(+setTimeout(run("a timeout by the text of its number"), 1)));
  await all();
  say("what ran", ran.join(), "an immediate that clearTimeout got");
  const closed = setTimeout(run("closed"), 1);
  say("close", closed.close() === closed && closed.hasRef(), true);
  const immediate = setImmediate(run("again"));
  say("an immediate", [immediate.unref() === immediate, immediate.hasRef(), immediate.ref() === immediate, immediate.hasRef()].join(), "true,false,true,true");
  await all();
  say("an immediate that ran", immediate.hasRef(), false);
})();
