// The agent that posts it gets the error, not the one that reads it, which would end for a fault that is not its own.
//> DataCloneError: #<ArrayBuffer> has shrunk under a view that was cloned false
//> DataCloneError: #<ArrayBuffer> has grown since it was cloned
//> 8 12
//> 8 64
//> DataCloneError: #<ArrayBuffer> has shrunk under a view that was cloned false
//> DataCloneError: #<ArrayBuffer> has grown since it was cloned
//> 8 12
//> 8 64
//> DataCloneError: #<Uint8Array> is out of the bounds of its buffer

const buffer = (length) => new ArrayBuffer(length, { maxByteLength: 64 });
const tried = (value, transfer) => {
  try {
    return structuredClone(value, { transfer });
  } catch (error) {
    return error.name + ": " + error.message;
  }
};
for (const View of [Uint8Array, DataView]) {
  const moved = buffer(16);
  console.log(tried({ view: new View(moved, 4, 8), get x() { moved.resize(0); } }, [moved]), moved.detached);
  const early = buffer(64);
  const view = new View(early, 0, 32);
  early.resize(16);
  console.log(tried([early, { get x() { early.resize(64); } }, view]));
  const still = buffer(16);
  const whole = tried({ view: new View(still, 4, 8), get x() { still.resize(12); } }, [still]);
  console.log(whole.view.byteLength, whole.view.buffer.byteLength);
  const grown = buffer(16);
  const copy = tried({ view: new View(grown, 4, 8), get x() { grown.resize(64); } }, [grown]);
  console.log(copy.view.byteLength, copy.view.buffer.byteLength);
}
const short = buffer(16);
const outside = new Uint8Array(short, 4, 8);
short.resize(2);
console.log(tried(outside));
