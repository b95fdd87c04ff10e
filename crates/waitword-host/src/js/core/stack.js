// `stack` of errors. The engine's contains only the frames, and it calls `Error.prepareStackTrace` when it creates the error. Programs expect
// V8's behaviour: the title comes first, a script's `prepareStackTrace` is called when the stack is read, and its exceptions go to the reader.
// Frames of the host are left out, because a script could call the functions that it finds in them. Next: console.js.
(function (host) {
  "use strict";

  const { Error, Object } = globalThis;
  const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf, hasOwn } = Object;
  const { isError, captureStackTrace: capture } = Error;
  const { apply, String, WeakMap } = host.safe;
  const { slice, startsWith } = String.prototype;
  const { defineProperty: tryDefine } = Reflect;
  const engine = getOwnPropertyDescriptor(Error, "prepareStackTrace");
  const { prototype } = Error;
  const accessor = getOwnPropertyDescriptor(prototype, "stack");
  /** Placeholders for stacks that are not prepared yet: `{ sites }`, later with the result. */
  const unprepared = new WeakMap();
  let prepare;
  let siteOf;
  let isReporting = false;

  /** What the engine calls for the stack of an error. */
  const postpone = (_, sites) => {
    if (sites.length > 0) siteOf ??= methodsOf(getPrototypeOf(sites[0]));
    const stack = { __proto__: null };
    unprepared.set(stack, { sites, isPrepared: false, result: undefined });
    return stack;
  };

  const methodsOf = ({ getFileName, getLineNumber, getColumnNumber, getFunctionName, isNative }) => {
    return { __proto__: null, getFileName, getLineNumber, getColumnNumber, getFunctionName, isNative };
  };

  /** The stack of an object, from the engine's value. */
  function prepared(object, stack) {
    const known = typeof stack === "object" && stack !== null ? unprepared.get(stack) : undefined;
    if (!known) return typeof stack === "string" && typeof prepare !== "function" ? titled(object, stack) : stack;
    if (known.isPrepared) return known.result;
    if (typeof prepare !== "function" || isReporting) return titled(object, framesOf(known.sites));
    const shown = [];
    for (let at = 0; at < known.sites.length; at++) if (!isOfHost(known.sites, at)) host.append(shown, known.sites[at]);
    known.result = apply(prepare, Error, [object, shown]);
    known.isPrepared = true;
    known.sites = undefined;
    return known.result;
  }

  /** Whether a frame is one of the host's functions, or a native one that such a function called. */
  function isOfHost(sites, at) {
    const caller = at + 1 < sites.length ? sites[at + 1] : undefined;
    return isHostFile(sites[at]) || (apply(siteOf.isNative, sites[at], []) && caller !== undefined && isHostFile(caller));
  }

  function isHostFile(site) {
    const file = apply(siteOf.getFileName, site, []);
    return typeof file === "string" && apply(startsWith, file, ["waitword:"]);
  }

  /** The frames as the engine writes them. */
  function framesOf(sites) {
    let text = "";
    for (let at = 0; at < sites.length; at++) {
      const ask = (method) => apply(siteOf[method], sites[at], []);
      const place = ask("isNative") ? "native" : ask("getFileName") + ":" + ask("getLineNumber") + ":" + ask("getColumnNumber");
      text += "    at " + (ask("getFunctionName") || "<anonymous>") + " (" + place + ")\n";
    }
    return text;
  }

  function titled(object, frames) {
    const title = titleOf(object);
    const end = frames[frames.length - 1] === "\n" ? frames.length - 1 : frames.length;
    return end > 0 ? title + "\n" + apply(slice, frames, [0, end]) : title;
  }

  function titleOf(error) {
    try {
      const { name, message } = error;
      const known = typeof name === "string" ? name : "Error";
      return typeof message === "string" && message !== "" ? (known ? known + ": " + message : message) : known;
    } catch {
      return "Error";
    }
  }

  // This also runs in agents that are being terminated, and is therefore short.
  const { get: getStack, set: setStack } = getOwnPropertyDescriptor({
    get stack() {
      const stack = apply(accessor.get, this, []);
      return isError(this) ? prepared(this, stack) : stack;
    },
    // Never throws: in V8 the stack is a property that is there already.
    set stack(value) {
      const canHave = (typeof this === "object" && this !== null) || typeof this === "function";
      if (canHave && this !== prototype) tryDefine(this, "stack", { __proto__: null, value, writable: true, enumerable: false, configurable: true });
    },
  }, "stack");
  defineProperty(prototype, "stack", { __proto__: null, get: getStack, set: setStack, enumerable: false, configurable: true });

  const { captureStackTrace } = {
    captureStackTrace(target, above) {
      apply(capture, Error, [target, typeof above === "function" ? above : captureStackTrace]);
      const stack = getOwnPropertyDescriptor(target, "stack").value;
      const own = { __proto__: null, configurable: true, enumerable: false };
      own.get = () => prepared(target, stack);
      own.set = (value) => host.hide(target, "stack", value);
      defineProperty(target, "stack", own);
    },
  };
  host.hide(Error, "captureStackTrace", captureStackTrace);

  defineProperty(Error, "prepareStackTrace", {
    __proto__: null,
    get: () => prepare,
    set: (value) => {
      prepare = value;
      apply(engine.set, Error, [typeof value === "function" ? postpone : undefined]);
    },
    configurable: true,
    enumerable: false,
  });

  /** No script is called from now on, because the agent ends and looks up the lines of its abandoned waits. */
  host.reporting = () => void (isReporting = true);
  /** The stack of an error, even if a script's getter throws. */
  host.stackOf = (error) => {
    try {
      return hasOwn(error, "stack") ? error.stack : apply(getStack, error, []);
    } catch {
      const known = unprepared.get(apply(accessor.get, error, []));
      return known ? framesOf(known.sites) : undefined;
    }
  };
});
