// structuredClone, as the web defines it.
//@ flags: --main-can-block
//@ stdout: as on Node

const show = (f) => {
  try {
    console.log(f());
  } catch (error) {
    console.log(error.name);
  }
};
const holes = [1, , 3];
holes.extra = "kept";
show(() => structuredClone(holes));
show(() => structuredClone({ get a() { return "a getter's value"; }, [Symbol("s")]: 1, __proto__: { inherited: 1 } }));
show(() => structuredClone(Object.defineProperty({ seen: 1 }, "hidden", { value: 2, enumerable: false })));
show(() => structuredClone(new Map([["k", { v: 1 }]])).get("k"));
show(() => [...structuredClone(new Set([NaN, -0, "s"]))]);
show(() => structuredClone(/x/y).flags + structuredClone(/x/y).lastIndex);
show(() => structuredClone(new Date(NaN)).getTime());
show(() => [Object(true), Object("s"), Object(2n)].map((boxed) => typeof structuredClone(boxed).valueOf()));
show(() => structuredClone(new DataView(new Uint8Array([1, 2, 3, 4]).buffer, 1, 2)).getUint8(1));
show(() => {
  const buffer = new Uint8Array([1, 2]).buffer;
  const [moved, before] = [structuredClone({ buffer }, { transfer: [buffer] }), buffer.byteLength];
  return [moved.buffer.byteLength, before];
});
show(() => {
  const [a, b] = structuredClone([holes, holes]);
  return a === b;
});
show(() => structuredClone(new TypeError("t")) instanceof TypeError);
show(() => structuredClone(Object.assign(new Error("m"), { name: "EvalError" })).name);
show(() => {
  const shared = new SharedArrayBuffer(4);
  new Int32Array(structuredClone(shared))[0] = 9;
  return new Int32Array(shared)[0];
});
show(() => structuredClone(() => {}));
show(() => structuredClone(Symbol()));
show(() => structuredClone({ f() {} }));
show(() => structuredClone({ get bad() { throw new RangeError("from the getter"); } }));
show(() => structuredClone());
show(() => [structuredClone(undefined), structuredClone.name]);
