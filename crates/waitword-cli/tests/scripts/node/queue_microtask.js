// queueMicrotask, and what it refuses.
//@ flags: --main-can-block
//@ stdout: as on Node

for (const bad of [1, undefined, {}, null, "x"]) {
  try {
    queueMicrotask(bad);
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
}
queueMicrotask(function (...args) {
  console.log(args.length);
});
