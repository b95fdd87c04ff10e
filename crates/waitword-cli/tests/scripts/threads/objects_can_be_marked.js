//> cloned
//> DataCloneError 25 DataCloneError 25
//> DataCloneError 25 DataCloneError 25
//> DataCloneError 25 DataCloneError 25
//> DataCloneError 25 DataCloneError 25
//> cloned
//> cloned
//> cloned
//> cloned
//> cloned
//> false
//> true false

const { MessageChannel, isMarkedAsUntransferable, markAsUncloneable, markAsUntransferable } = require("worker_threads");
const refused = (value, transfer) => {
  try {
    structuredClone(value, { transfer });
    return "cloned";
  } catch ({ name, code }) {
    return `${name} ${code}`;
  }
};
const object = { a: 1 };
console.log(refused(object));
for (const each of [object, [1], new Map(), new Date(), 5, null, undefined, "text", Symbol.iterator]) {
  markAsUncloneable(each);
  if (typeof each === "object" && each) console.log(refused(each), refused({ deep: [each] }));
}
// Buffers and views are no such objects.
for (const each of [new ArrayBuffer(1), new SharedArrayBuffer(1), new Uint8Array(1), new DataView(new ArrayBuffer(1))]) {
  markAsUncloneable(each);
  console.log(refused(each));
}
// A port is transferred, not cloned.
const { port1, port2 } = new MessageChannel();
markAsUncloneable(port2);
console.log(refused(port2, [port2]));
port1.close();
const buffer = new ArrayBuffer(1);
console.log(isMarkedAsUntransferable(buffer));
markAsUntransferable(buffer);
console.log(isMarkedAsUntransferable(buffer), [5, null, undefined, "text", {}].some(isMarkedAsUntransferable));
