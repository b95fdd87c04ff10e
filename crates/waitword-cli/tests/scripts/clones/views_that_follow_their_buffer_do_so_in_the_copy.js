//> DataView: 6 22 7 0 2 true
//> DataView of 4: 4 4 7 0 2 true
//> DataView to the end: 6 6 7 0 2 true
//> Uint8Array: 8 24 7 0 0 true
//> Uint8Array to the end: 8 8 7 0 0 true
//> Uint16Array: 6 22 7 0 2 true
//> Uint16Array to the end: 6 6 7 0 2 true
//> BigInt64Array: 8 24 7 0 0 true
//> BigInt64Array to the end: 8 8 7 0 0 true
//> shared 14

const resizable = () => new ArrayBuffer(8, { maxByteLength: 24 });
const views = {
  "DataView": (b) => new DataView(b, 2),
  "DataView of 4": (b) => new DataView(b, 2, 4),
  "DataView to the end": (b) => new DataView(b, 2, 6),
  "Uint8Array": (b) => new Uint8Array(b),
  "Uint8Array to the end": (b) => new Uint8Array(b, 0, 8),
  "Uint16Array": (b) => new Uint16Array(b, 2),
  "Uint16Array to the end": (b) => new Uint16Array(b, 2, 3),
  "BigInt64Array": (b) => new BigInt64Array(b),
  "BigInt64Array to the end": (b) => new BigInt64Array(b, 0, 1),
};
for (const name in views) {
  const buffer = resizable();
  new Uint8Array(buffer).fill(7);
  const view = views[name](buffer);
  const copy = structuredClone(view);
  const moved = (() => { const { buffer } = view; return structuredClone(view, { transfer: [buffer] }); })();
  const lengths = [copy, moved].map((each) => {
    const before = each.byteLength;
    each.buffer.resize(24);
    return [before, each.byteLength, new Uint8Array(each.buffer)[7], new Uint8Array(each.buffer)[8], each.byteOffset].join(" ");
  });
  console.log(name + ":", lengths[0], lengths[0] === lengths[1]);
}
const shared = structuredClone(new DataView(new SharedArrayBuffer(8, { maxByteLength: 24 }), 2));
shared.buffer.grow(16);
console.log("shared", shared.byteLength);
