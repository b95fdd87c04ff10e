// Calls that return at once: what one costs, and what it costs over a call that does nothing. Nothing is subtracted from
// the plain figures, so the loop is in them; the differences are without it.
//
// The empty native is `Function.prototype`, which ECMA-262 has as a function that takes anything and returns undefined: a
// native one in every engine. It is called with the arguments of the call that it is subtracted from, because an
// interpreter pays for each.

import { figure, quick } from "./support/report.js";

const { wait, waitAsync, notify } = Atomics;
const word = new Int32Array(new SharedArrayBuffer(4));
const nothing = Function.prototype;
// Bursts so short that many of them are not interrupted.
const CALLS = quick ? 100 : 2_000;
const BURSTS = quick ? 2 : 200;

// A loop for each, so that no engine has to guess which function is called.
const loops = {
  "empty function": (n) => { let r; for (let i = 0; i < n; i++) r = emptyFunction(word, 0, 1); return r; },
  "empty native": (n) => { let r; for (let i = 0; i < n; i++) r = nothing(word, 0, 1); return r; },
  "empty native, four arguments": (n) => { let r; for (let i = 0; i < n; i++) r = nothing(word, 0, 0, 0); return r; },
  "wait, not equal": (n) => { let r; for (let i = 0; i < n; i++) r = wait(word, 0, 1); return r; },
  "wait, timeout 0": (n) => { let r; for (let i = 0; i < n; i++) r = wait(word, 0, 0, 0); return r; },
  "notify, nobody waits": (n) => { let r; for (let i = 0; i < n; i++) r = notify(word, 0, 1); return r; },
  "waitAsync, not equal": (n) => { let r; for (let i = 0; i < n; i++) r = waitAsync(word, 0, 1); return r; },
  "waitAsync, timeout 0": (n) => { let r; for (let i = 0; i < n; i++) r = waitAsync(word, 0, 0, 0); return r; },
};
const expected = {
  "wait, not equal": "not-equal",
  "wait, timeout 0": "timed-out",
  "notify, nobody waits": 0,
};

function emptyFunction() {}

// The fastest burst of each: whatever else runs on the machine can only add to it. In turns, so that it adds to all alike.
const fastest = {};
for (let burst = 0; burst < BURSTS; burst++) {
  for (const [name, loop] of Object.entries(loops)) {
    const start = performance.now();
    const result = loop(CALLS);
    const each = ((performance.now() - start) * 1e6) / CALLS;
    if (name in expected && result !== expected[name]) throw new Error(`${name}: ${result}`);
    fastest[name] = Math.min(fastest[name] ?? Infinity, each);
  }
}

for (const [name, each] of Object.entries(fastest)) figure(name, each);
for (const [name, each] of Object.entries(fastest)) {
  if (name.startsWith("empty")) continue;
  const empty = name.endsWith("timeout 0") ? "empty native, four arguments" : "empty native";
  // Where a compiler has removed the call, there is nothing to pay for.
  figure(`${name}, over an empty native`, Math.max(0, each - fastest[empty]));
}
