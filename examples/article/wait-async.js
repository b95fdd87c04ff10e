// The article's tour of `Atomics.waitAsync`: first the listing, then every shape its result can have.
//
//   waitword run examples/article/wait-async.js        node examples/article/wait-async.js

// Node does not count a pending waitAsync as work and would leave early; waitword does, if it has a timeout.
const stayAlive = setInterval(() => {}, 1000);

const sab = new SharedArrayBuffer(16);
const i32a = new Int32Array(sab);
const result = Atomics.waitAsync(i32a, 0, 0, 1000);
//                                     |  |  ^ timeout (opt)
//                                     |  ^ expected value
//                                     ^ index

if (result.value === 'not-equal') {
  // The value in the SharedArrayBuffer was not the expected one.
  console.log('not-equal: unreachable here, the word still holds the 0 it was born with');
} else {
  result.value instanceof Promise; // true
  result.value.then(
    (value) => {
      if (value == 'ok') { /* notified */ console.log('listing:  notified'); }
      else { /* value is 'timed-out' */ console.log('listing:  timed out'); }
    });
}

// In this thread, or in another thread:
Atomics.notify(i32a, 0);

await result.value;

// The three shapes. `async: false` means that the answer is there already and nobody waits.
show('the word does not hold 1', Atomics.waitAsync(i32a, 0, 1));
show('it holds 0, but timeout is 0', Atomics.waitAsync(i32a, 0, 0, 0));
const notified = show('it holds 0', Atomics.waitAsync(i32a, 0, 0));
const forgotten = show('it holds 0, for 20 ms', Atomics.waitAsync(i32a, 1, 0, 20));

// The two ways in which the promise settles; it is never rejected.
console.log(`\nnotify woke ${Atomics.notify(i32a, 0)}`);
console.log(`the first promise:  '${await notified.value}'`);
console.log(`the second promise: '${await forgotten.value}'`);

clearInterval(stayAlive);

function show(when, result) {
  const value = result.value instanceof Promise ? 'promise' : `'${result.value}'`;
  console.log(`${`${when}:`.padEnd(30)}{ async: ${result.async}, value: ${value} }`);
  return result;
}
