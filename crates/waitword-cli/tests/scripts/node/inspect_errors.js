// How errors of errors are shown, and what is nested too deep; and buffers that are gone.
//@ flags: --main-can-block
//@ stdout: as on Node

const plain = (error) => {
  error.stack = error.name + ": " + error.message;
  return error;
};
const [one, deep] = [plain(new TypeError("one")), plain(new Error("deep"))];
const inner = plain(new AggregateError([deep], "in"));
const outer = plain(new AggregateError([inner], "out"));
console.log(plain(new AggregateError([one, 2], "agg")));
console.log(outer);
console.log([outer]);
console.log(plain(new Error("with cause", { cause: plain(new TypeError("why", { cause: one })) })));
console.log(Object.assign(plain(new Error("own")), { errors: [1, 2] }), Object.assign(plain(new Error("none")), { errors: 5 }));
console.log([[[[plain(Object.assign(new Error("e"), { more: 1 }))]]], [[[Object.assign(function f() {}, { more: 1 })]]], [[[plain(new Error("bare"))]]]]);
const buffer = new ArrayBuffer(4);
structuredClone(buffer, { transfer: [buffer] });
console.log(buffer, { buffer }, new ArrayBuffer(2));
