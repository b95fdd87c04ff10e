// The main agent cannot block.
//@ stdout: checks
//@ node: same
// On Node: Node's main agent can block, which is a host's choice; ours cannot in this program.
//@ node differs: wait
//@ node differs: wait that would not wait

const { check, run, logged, poisoned, word } = require("./support/check.js");

const array = word();
check("wait", run(() => Atomics.wait(array, logged("i", 0), logged("v", 0), logged("t", 0))), "i,v,t,TypeError");
check("wait that would not wait", run(() => Atomics.wait(array, 0, 1)), "TypeError");
check("a bad timeout first", run(() => Atomics.wait(array, 0, 0, poisoned("t"))), "t,EvalError");
check("a bad index first", run(() => Atomics.wait(array, 1, 0, 0)), "RangeError");
check("waitAsync does not ask", Atomics.waitAsync(array, 0, 0, 0).value, "timed-out");
