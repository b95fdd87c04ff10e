// What the host and the engine do in a loop has no depth that is too much.
//@ each DEEP: let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; `${structuredClone(o)}`
//@ each DEEP: let e; for (let i = 0; i < 1e5; i++) e = new Error('e', { cause: e }); require('util').inspect(e)
//@ each DEEP: let s = ''; for (let i = 0; i < 1e4; i++) s = 'a' + s + 'b'; `${s.length}`
//> alive

process.on("exit", () => console.log("alive"));
try {
  DEEP;
} catch (error) {
  if (!(error instanceof RangeError || error instanceof SyntaxError || error instanceof InternalError)) throw error;
  console.log("caught");
}
