// AbortController and AbortSignal. Loaded at first use.
(function (host) {
  "use strict";

  const { Error } = globalThis;
  const { DOMException } = host;
  const { isArray, isInteger, list } = host.safe;
  /** The longest time of a signal, in milliseconds. */
  const LONGEST = 2 ** 32 - 1;

  class AbortSignal extends host.Target {
    #reason;
    #isAborted = false;
    /** For a signal created by `any`: the signals that it follows, none of which was created by `any`. For others: the signals that follow it. */
    #sources;
    #dependents;

    constructor(key = undefined) {
      if (key !== host.own) throw host.illegal();
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

    static abort(reason = undefined) {
      const signal = new AbortSignal(host.own);
      abort(signal, reason);
      return signal;
    }

    static timeout(delay) {
      if (typeof delay !== "number") throw host.invalid("delay", "of type number", delay);
      if (!isInteger(delay)) throw host.outOfRange("delay", "an integer", delay);
      if (delay < 0 || delay > LONGEST) throw host.outOfRange("delay", ">= 0 && <= " + LONGEST, delay);
      const signal = new AbortSignal(host.own);
      const reason = () => new DOMException("The operation was aborted due to timeout", "TimeoutError");
      host.timers.setTimeout(() => abort(signal, reason()), delay).unref();
      return signal;
    }

    static any(signals) {
      if (!isArray(signals)) throw host.invalid("signals", "an instance of Array", signals);
      for (let at = 0; at < signals.length; at++) {
        if (!isSignal(signals[at])) throw host.invalid("signals[" + at + "]", "an instance of AbortSignal", signals[at]);
      }
      const any = new AbortSignal(host.own);
      for (let at = 0; at < signals.length; at++) if (signals[at].#isAborted) return begin(any, signals[at].#reason);
      any.#sources = list();
      for (let at = 0; at < signals.length; at++) {
        const sources = signals[at].#sources ?? list(signals[at]);
        for (let each = 0; each < sources.length; each++) {
          any.#sources.push(sources[each]);
          (sources[each].#dependents ??= list()).push(any);
        }
      }
      return any;
    }

    static internal = {
      isSignal: (value) => typeof value === "object" && value !== null && #isAborted in value,
      /** Sets the state and the reason. */
      begin: (signal, reason) => {
        signal.#isAborted = true;
        signal.#reason = reason;
        return signal;
      },
      /** Aborts a signal and those that follow it. All have their reasons before the first listener is called. */
      abort: (signal, reason) => {
        if (signal.#isAborted) return;
        const all = list(begin(signal, reason === undefined ? new DOMException("This operation was aborted", "AbortError") : reason));
        const dependents = signal.#dependents;
        signal.#dependents = undefined;
        for (let at = 0; at < (dependents?.length ?? 0); at++) {
          if (!dependents[at].#isAborted) all.push(begin(dependents[at], signal.#reason));
        }
        for (let at = 0; at < all.length; at++) all[at].dispatchEvent(new (host.part("event").Event)("abort"));
      },
    };
  }
  const { isSignal, begin, abort } = AbortSignal.internal;
  delete AbortSignal.internal;
  host.withHandlers(AbortSignal, ["abort"]);
  host.shape(AbortSignal);

  class AbortController {
    #signal = new AbortSignal(host.own);

    get signal() {
      return this.#signal;
    }

    abort(reason = undefined) {
      abort(this.#signal, reason);
    }
  }
  host.shape(AbortController);

  /** The error of a function of Node whose signal was aborted. */
  function abortError(signal) {
    const error = host.error(Error, "ABORT_ERR", "The operation was aborted");
    host.put(error, "name", "AbortError");
    if (signal?.reason !== undefined) error.cause = signal.reason;
    return error;
  }

  return { AbortController, AbortSignal, abortError, isSignal };
});
