// As the programs of `node` have it, where Node is not installed, too.
//> before 0
//> more
//> before 0

let rounds = 0;
process.on("beforeExit", (code) => {
  console.log("before", code);
  if (rounds++ < 1) setTimeout(() => console.log("more"));
});
