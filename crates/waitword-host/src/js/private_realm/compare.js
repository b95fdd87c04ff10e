// Type tests and deep equality. In the private realm, because it reads internal slots and uses no methods of scripts. Scripts get it through
// small_modules.js and assert.js. Next: inspect.js.
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

  const tagOf = (object) => Object.prototype.toString.call(object);
  const isEnumerable = (object, key) => Object.prototype.propertyIsEnumerable.call(object, key);

  /** Deep equality: if `isStrict`, with Object.is and prototypes, else with `==`. `pairs` are the pairs being compared. */
  function isDeepEqual(a, b, isStrict, pairs = []) {
    if (a === b) return !isStrict || a !== 0 || Object.is(a, b);
    const isObject = typeof a === "object" && a !== null;
    if (isObject !== (typeof b === "object" && b !== null)) return false;
    if (!isObject) return (a !== a && b !== b) || (!isStrict && a == b);
    if (isStrict && Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
    if (tagOf(a) !== tagOf(b)) return false;
    // Cycles are equal if both close at the same position.
    const known = pairs.find(([one, other]) => one === a || other === b);
    if (known) return known[0] === a && known[1] === b;
    const inner = [...pairs, [a, b]];
    const same = (one, other) => isDeepEqual(one, other, isStrict, inner);
    return hasSameContents(a, b, isStrict, same) && hasSameProperties(a, b, isStrict, same);
  }

  /** Whether the internal slots of two objects are equal. */
  function hasSameContents(a, b, isStrict, same) {
    if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && a.length === b.length;
    const isKind = (name) => types[name](a) || types[name](b);
    const areKind = (name, holds) => types[name](a) && types[name](b) && holds();
    if (isKind("isDate")) return areKind("isDate", () => Date.prototype.getTime.call(a) === Date.prototype.getTime.call(b));
    if (isKind("isRegExp")) return areKind("isRegExp", () => text.inspect(a) === text.inspect(b) && a.lastIndex === b.lastIndex);
    if (isKind("isNativeError")) {
      // Enumerable ones are compared with the other properties.
      const hidden = ["message", "name", "cause", "errors"].filter((key) => !isEnumerable(a, key));
      return areKind("isNativeError", () => hidden.every((key) => same(a[key], b[key])));
    }
    if (isKind("isArrayBufferView")) return areKind("isArrayBufferView", () => hasSameElements(a, b, isStrict));
    if (isKind("isAnyArrayBuffer")) return areKind("isAnyArrayBuffer", () => hasSameBytes(new Uint8Array(a), new Uint8Array(b)));
    if (isKind("isBoxedPrimitive")) return areKind("isBoxedPrimitive", () => Object.keys(boxes).every((name) => hasSameBox(name, a, b)));
    if (isKind("isMap")) return areKind("isMap", () => hasSameMembers(entries(Map, a), entries(Map, b), same));
    if (isKind("isSet")) return areKind("isSet", () => hasSameMembers(entries(Set, a), entries(Set, b), same));
    return true;
  }

  const bytes = (view) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  const hasSameBytes = (a, b) => a.length === b.length && a.every((byte, at) => byte === b[at]);

  /** Compares bytes; in loose mode, floating-point numbers as numbers. */
  function hasSameElements(a, b, isStrict) {
    const isFloat = types.isFloat32Array(a) || types.isFloat64Array(a);
    return !isStrict && isFloat ? hasSameBytes(a, b) : hasSameBytes(bytes(a), bytes(b));
  }

  function hasSameBox(name, a, b) {
    const isOne = box(name)(a);
    if (isOne !== box(name)(b)) return false;
    const { valueOf } = boxes[name].prototype;
    return !isOne || Object.is(valueOf.call(a), valueOf.call(b));
  }

  function entries(Class, object) {
    const all = new Map();
    Class.prototype.forEach.call(object, (value, key) => all.set(key, value));
    return all;
  }

  /** Whether the members of both are equal in pairs, in any order: first those with the same key, then the others. */
  function hasSameMembers(a, b, same) {
    if (a.size !== b.size) return false;
    const rest = new Map(b);
    const unmatched = [...a].filter(([key, value]) => {
      const isMatched = rest.has(key) && same(value, rest.get(key));
      return !(isMatched && rest.delete(key));
    });
    return unmatched.every(([key, value]) => {
      for (const [otherKey, other] of rest) if (same(key, otherKey) && same(value, other)) return rest.delete(otherKey);
      return false;
    });
  }

  function hasSameProperties(a, b, isStrict, same) {
    const isSkipped = (object, key) => types.isTypedArray(object) && typeof key === "string" && /^\d+$/.test(key);
    const keysOf = (object) => Reflect.ownKeys(object).filter((key) =>
      (isStrict || typeof key === "string") && isEnumerable(object, key) && !isSkipped(object, key));
    const keys = keysOf(a);
    return keys.length === keysOf(b).length && keys.every((key) => isEnumerable(b, key) && same(a[key], b[key]));
  }

  Object.assign(text, { types, isDeepEqual });
});
