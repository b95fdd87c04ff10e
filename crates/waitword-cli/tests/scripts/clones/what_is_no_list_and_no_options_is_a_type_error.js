// The second argument is a list or an object, in Node, too; what is in a list has to be an object, and one that can be transferred.
//> TypeError TypeError TypeError TypeError TypeError TypeError TypeError TypeError TypeError
//> taken taken taken taken taken taken taken taken TypeError
//> TypeError TypeError TypeError TypeError TypeError TypeError TypeError TypeError TypeError
//> taken taken taken taken taken taken taken taken TypeError
//> TypeError TypeError TypeError TypeError TypeError TypeError TypeError TypeError TypeError
//> taken taken taken taken taken taken taken taken TypeError
//> TypeError TypeError TypeError TypeError TypeError TypeError TypeError TypeError TypeError
//> taken taken taken taken taken taken taken taken TypeError
//> TypeError TypeError
//> TypeError TypeError
//> TypeError TypeError
//> TypeError TypeError
//> TypeError TypeError
//> DataCloneError
//> true

const { posts, end, shown } = require("./support/workers.js");
const bad = [0, false, "X", Symbol(), 1n, { transfer: null }, { transfer: 0 }, { transfer: "X" }, { transfer: {} }];
for (const post of posts) {
  console.log(...bad.map((each) => shown(() => post(1, each))));
  const good = [undefined, null, {}, [], { transfer: undefined }, { transfer: [] }, () => {}, { transfer: new Set([new ArrayBuffer(8)]) }];
  console.log(...good.map((each) => shown(() => post(1, each))), shown(() => post()));
}
// A sequence of objects: what is in it has to be one.
for (const bad of [0, null, undefined, "x", Symbol()]) {
  console.log(shown(() => new MessageChannel().port1.postMessage(1, [bad])), shown(() => structuredClone(1, { transfer: [bad] })));
}
console.log(shown(() => structuredClone(1, { transfer: [{}] })));
const buffer = new ArrayBuffer(8);
new MessageChannel().port1.postMessage(1, new Set([buffer]));
console.log(buffer.detached);
end();
