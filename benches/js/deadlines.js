// Many deadlines pass: all at the same time, and spread over a second. Until the last promise has settled, how late is it, and
// how long does the agent's loop get to nothing else?

import { figure, quick, since } from "./support/report.js";

const N = quick ? 200 : 160_000;
// Long enough for all waits to be made before the first is due, whichever engine it is.
const LEAD = 2_000;

await expire("at once", 0);
await expire("over a second", quick ? 20 : 1_000);

async function expire(name, spread) {
  const word = new Int32Array(new SharedArrayBuffer(4));
  const first = performance.now() + LEAD;
  let latest = 0;
  const promises = new Array(N);
  for (let i = 0; i < N; i++) {
    // In no order, as deadlines are: the multiplier has no factor in common with N.
    const due = first + (((i * 7919) % N) / N) * spread;
    promises[i] = Promise.resolve(Atomics.waitAsync(word, 0, 0, due - performance.now()).value).then(() => {
      latest = Math.max(latest, performance.now() - due);
    });
  }
  // Of a quick run nothing but its end counts.
  if (performance.now() > first && !quick) throw new Error(`it takes more than ${LEAD} ms to make ${N} waits`);

  // A timer that starts itself again, at every turn of the loop: how long one is overdue is how long the loop is stalled.
  let longest = 0;
  let turn = performance.now();
  let timer = setTimeout(function again() {
    const now = performance.now();
    // Before the first deadline there is nothing to be stalled by.
    if (now > first) longest = Math.max(longest, now - Math.max(turn, first));
    turn = now;
    timer = setTimeout(again, 1);
  }, 1);

  await Promise.all(promises);
  // The last gap, too, which no turn has ended yet.
  longest = Math.max(longest, performance.now() - turn);
  clearTimeout(timer);
  figure(`${name}: all settled after the first was due`, since(first), { n: N });
  figure(`${name}: the latest one`, latest * 1e6, { n: N });
  figure(`${name}: the loop's longest gap`, longest * 1e6, { n: N });
}
