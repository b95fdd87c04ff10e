// AbortController and AbortSignal. A part that runs when it is first asked for.
(function (host) {
  "use strict";

  const { Error } = globalThis;
  const { DOMException } = host;
  const { defineProperty, Symbol } = host.safe;

  class AbortSignal extends host.Target {
    #reason;
    #isAborted = false;

    constructor(key) {
      if (key !== host.own) throw host.error(globalThis.TypeError, "ERR_ILLEGAL_CONSTRUCTOR", "Illegal constructor");
      super();
    }

    get aborted() {
      return this.#isAborted;
    }

    get reason() {
      return this.#reason;
    }

    throwIfAborted() {
      if (this.#isAborted) throw this.#reason;
    }

    static abort(reason) {
      const signal = new AbortSignal(host.own);
      abort(signal, reason);
      return signal;
    }

    static timeout(delay) {
      const signal = new AbortSignal(host.own);
      const reason = () => new DOMException("The operation was aborted due to timeout", "TimeoutError");
      host.timers.setTimeout(() => abort(signal, reason()), delay).unref();
      return signal;
    }

    static any(signals) {
      const any = new AbortSignal(host.own);
      const all = [...signals];
      const first = all.find((each) => each.aborted);
      if (first) abort(any, first.reason);
      else for (const each of all) each.addEventListener("abort", () => abort(any, each.reason), { once: true });
      return any;
    }

    static internal = (signal, reason) => {
      if (signal.#isAborted) return;
      signal.#isAborted = true;
      signal.#reason = reason === undefined ? new DOMException("This operation was aborted", "AbortError") : reason;
      signal.dispatchEvent(new (host.part("event").Event)("abort"));
    };
  }
  const abort = AbortSignal.internal;
  delete AbortSignal.internal;
  host.withHandlers(AbortSignal, ["abort"]);
  defineProperty(AbortSignal.prototype, Symbol.toStringTag, { __proto__: null, value: "AbortSignal", configurable: true });

  class AbortController {
    #signal = new AbortSignal(host.own);

    get signal() {
      return this.#signal;
    }

    abort(reason) {
      abort(this.#signal, reason);
    }
  }

  /** What a function of Node fails with whose signal was aborted. */
  function abortError(signal) {
    const error = host.error(Error, "ABORT_ERR", "The operation was aborted");
    host.put(error, "name", "AbortError");
    if (signal?.reason !== undefined) error.cause = signal.reason;
    return error;
  }

  return { AbortController, AbortSignal, abortError };
});
