// The title and the frames of an error, as texts. In the private realm (text_realm.js). Next: layout.js.
(function (text) {
  "use strict";

  /** The title and the frames, which V8 has together in `stack`: the engine's own holds the frames only. */
  function errorText(error) {
    const title = errorTitle(error);
    const stack = framesOf(error).join("\n");
    return stack ? `${title}\n${stack}` : `[${title}]`;
  }

  /** The lines of the stack that are about the script, not about the engine's and the host's inner life. */
  function framesOf(error) {
    const stack = text.stackOf(error);
    const lines = typeof stack === "string" ? stack.split("\n") : [];
    return lines.filter((line) => /^ +at /.test(line) && !/\((waitword:.*|native)\)$/.test(line));
  }

  function errorTitle(error) {
    const name = error.name === undefined ? "Error" : String(error.name);
    const message = error.message === undefined ? "" : String(error.message);
    const code = typeof error.code === "string" ? `${name} [${error.code}]` : name;
    return message ? `${code}: ${message}` : code;
  }

  Object.assign(text, { errorText, errorTitle, framesOf });
});
