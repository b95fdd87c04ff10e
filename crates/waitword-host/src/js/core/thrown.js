// The thrown value of a worker, for its parent: a copy, with the properties that a clone of an error lacks; or, if it cannot be copied, its
// text as formatted by `inspect`. Next: boot.js.
(function (host) {
  "use strict";

  const { AggregateError, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError } = globalThis;
  const { getOwnPropertyDescriptor, getPrototypeOf, hasOwn, setPrototypeOf } = Object;
  const { for: symbolFor } = Symbol;
  const description = getOwnPropertyDescriptor(Symbol.prototype, "description").get;
  const { hide, put } = host;
  const { apply, Error, isError, list, ownKeys, String } = host.safe;
  const types = list(AggregateError, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError);
  const SYMBOL = "symbol";
  const ERROR = "error";
  const VALUE = "value";

  /** Packs a thrown value, or the reason of a rejection. */
  host.packError = (reason, isRejection) => {
    const thrown = isRejection ? host.rejection(reason) : reason;
    try {
      host.pack(packable(thrown));
    } catch {
      host.pack([VALUE, shown(thrown)]);
    }
  };

  function packable(thrown) {
    if (typeof thrown === "symbol") return [SYMBOL, apply(description, thrown, []) ?? ""];
    if (!isError(thrown) || host.isDOMException(thrown)) return [VALUE, thrown];
    const name = hasOwn(thrown, "name") ? undefined : read(thrown, "name");
    return [ERROR, copyable(thrown), name, typeOf(thrown), properties(thrown)];
  }

  /** The error itself if its clone has its message; otherwise one that has its message and its stack. */
  function copyable(error) {
    const message = read(error, "message");
    try {
      if (message === undefined || message === "" || "value" in getOwnPropertyDescriptor(error, "message")) {
        host.pack(error);
        return error;
      }
    } catch {
      // Packed without the properties that cannot be cloned.
    }
    const bare = message === undefined ? new Error() : new Error(message);
    hide(bare, "stack", String(host.stackOf(error)));
    return bare;
  }

  /** A property as text; `undefined` if there is none, or the script makes that impossible. */
  function read(error, name) {
    try {
      const value = error[name];
      return value === undefined ? undefined : host.domString(value);
    } catch {
      return undefined;
    }
  }

  /** The built-in class of an error, from its prototypes, because its name may differ. */
  function typeOf(error) {
    for (let proto = getPrototypeOf(error); proto !== null; proto = getPrototypeOf(proto)) {
      for (let at = 0; at < types.length; at++) if (types[at].prototype === proto) return at;
    }
    return undefined;
  }

  function shown(thrown) {
    try {
      return host.inspect(thrown);
    } catch {
      return "a value that cannot be shown";
    }
  }

  /** The properties that a script added to an error, if they can be copied: name, value, and whether it is enumerable. */
  function properties(error) {
    const own = ownKeys(error);
    const copied = [];
    for (let at = 0; at < own.length; at++) {
      const name = own[at];
      if (typeof name !== "string" || name === "stack" || name === "message" || name === "cause") continue;
      try {
        const value = error[name];
        host.pack(value);
        host.append(copied, [name, value, getOwnPropertyDescriptor(error, name).enumerable]);
      } catch {
        // It is left out.
      }
    }
    return copied;
  }

  /** The thrown value, from the packed parts. */
  host.thrownBy = (parts) => {
    if (parts[0] === SYMBOL) return symbolFor(parts[1]);
    if (parts[0] === VALUE) return parts[1];
    const error = parts[1];
    const type = parts[3] === undefined ? Error : types[parts[3]];
    if (getPrototypeOf(error) !== type.prototype) setPrototypeOf(error, type.prototype);
    if (parts[2] !== undefined && error.name !== parts[2]) hide(error, "name", parts[2]);
    const own = parts[4];
    for (let at = 0; at < own.length; at++) (own[at][2] ? put : hide)(error, own[at][0], own[at][1]);
    return error;
  };
});
