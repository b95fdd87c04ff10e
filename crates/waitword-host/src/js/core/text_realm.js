// The door to a realm of our own, in which texts are made (inspect.js) and taken apart (data_url_text.js). No script can reach
// its built-ins, so what runs there is ordinary JavaScript, whatever scripts have done to theirs. It is made when it is
// first needed: many programs never do. Next: events.js.
(function (host) {
  "use strict";

  const { RangeError } = globalThis;
  const { getPrototypeOf } = Object;
  const { apply } = host.safe;
  const { native } = host;
  let realm;

  host.text = () => {
    if (!realm) {
      realm = native.openTextRealm();
      realm.promiseState = native.promiseState;
      realm.stackOf = host.stackOf;
      realm.scriptsInspect = host.inspect;
      realm.options = () => ({});
    }
    return realm;
  };

  /** Calls a function there. That it ran out of stack or memory is an error of the scripts' realm. */
  function call(name, args) {
    const text = host.text();
    try {
      return apply(text[name], undefined, args);
    } catch (error) {
      if (typeof error === "object" && error !== null && getPrototypeOf(error) === text.RangeErrorPrototype) {
        throw new RangeError(error.message);
      }
      throw error;
    }
  }

  host.inspect = (value, options) => call("inspect", [value, options]);
  host.inspect.custom = Symbol.for("nodejs.util.inspect.custom");
  host.format = (...args) => call("format", args);
  host.errorTitle = (error) => call("errorTitle", [error]);
  host.framesOf = (error) => call("framesOf", [error]);
});
