// Structured clone: a graph of values to a flat table and back. The table holds only what the engine can write by
// itself (primitives, arrays, ArrayBuffers, SharedArrayBuffers), so cycles and depth cost nothing there, and what may
// not be cloned is refused here, with the DataCloneError that the standard wants. Next: worker_threads.js.
//
// A row of the table is [kind, ...fields]. A field that stands for an object is [row number]; anything else is itself.
(function (host) {
  "use strict";

  const getter = (proto, key) => Object.getOwnPropertyDescriptor(proto, key).get;
  const TypedArray = Object.getPrototypeOf(Uint8Array);
  const typedName = getter(TypedArray.prototype, Symbol.toStringTag);
  const typedBuffer = getter(TypedArray.prototype, "buffer");
  const typedOffset = getter(TypedArray.prototype, "byteOffset");
  const typedLength = getter(TypedArray.prototype, "length");
  const viewBuffer = getter(DataView.prototype, "buffer");
  const viewOffset = getter(DataView.prototype, "byteOffset");
  const viewLength = getter(DataView.prototype, "byteLength");
  const bufferLength = getter(ArrayBuffer.prototype, "byteLength");
  const bufferDetached = getter(ArrayBuffer.prototype, "detached");
  const transferBuffer = ArrayBuffer.prototype.transfer;
  const sharedLength = getter(SharedArrayBuffer.prototype, "byteLength");
  const sharedGrowable = getter(SharedArrayBuffer.prototype, "growable");
  const bufferResizable = getter(ArrayBuffer.prototype, "resizable");
  const mapEntries = Map.prototype.entries;
  const setValues = Set.prototype.values;
  const dateValue = Date.prototype.getTime;
  const regExpSource = getter(RegExp.prototype, "source");
  const regExpFlags = getter(RegExp.prototype, "flags");
  const typedArrays = new Map(
    [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array,
      Float64Array, BigInt64Array, BigUint64Array, globalThis.Float16Array]
      .filter(Boolean).map((each) => [each.name, each]),
  );
  const errorTypes = new Map(
    [Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError].map((each) => [each.name, each]),
  );

  /** The table of `value`. Buffers in `transfer` move into it, once everything has been read. */
  function encode(value, transfer = []) {
    checkTransfer(transfer);
    const rows = [];
    const seen = new Map();
    const objects = [];
    const field = (each) => {
      if (typeof each === "symbol" || typeof each === "function") refuse(each);
      if (typeof each !== "object" || each === null) return each;
      if (!seen.has(each)) {
        seen.set(each, objects.length);
        objects.push(each);
      }
      return [seen.get(each)];
    };
    const root = field(value);
    // The list grows while it is walked: breadth first, so that a long chain needs no stack.
    for (let at = 0; at < objects.length; at++) rows.push(row(objects[at], field));
    for (const buffer of transfer) {
      const moved = transferBuffer.call(buffer);
      if (seen.has(buffer)) rows[seen.get(buffer)] = ["buffer", moved];
    }
    return [root, rows];
  }

  function checkTransfer(transfer) {
    for (const each of transfer) {
      if (!brand(bufferLength, each) && each !== null) refuse(each, "cannot be transferred: only an ArrayBuffer can");
      if (bufferDetached.call(each)) refuse(each, "is already detached");
    }
    if (new Set(transfer).size !== transfer.length) refuse(transfer, "names one buffer twice");
  }

  function row(object, field) {
    const proto = Object.getPrototypeOf(object);
    if (Array.isArray(object)) return array(object, field);
    if (proto === Object.prototype || proto === null) return ["object", ...properties(object, field)];
    if (brand(mapEntries, object)) {
      return ["map", ...[...mapEntries.call(object)].flatMap(([key, value]) => [field(key), field(value)])];
    }
    if (brand(setValues, object)) return ["set", ...[...setValues.call(object)].map(field)];
    if (brand(dateValue, object)) return ["date", dateValue.call(object)];
    if (brand(sharedLength, object)) return ["buffer", object];
    if (brand(bufferLength, object)) {
      if (bufferDetached.call(object)) refuse(object, "is detached and could not be cloned");
      return ["buffer", object];
    }
    const kind = typedName.call(object);
    if (kind !== undefined) {
      const buffer = typedBuffer.call(object);
      return ["typed", kind, field(buffer), typedOffset.call(object), fixedLength(object, buffer)];
    }
    if (brand(viewBuffer, object)) {
      return ["view", field(viewBuffer.call(object)), viewOffset.call(object), viewLength.call(object)];
    }
    if (object instanceof RegExp && brand(regExpSource, object)) {
      return ["regexp", regExpSource.call(object), regExpFlags.call(object)];
    }
    if (Error.isError(object)) return error(object, field);
    for (const wrapper of [Number, String, Boolean, BigInt]) {
      const value = wrapper.prototype.valueOf;
      if (brand(value, object)) return ["boxed", value.call(object)];
    }
    if ([Promise, WeakMap, WeakSet, WeakRef, host.EventEmitter].some((each) => object instanceof each)) refuse(object);
    return ["object", ...properties(object, field)];
  }

  function array(object, field) {
    const keys = Object.keys(object);
    // Indices come first among the keys: if the last one is the last index and none is missing, there is nothing else.
    const dense = keys.length === object.length && (keys.at(-1) ?? "-1") === String(object.length - 1);
    return dense ? ["list", ...object.map(field)] : ["array", object.length, ...properties(object, field)];
  }

  /**
   * Undefined for a view that follows the length of its buffer: it has to go on doing so on the other side. Scripts
   * cannot ask a view whether it does; one that reaches the end of a buffer that can grow is taken to.
   */
  function fixedLength(view, buffer) {
    const shared = brand(sharedLength, buffer);
    const length = typedLength.call(view);
    if (!(shared ? sharedGrowable : bufferResizable).call(buffer)) return length;
    const rest = (shared ? sharedLength : bufferLength).call(buffer) - typedOffset.call(view);
    return rest - length * view.BYTES_PER_ELEMENT < view.BYTES_PER_ELEMENT ? undefined : length;
  }

  function error(object, field) {
    const name = errorTypes.has(object.name) ? object.name : "Error";
    const fields = [name, text(object.message), text(object.stack)];
    if (Object.hasOwn(object, "cause")) fields.push(field(object.cause));
    return ["error", ...fields];
  }

  const text = (value) => (value === undefined ? undefined : String(value));

  function properties(object, field) {
    return Object.keys(object).flatMap((key) => [key, field(object[key])]);
  }

  function brand(method, object) {
    try {
      method.call(object);
      return true;
    } catch {
      return false;
    }
  }

  function refuse(value, why = "could not be cloned.") {
    const shown = typeof value === "object" ? `#<${value?.constructor?.name ?? "Object"}>` : String(value);
    throw new DOMException(`${shown} ${why}`, "DataCloneError");
  }

  /** The value that a table describes, with new objects for everything but SharedArrayBuffers. */
  function decode([root, rows]) {
    const objects = rows.map(shell);
    const value = (each) => (typeof each === "object" && each !== null ? objects[each[0]] : each);
    // Views come after all buffers, contents after all objects: whatever a field names exists by then.
    rows.forEach(([kind, ...fields], at) => {
      if (kind === "typed") {
        const [name, buffer, offset, length] = fields;
        objects[at] = new (typedArrays.get(name))(value(buffer), offset, length);
      } else if (kind === "view") objects[at] = new DataView(value(fields[0]), fields[1], fields[2]);
    });
    rows.forEach((each, at) => fill(objects[at], each, value));
    return value(root);
  }

  function shell([kind, first, second, third]) {
    switch (kind) {
      case "array": return new Array(first);
      case "list": return [];
      case "object": return {};
      case "map": return new Map();
      case "set": return new Set();
      case "date": return new Date(first);
      case "buffer": return first;
      case "regexp": return new RegExp(first, second);
      case "boxed": return Object(first);
      case "error": {
        const object = new (errorTypes.get(first))(second);
        Object.defineProperty(object, "stack", { value: third, writable: true, configurable: true });
        return object;
      }
    }
  }

  function fill(object, [kind, ...fields], value) {
    if (kind === "array") defineAll(object, fields.slice(1), value);
    else if (kind === "object") defineAll(object, fields, value);
    else if (kind === "list") for (const item of fields) object.push(value(item));
    else if (kind === "map") pairs(fields, (key, item) => object.set(value(key), value(item)));
    else if (kind === "set") for (const item of fields) object.add(value(item));
    else if (kind === "error" && fields.length > 3) {
      Object.defineProperty(object, "cause", { value: value(fields[3]), writable: true, configurable: true });
    }
  }

  function defineAll(object, fields, value) {
    pairs(fields, (key, item) => {
      // Defined, not assigned: a key may be called "__proto__".
      Object.defineProperty(object, key, { value: value(item), writable: true, enumerable: true, configurable: true });
    });
  }

  function pairs(list, visit) {
    for (let at = 0; at < list.length; at += 2) visit(list[at], list[at + 1]);
  }

  host.encode = encode;
  host.decode = decode;
  host.DOMException = DOMException;
});
