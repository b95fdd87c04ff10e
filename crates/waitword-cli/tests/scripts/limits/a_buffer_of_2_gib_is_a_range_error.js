// The engine counts bytes in 31 bits.
//> SharedArrayBuffer RangeError
//> ArrayBuffer RangeError
//> a growable SharedArrayBuffer RangeError

const makes = {
  SharedArrayBuffer: () => new SharedArrayBuffer(2 ** 31),
  ArrayBuffer: () => new ArrayBuffer(2 ** 31),
  "a growable SharedArrayBuffer": () => new SharedArrayBuffer(8, { maxByteLength: 2 ** 31 }),
};
for (const name in makes) {
  try {
    console.log(name, makes[name]().byteLength);
  } catch (error) {
    console.log(name, error.name);
  }
}
