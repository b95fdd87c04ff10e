// Whether values are of a kind, or equal to their depth. In the private realm, which asks internal slots and not the methods
// of scripts. What scripts get of it is small_modules.js and assert.js. Next: inspect.js.
(function (text) {
  "use strict";

  const TypedArray = Object.getPrototypeOf(Uint8Array);
  const getter = (object, key) => Object.getOwnPropertyDescriptor(object, key).get;
  const typedName = getter(TypedArray.prototype, Symbol.toStringTag);
  const has = (method, ...args) => (value) => {
    if (typeof value !== "object" || value === null) return false;
    try {
      method.apply(value, args);
      return true;
    } catch {
      return false;
    }
  };
  const isMap = has(getter(Map.prototype, "size"));
  const isSet = has(getter(Set.prototype, "size"));
  const isDate = has(Date.prototype.getTime);
  const isArrayBuffer = has(getter(ArrayBuffer.prototype, "byteLength"));
  const isSharedArrayBuffer = has(getter(SharedArrayBuffer.prototype, "byteLength"));
  const isDataView = has(getter(DataView.prototype, "buffer"));
  const isTypedArray = (value) => typeof value === "object" && value !== null && typedName.call(value) !== undefined;
  const boxes = { Number, String, Boolean, BigInt, Symbol };
  const box = (name) => has(boxes[name].prototype.valueOf);
  const types = {
    isMap, isSet, isDate, isArrayBuffer, isSharedArrayBuffer, isDataView, isTypedArray,
    isAnyArrayBuffer: (value) => isArrayBuffer(value) || isSharedArrayBuffer(value),
    isArrayBufferView: (value) => ArrayBuffer.isView(value),
    isWeakMap: has(WeakMap.prototype.has, {}),
    isWeakSet: has(WeakSet.prototype.has, {}),
    isRegExp: has(getter(RegExp.prototype, "source")),
    isNativeError: (value) => Error.isError(value),
    isPromise: (value) => text.promiseState(value) !== undefined,
    isNumberObject: box("Number"), isStringObject: box("String"), isBooleanObject: box("Boolean"),
    isBigIntObject: box("BigInt"), isSymbolObject: box("Symbol"),
    isBoxedPrimitive: (value) => Object.keys(boxes).some((name) => box(name)(value)),
  };
  for (const name of ["Int8", "Uint8", "Uint8Clamped", "Int16", "Uint16", "Int32", "Uint32", "Float32", "Float64", "BigInt64", "BigUint64"]) {
    types[`is${name}Array`] = (value) => isTypedArray(value) && typedName.call(value) === `${name}Array`;
  }

  /** Deep equality; `isStrict` as of Object.is and prototypes, else as of `==`. `pairs` are those being compared. */
  function isDeepEqual(a, b, isStrict, pairs = []) {
    if (isStrict ? Object.is(a, b) : a == b || (a !== a && b !== b)) return true;
    if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
    if (isStrict && Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
    if (Array.isArray(a) !== Array.isArray(b)) return false;
    if (Object.keys(types).some((name) => types[name](a) !== types[name](b))) return false;
    if (pairs.some(([one, other]) => one === a && other === b)) return true;
    const inner = [...pairs, [a, b]];
    const same = (one, other) => isDeepEqual(one, other, isStrict, inner);
    return hasSameContents(a, b, same) && hasSameProperties(a, b, isStrict, same);
  }

  function hasSameContents(a, b, same) {
    if (isDate(a)) return Object.is(Date.prototype.getTime.call(a), Date.prototype.getTime.call(b));
    if (types.isRegExp(a)) return text.inspect(a) === text.inspect(b);
    if (Error.isError(a)) return a.name === b.name && a.message === b.message && same(a.cause, b.cause);
    if (types.isBoxedPrimitive(a)) return text.inspect(a) === text.inspect(b);
    if (types.isAnyArrayBuffer(a)) return hasSameBytes(new Uint8Array(a), new Uint8Array(b));
    if (isDataView(a)) return hasSameBytes(bytes(a), bytes(b));
    if (isMap(a)) return hasSameMembers(entries(Map, a), entries(Map, b), same);
    if (isSet(a)) return hasSameMembers(entries(Set, a), entries(Set, b), same);
    return true;
  }

  const bytes = (view) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  const hasSameBytes = (a, b) => a.length === b.length && a.every((byte, at) => byte === b[at]);

  function entries(Class, object) {
    const all = [];
    Class.prototype.forEach.call(object, (value, key) => all.push([key, value]));
    return all;
  }

  /** Each of one is equal to another one of the other, in whatever order. */
  function hasSameMembers(a, b, same) {
    if (a.length !== b.length) return false;
    const left = [...b];
    return a.every(([key, value]) => {
      const at = left.findIndex(([otherKey, other]) => same(key, otherKey) && same(value, other));
      if (at >= 0) left.splice(at, 1);
      return at >= 0;
    });
  }

  function hasSameProperties(a, b, isStrict, same) {
    const keysOf = (object) => Reflect.ownKeys(object).filter((key) =>
      (isStrict || typeof key === "string") && Object.prototype.propertyIsEnumerable.call(object, key));
    const keys = keysOf(a);
    if (keys.length !== keysOf(b).length || (Array.isArray(a) && a.length !== b.length)) return false;
    return keys.every((key) => Object.prototype.propertyIsEnumerable.call(b, key) && same(a[key], b[key]));
  }

  Object.assign(text, { types, isDeepEqual });
});
