//> DataCloneError
//> DataCloneError
//> DataCloneError
//> DataCloneError
//> DataCloneError
//> DataCloneError
//> DataCloneError
//> DataCloneError
//> DataCloneError
//> DataCloneError
//> 8 0
//> 0 Uint8Array(8) [
//>   3, 3, 3, 3,
//>   0, 0, 0, 0
//> ]
//> copied
//> 0

const tried = (value, transfer) => {
  try {
    structuredClone(value, { transfer });
    console.log("copied");
  } catch (error) {
    console.log(error.name);
  }
};
const { proxy, revoke } = Proxy.revocable({}, {});
revoke();
for (const each of [proxy, new Proxy([], {}), () => {}, Symbol(), (function* () {})(), new WeakMap()]) tried([each]);
const bytes = new Uint8Array(8);
const { port1, port2 } = new MessageChannel();
tried({ bytes, bad: () => {} }, [bytes.buffer, port1]);
tried({ get a() { structuredClone(port1, { transfer: [port1] }); } }, [bytes.buffer, port1]);
const other = new ArrayBuffer(4);
tried({ bytes, other, get a() { structuredClone(other, { transfer: [other] }); } }, [bytes.buffer, other]);
tried(bytes, [bytes.buffer, bytes.buffer]);
console.log(bytes.length, other.byteLength);
const resizable = new ArrayBuffer(4, { maxByteLength: 8 });
const view = new Uint8Array(resizable).fill(3);
const moved = structuredClone(view, { transfer: [resizable] });
moved.buffer.resize(8);
console.log(view.length, moved);
tried(1, [bytes.buffer]);
console.log(bytes.length);
