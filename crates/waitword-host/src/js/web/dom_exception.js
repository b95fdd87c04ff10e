// DOMException, because the engine's own takes no options and is not an Error; and the functions of the engine that throw it. Next: clone.js.
(function (host) {
  "use strict";

  const { Error, TypeError } = globalThis;
  const { captureStackTrace } = Error;
  const { construct } = Reflect;
  const { setPrototypeOf } = Object;
  const { apply, defineProperty, Map, WeakMap } = host.safe;
  const { hide } = host;
  const engines = globalThis.DOMException;
  const engineName = Object.getOwnPropertyDescriptor(engines.prototype, "name").get;
  const engineMessage = Object.getOwnPropertyDescriptor(engines.prototype, "message").get;
  /** The state of each: `{ name, message }`. */
  const made = new WeakMap();

  // The names that have legacy numeric codes, in the order of these codes from 1.
  const CODES = ["INDEX_SIZE_ERR", "DOMSTRING_SIZE_ERR", "HIERARCHY_REQUEST_ERR", "WRONG_DOCUMENT_ERR", "INVALID_CHARACTER_ERR",
    "NO_DATA_ALLOWED_ERR", "NO_MODIFICATION_ALLOWED_ERR", "NOT_FOUND_ERR", "NOT_SUPPORTED_ERR", "INUSE_ATTRIBUTE_ERR",
    "INVALID_STATE_ERR", "SYNTAX_ERR", "INVALID_MODIFICATION_ERR", "NAMESPACE_ERR", "INVALID_ACCESS_ERR", "VALIDATION_ERR",
    "TYPE_MISMATCH_ERR", "SECURITY_ERR", "NETWORK_ERR", "ABORT_ERR", "URL_MISMATCH_ERR", "QUOTA_EXCEEDED_ERR", "TIMEOUT_ERR",
    "INVALID_NODE_TYPE_ERR", "DATA_CLONE_ERR"];
  const NUMBERED = { IndexSizeError: 1, HierarchyRequestError: 3, WrongDocumentError: 4, InvalidCharacterError: 5,
    NoModificationAllowedError: 7, NotFoundError: 8, NotSupportedError: 9, InUseAttributeError: 10, InvalidStateError: 11,
    SyntaxError: 12, InvalidModificationError: 13, NamespaceError: 14, InvalidAccessError: 15, TypeMismatchError: 17, SecurityError: 18,
    NetworkError: 19, AbortError: 20, URLMismatchError: 21, QuotaExceededError: 22, TimeoutError: 23, InvalidNodeTypeError: 24,
    DataCloneError: 25 };
  const numbers = new Map();
  for (const name in NUMBERED) numbers.set(name, NUMBERED[name]);

  // Not a class, because its constructor does not inherit from another.
  function DOMException(message = "", options = "Error") {
    if (new.target === undefined) throw new TypeError("Constructor DOMException requires 'new'");
    const text = host.domString(message);
    const hasOptions = typeof options === "object" && options !== null;
    const name = host.domString(hasOptions ? nameIn(options) : options);
    const exception = construct(Error, [], new.target);
    made.set(exception, { name, message: text });
    captureStackTrace(exception, DOMException);
    if (hasOptions && "cause" in options) hide(exception, "cause", options.cause);
    return exception;
  }

  function nameIn(options) {
    const { name } = options;
    return name === undefined ? "Error" : name;
  }

  function inside(exception) {
    const found = made.get(exception);
    if (!found) throw host.error(TypeError, "ERR_INVALID_THIS", 'Value of "this" must be of DOMException');
    return found;
  }

  const prototype = setPrototypeOf({
    get name() {
      return inside(this).name;
    },
    get message() {
      return inside(this).message;
    },
    get code() {
      return numbers.get(inside(this).name) ?? 0;
    },
  }, Error.prototype);
  hide(prototype, "constructor", DOMException);
  defineProperty(prototype, Symbol.toStringTag, { __proto__: null, value: "DOMException", configurable: true });
  defineProperty(DOMException, "prototype", { __proto__: null, value: prototype, writable: false });
  defineProperty(DOMException, "length", { __proto__: null, value: 0, configurable: true });
  const codes = host.safe.list();
  for (let at = 0; at < CODES.length; at++) codes.push(CODES[at], at + 1);
  host.constants(codes, DOMException, prototype);

  /** Makes a function of the engine throw this DOMException. */
  function renew(name) {
    const call = globalThis[name];
    const { [name]: renewed } = {
      [name](text) {
        if (arguments.length === 0) throw host.missing("input");
        try {
          return apply(call, this, arguments);
        } catch (error) {
          throw own(error) ?? error;
        }
      },
    };
    defineProperty(globalThis, name, { __proto__: null, value: renewed, writable: true, enumerable: true, configurable: true });
  }

  function own(error) {
    try {
      return new DOMException(apply(engineMessage, error, []), apply(engineName, error, []));
    } catch {
      return undefined;
    }
  }
  renew("atob");
  renew("btoa");

  hide(globalThis, "DOMException", DOMException);
  host.DOMException = DOMException;
  host.isDOMException = (value) => made.has(value);
  host.partsOfDOMException = inside;
});
