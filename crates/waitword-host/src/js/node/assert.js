// node:assert. Its messages name what was compared; they do not draw the differences. A part that runs when it is first
// asked for.
(function (host) {
  "use strict";

  const { Error, Object } = globalThis;
  const text = host.text();
  const { is } = Object;

  class AssertionError extends Error {
    constructor({ message, actual, expected, operator }) {
      super(message ?? `${host.inspect(actual)} ${operator} ${host.inspect(expected)}`);
      this.generatedMessage = message === undefined;
      this.code = "ERR_ASSERTION";
      this.actual = actual;
      this.expected = expected;
      this.operator = operator;
    }

    get name() {
      return "AssertionError";
    }
  }

  function fail(message, actual, expected, operator, generated) {
    if (Error.isError(message)) throw message;
    const error = new AssertionError({ message: message ?? generated, actual, expected, operator });
    error.generatedMessage = message === undefined;
    throw error;
  }

  const pair = (actual, mark, expected) => `\n\n${host.inspect(actual)}${mark}${host.inspect(expected)}\n`;
  const comparison = (operator, title, mark, holds) => (actual, expected, message) => {
    if (!holds(actual, expected)) fail(message, actual, expected, operator, title + pair(actual, mark, expected));
  };
  const deep = (a, b) => text.isDeepEqual(a, b, false);
  const deepStrict = (a, b) => text.isDeepEqual(a, b, true);

  function ok(...args) {
    if (args[0]) return;
    const generated = args.length === 0
      ? "No value argument passed to `assert.ok()`"
      : "The expression evaluated to a falsy value: " + host.inspect(args[0]);
    fail(args[1], args[0], true, "==", generated);
  }

  /** Whether what was thrown is what was expected: a class, a pattern, a function that says so, or properties. */
  function check(error, expected, message) {
    if (expected === undefined) return;
    if (text.types.isRegExp(expected)) {
      if (expected.test(String(error))) return;
      fail(message, error, expected, "throws", `The input did not match the regular expression ${host.inspect(expected)}`);
    } else if (typeof expected === "function") {
      const isClass = expected.prototype !== undefined && error instanceof expected;
      if (isClass) return;
      if (expected === Error || Error.prototype.isPrototypeOf(expected.prototype)) throw error;
      if (expected.call({}, error) !== true) {
        fail(message, error, expected, "throws", "The validation function is expected to return \"true\"");
      }
    } else {
      const keys = Object.keys(expected);
      if (Error.isError(expected)) keys.push("name", "message");
      for (const key of keys) {
        const isSame = text.types.isRegExp(expected[key]) && typeof error?.[key] === "string"
          ? expected[key].test(error[key])
          : deepStrict(error?.[key], expected[key]);
        if (!isSame) fail(message, error, expected, "throws", `What was thrown differs in ${key}`);
      }
    }
  }

  function throws(call, expected, message) {
    if (typeof expected === "string") [expected, message] = [undefined, expected];
    let thrown;
    try {
      call();
    } catch (error) {
      thrown = { error };
    }
    if (!thrown) fail(message, undefined, expected, "throws", "Missing expected exception.");
    check(thrown.error, expected, message);
  }

  function make(isStrict) {
    const assert = (...args) => ok(...args);
    const strict = {
      strictEqual: comparison("strictEqual", "Expected values to be strictly equal:", " !== ", is),
      notStrictEqual: comparison("notStrictEqual", 'Expected "actual" to be strictly unequal to:', " === ", (a, b) => !is(a, b)),
      deepStrictEqual: comparison("deepStrictEqual", "Expected values to be strictly deep-equal:", "\n\nshould equal\n\n", deepStrict),
      notDeepStrictEqual: comparison("notDeepStrictEqual", 'Expected "actual" not to be strictly deep-equal to:', "\n\nequals\n\n", (a, b) => !deepStrict(a, b)),
    };
    const loose = isStrict
      ? { equal: strict.strictEqual, notEqual: strict.notStrictEqual, deepEqual: strict.deepStrictEqual, notDeepEqual: strict.notDeepStrictEqual }
      : {
          equal: comparison("==", "Expected values to be loosely equal:", " == ", (a, b) => a == b || (a !== a && b !== b)),
          notEqual: comparison("!=", "Expected values not to be loosely equal:", " != ", (a, b) => a != b),
          deepEqual: comparison("deepEqual", "Expected values to be loosely deep-equal:", "\n\nshould loosely deep-equal\n\n", deep),
          notDeepEqual: comparison("notDeepEqual", "Expected values not to be loosely deep-equal:", "\n\nequals\n\n", (a, b) => !deep(a, b)),
        };
    return Object.assign(assert, {
      AssertionError, ok, ...strict, ...loose, throws,
      fail: (message = "Failed") => {
        if (Error.isError(message)) throw message;
        throw new AssertionError({ message, operator: "fail" });
      },
      match: (string, pattern, message) => {
        if (!pattern.test(string)) fail(message, string, pattern, "match", `The input did not match the regular expression ${pattern}`);
      },
      doesNotMatch: (string, pattern, message) => {
        if (pattern.test(string)) fail(message, string, pattern, "doesNotMatch", `The input was expected to not match the regular expression ${pattern}`);
      },
    });
  }

  const assert = make(false);
  assert.strict = make(true);
  assert.strict.strict = assert.strict;
  return assert;
});
