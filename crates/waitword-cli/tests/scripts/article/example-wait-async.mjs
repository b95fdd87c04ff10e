// The example prints each result of `Atomics.waitAsync`, and each outcome of its promises.
//@ in place
//@ command: run ../../../../../examples/article/wait-async.js
//> at once, without a promise
//>   the word holds 0, not 1   { async: false, value: 'not-equal' }
//>   the timeout is 0          { async: false, value: 'timed-out' }
//>
//> later, by a promise
//>   notified by this agent    { async: true, value: a promise }
//>                             then 'ok'
//>   notified by a worker      { async: true, value: a promise }
//>                             then 'ok'
//>   not notified for 20 ms    { async: true, value: a promise }
//>                             then 'timed-out'
//>
//> first in, first out: a, b, c and d wait on one word
//>   notify(1)                 woke a
//>   notify(2)                 woke b, c
//>   notify(Infinity)          woke d
