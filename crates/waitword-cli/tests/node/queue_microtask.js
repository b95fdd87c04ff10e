// queueMicrotask, and what it refuses.
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
