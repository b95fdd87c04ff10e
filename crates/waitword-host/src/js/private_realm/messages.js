// What the host's messages say of values that went wrong: thrown ones, and arguments. Next: utf8.js.
(function (text) {
  "use strict";

  const { constructorName, errorTitle, framesOf, inspect } = text;

  function plainTitle(error) {
    const name = error.name === undefined ? "Error" : String(error.name);
    const message = error.message === undefined ? "" : String(error.message);
    return name && message ? `${name}: ${message}` : name || message;
  }

  /** What was thrown, in a line, and where: file, line, column. */
  function placeOf(thrown) {
    if (!Error.isError(thrown)) return [inspect(thrown), "", 0, 0];
    const [, file = "", line = 0, column = 0] = /^ +at (?:.* \()?(.*?):(\d+)(?::(\d+))?\)?$/.exec(framesOf(thrown)[0]) ?? [];
    return [plainTitle(thrown), file, Number(line), Number(column)];
  }

  /** What an argument was that should have been something else. */
  function received(value) {
    if (value === undefined || value === null) return String(value);
    if (typeof value === "function") return `function ${value.name}`;
    if (typeof value === "object") {
      const name = constructorName(value);
      return name ? `an instance of ${name}` : inspect(value, { depth: -1 });
    }
    const shown = inspect(value);
    return `type ${typeof value} (${shown.length > 28 ? `${shown.slice(0, 25)}...` : shown})`;
  }

  /** An error for a person: title, frames, and what the script put on it itself: its cause, a code, other properties. */
  function describeError(error) {
    const shown = inspect(error);
    const at = shown.lastIndexOf("{\n");
    const details = at > 0 && shown.endsWith("}") ? shown.slice(at) : "";
    return [errorTitle(error), framesOf(error).join("\n"), details];
  }

  Object.assign(text, { placeOf, received, describeError });
});
