// node:assert. Its messages name the compared values, without a diff. Loaded at first use.
(function (host) {
  "use strict";

  const { Error, Number, Object, String, TypeError } = globalThis;
  const text = host.text();
  const { inspect } = host;
  const { is } = Object;
  const { isNaN } = Number;
  const { isRegExp } = text.types;

  class AssertionError extends Error {
    constructor(options) {
      if (typeof options !== "object" || options === null) throw host.invalid("options", "of type object", options);
      const { message, actual, expected, operator } = options;
      super(message ?? `${inspect(actual)} ${operator} ${inspect(expected)}`);
      host.hide(this, "name", "AssertionError");
      this.generatedMessage = !message;
      this.code = "ERR_ASSERTION";
      this.actual = actual;
      this.expected = expected;
      this.operator = operator;
    }
  }

  /** Throws the message if it is an error, or else an error with the message or with a generated one. */
  function fail(message, actual, expected, operator, generated) {
    if (Error.isError(message)) throw message;
    const error = new AssertionError({ message: message ?? generated?.(), actual, expected, operator });
    error.generatedMessage ||= message === undefined || message === null;
    throw error;
  }

  const matches = (pattern, string) => RegExp.prototype.exec.call(pattern, string) !== null;
  const pair = (actual, mark, expected) => `\n\n${inspect(actual)}${mark}${inspect(expected)}\n`;
  /** An assertion about two values. */
  function comparison(operator, title, mark, holds) {
    return function (actual, expected, message) {
      if (arguments.length < 2) throw host.error(TypeError, "ERR_MISSING_ARGS", 'The "actual" and "expected" arguments must be specified');
      if (!holds(actual, expected)) fail(message, actual, expected, operator, () => title + pair(actual, mark, expected));
    };
  }
  const isLooselyEqual = (a, b) => a == b || (isNaN(a) && isNaN(b));
  const deep = (a, b) => text.isDeepEqual(a, b, false);
  const deepStrict = (a, b) => text.isDeepEqual(a, b, true);

  function ok(...args) {
    if (args[0]) return;
    const generated = args.length === 0
      ? "No value argument passed to `assert.ok()`"
      : "The expression evaluated to a falsy value: " + inspect(args[0]);
    if (Error.isError(args[1])) throw args[1];
    const error = new AssertionError({ message: args[1] ?? generated, actual: args[0], expected: true, operator: "==" });
    error.generatedMessage = args[1] === undefined || args[1] === null;
    throw error;
  }

  function throws(call, ...rest) {
    if (typeof call !== "function") throw host.invalid("fn", "of type function", call);
    let thrown;
    try {
      call();
    } catch (error) {
      thrown = { error };
    }
    let [expected, message] = rest;
    if (typeof expected === "string") {
      if (rest.length > 1) throw wrongExpectation(expected);
      checkAmbiguity(thrown, expected);
      [expected, message] = [undefined, expected];
    } else if (expected !== undefined && expected !== null && typeof expected !== "object" && typeof expected !== "function") {
      throw wrongExpectation(expected);
    }
    if (!thrown) {
      const name = expected?.name ? ` (${expected.name})` : "";
      fail(`Missing expected exception${name}${message ? `: ${message}` : "."}`, undefined, expected, "throws");
    }
    if (expected) check(thrown.error, expected, message);
  }

  const wrongExpectation = (expected) => host.invalid("error", "of type function or an instance of Error, RegExp, or Object", expected);

  /** A string as the second argument is the message and not the expected error. If the thrown error has the same message, that is ambiguous. */
  function checkAmbiguity(thrown, message) {
    if (!thrown) return;
    const { error } = thrown;
    const isObject = typeof error === "object" && error !== null;
    if ((isObject ? error.message : error) !== message) return;
    throw host.error(TypeError, "ERR_AMBIGUOUS_ARGUMENT",
      `The "error/message" argument is ambiguous. The error ${isObject ? "message " : ""}"${message}" is identical to the message.`);
  }

  /** Whether a thrown value is as expected: a pattern, a class, a validation function, or properties. */
  function check(error, expected, message) {
    if (isRegExp(expected)) {
      const string = String(error);
      if (!matches(expected, string)) refuse(error, expected, message, `The input did not match the regular expression ${inspect(expected)}. Input:\n\n${inspect(string)}\n`);
    } else if (typeof expected !== "function") {
      checkProperties(error, expected, message);
    } else if (expected.prototype !== undefined && error instanceof expected) {
      return;
    } else if (Error.isPrototypeOf(expected)) {
      const received = Error.isError(error) ? error.name : inspect(error, { depth: -1 });
      refuse(error, expected, message, `The error is expected to be an instance of "${expected.name}". Received "${received}"`);
    } else {
      const result = expected.call({}, error);
      if (result === true) return;
      const name = expected.name ? `"${expected.name}" ` : "";
      const caught = Error.isError(error) ? `\n\nCaught error:\n\n${error}` : "";
      refuse(error, expected, message, `The ${name}validation function is expected to return "true". Received ${inspect(result)}${caught}`);
    }
  }

  /** Like `fail`, for thrown values, where an error as the message is used as text. */
  function refuse(error, expected, message, generated) {
    fail(message ? String(message) : undefined, error, expected, "throws", () => generated);
  }

  function checkProperties(error, expected, message) {
    const differs = (key) => fail(message || undefined, error, expected, "throws", () => `What was thrown differs in ${key}` + pair(error, "\n\nshould match\n\n", expected));
    if (typeof error !== "object" || error === null) differs("kind");
    const keys = Object.keys(expected);
    if (Error.isError(expected)) keys.push("name", "message");
    else if (keys.length === 0) {
      throw host.error(TypeError, "ERR_INVALID_ARG_VALUE", `The argument 'error' may not be an empty object. Received ${inspect(expected)}`);
    }
    for (const key of keys) {
      if (typeof error[key] === "string" && isRegExp(expected[key]) && matches(expected[key], error[key])) continue;
      if (!(key in error) || !deepStrict(error[key], expected[key])) differs(key);
    }
  }

  /** `match`, or `doesNotMatch`. */
  const matching = (operator, isMatch, generated) => (string, regexp, message) => {
    if (!isRegExp(regexp)) throw host.invalid("regexp", "an instance of RegExp", regexp);
    if (typeof string !== "string") {
      fail(message || undefined, string, regexp, operator, () => `The "string" argument must be of type string. Received type ${typeof string} (${inspect(string)})`);
    }
    if (matches(regexp, string) === isMatch) return;
    fail(message || undefined, string, regexp, operator, () => `${generated} ${inspect(regexp)}. Input:\n\n${inspect(string)}\n`);
  };

  function make(isStrict) {
    const equalities = {
      strictEqual: comparison("strictEqual", "Expected values to be strictly equal:", " !== ", is),
      notStrictEqual: comparison("notStrictEqual", 'Expected "actual" to be strictly unequal to:', " === ", (a, b) => !is(a, b)),
      deepStrictEqual: comparison("deepStrictEqual", "Expected values to be strictly deep-equal:", "\n\nshould equal\n\n", deepStrict),
      notDeepStrictEqual: comparison("notDeepStrictEqual", 'Expected "actual" not to be strictly deep-equal to:', "\n\nequals\n\n", (a, b) => !deepStrict(a, b)),
    };
    const { strictEqual, notStrictEqual, deepStrictEqual, notDeepStrictEqual } = equalities;
    const loose = isStrict
      ? { equal: strictEqual, notEqual: notStrictEqual, deepEqual: deepStrictEqual, notDeepEqual: notDeepStrictEqual }
      : {
          equal: comparison("==", "Expected values to be loosely equal:", " == ", isLooselyEqual),
          notEqual: comparison("!=", "Expected values not to be loosely equal:", " != ", (a, b) => !isLooselyEqual(a, b)),
          deepEqual: comparison("deepEqual", "Expected values to be loosely deep-equal:", "\n\nshould loosely deep-equal\n\n", deep),
          notDeepEqual: comparison("notDeepEqual", "Expected values not to be loosely deep-equal:", "\n\nequals\n\n", (a, b) => !deep(a, b)),
        };
    return Object.assign((...args) => ok(...args), {
      AssertionError, ok, ...equalities, ...loose, throws,
      fail(...args) {
        if (args.length > 1) return fail(args[2], args[0], args[1], args[3] ?? (args.length === 2 ? "!=" : "fail"));
        fail(args[0] ?? undefined, undefined, undefined, "fail", () => "Failed");
      },
      match: matching("match", true, "The input did not match the regular expression"),
      doesNotMatch: matching("doesNotMatch", false, "The input was expected to not match the regular expression"),
    });
  }

  const assert = make(false);
  assert.strict = make(true);
  assert.strict.strict = assert.strict;
  return assert;
});
