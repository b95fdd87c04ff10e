// `Error.prepareStackTrace` without the host: what it is shown of a stack holds the functions themselves, and a script that
// had those of the host could call them. Next: text_realm.js.
(function (host) {
  "use strict";

  const { Error, Object } = globalThis;
  const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf } = Object;
  const { apply, list } = host.safe;
  const { slice, startsWith } = String.prototype;
  const engine = getOwnPropertyDescriptor(Error, "prepareStackTrace");
  let prepare;
  let fileOf;
  let isNative;

  const visible = (error, sites) => {
    if (sites.length > 0 && !fileOf) ({ getFileName: fileOf, isNative } = getPrototypeOf(sites[0]));
    const shown = [];
    for (let at = 0; at < sites.length; at++) if (!isOfHost(sites, at)) host.append(shown, sites[at]);
    return apply(prepare, Error, [error, shown]);
  };

  /** Whether a frame is one of the host's functions, or a native one that such a function called. */
  function isOfHost(sites, at) {
    const caller = at + 1 < sites.length ? sites[at + 1] : undefined;
    return isHostFile(sites[at]) || (apply(isNative, sites[at], []) && caller !== undefined && isHostFile(caller));
  }

  function isHostFile(site) {
    const file = apply(fileOf, site, []);
    return typeof file === "string" && apply(startsWith, file, ["waitword:"]);
  }

  // The engine's own stack is the frames alone. Programs print it and expect to read what was thrown: as in V8 the title
  // comes first. This also runs in agents that are being terminated, and is therefore short.
  const accessor = getOwnPropertyDescriptor(Error.prototype, "stack");
  const { isError } = Error;
  defineProperty(Error.prototype, "stack", {
    ...accessor,
    get() {
      const frames = apply(accessor.get, this, []);
      if (typeof frames !== "string" || typeof prepare === "function" || !isError(this)) return frames;
      const title = titleOf(this);
      const end = frames[frames.length - 1] === "\n" ? frames.length - 1 : frames.length;
      return end > 0 ? title + "\n" + apply(slice, frames, [0, end]) : title;
    },
  });

  function titleOf(error) {
    try {
      const { name, message } = error;
      const known = typeof name === "string" ? name : "Error";
      return typeof message === "string" && message !== "" ? (known ? known + ": " + message : message) : known;
    } catch {
      return "Error";
    }
  }

  defineProperty(Error, "prepareStackTrace", {
    __proto__: null,
    get: () => prepare,
    set: (value) => {
      prepare = value;
      apply(engine.set, Error, [typeof value === "function" ? visible : undefined]);
    },
    configurable: true,
    enumerable: false,
  });
});
