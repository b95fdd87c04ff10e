// setTimeout and the like. The event loop (timers.rs) knows the deadlines. The callbacks are kept here, under the numbers that the loop
// returns. Next: lifecycle.js.
(function (host) {
  "use strict";

  const LONGEST = 2 ** 31 - 1; // milliseconds; longer delays become 1, as in Node
  const { trunc } = Math;
  const { apply, Map } = host.safe;
  const active = new Map();
  let last = 0;

  /** A scheduled call, for `Timeout` and `Immediate`. */
  class Call {
    #timer;
    #callback;
    #args;
    #delay;
    #repeats;
    #id = ++last;
    #keepsAlive = true;

    constructor(timer, callback, args, delay, repeats) {
      if (typeof callback !== "function") throw host.invalid("callback", "of type function", callback);
      this.#timer = timer;
      this.#callback = callback;
      this.#args = args;
      this.#delay = delay;
      this.#repeats = repeats;
    }

    get id() {
      return this.#id;
    }

    get keepsAlive() {
      return this.#keepsAlive;
    }

    start() {
      active.set(this.#id, this);
      host.native.startTimer(this.#id, this.#delay, this.#keepsAlive);
    }

    stop() {
      if (active.delete(this.#id)) host.native.stopTimer(this.#id);
    }

    fire() {
      if (this.#repeats) this.start();
      else active.delete(this.#id);
      apply(this.#callback, this.#timer, this.#args);
    }

    keep(keepsAlive) {
      this.#keepsAlive = keepsAlive;
      if (active.has(this.#id)) host.native.refTimer(this.#id, keepsAlive);
    }

    get isActive() {
      return active.has(this.#id);
    }
  }

  class Timeout {
    #call;

    constructor(callback, args, delay, repeats) {
      this.#call = new Call(this, callback, args, delay, repeats);
    }

    refresh() {
      this.#call.stop();
      this.#call.start();
      return this;
    }

    ref() {
      this.#call.keep(true);
      return this;
    }

    unref() {
      this.#call.keep(false);
      return this;
    }

    hasRef() {
      return this.#call.keepsAlive;
    }

    close() {
      this.#call.stop();
      return this;
    }

    [Symbol.toPrimitive]() {
      return this.#call.id;
    }

    static callOf(value) {
      return typeof value === "object" && value !== null && #call in value ? value.#call : undefined;
    }
  }

  class Immediate {
    #call;

    constructor(callback, args) {
      this.#call = new Call(this, callback, args, 0, false);
    }

    ref() {
      this.#call.keep(true);
      return this;
    }

    unref() {
      this.#call.keep(false);
      return this;
    }

    hasRef() {
      return this.#call.isActive && this.#call.keepsAlive;
    }

    static callOf(value) {
      return typeof value === "object" && value !== null && #call in value ? value.#call : undefined;
    }
  }
  const { callOf: timeoutOf } = Timeout;
  const { callOf: immediateOf } = Immediate;
  delete Timeout.callOf;
  delete Immediate.callOf;

  const milliseconds = (delay) => {
    // Like Node, and unlike `Number`, it accepts no BigInt.
    const number = delay === undefined ? 1 : +delay;
    return number >= 1 && number <= LONGEST ? trunc(number) : 1;
  };
  const started = (timer, callOf) => {
    callOf(timer).start();
    return timer;
  };
  const clear = (timer) => {
    const isName = typeof timer === "number" || typeof timer === "string";
    const call = isName ? active.get(+timer) : timeoutOf(timer);
    call?.stop();
  };

  host.fireTimer = (id) => active.get(id)?.fire();
  host.timers = {
    setTimeout(callback, delay = undefined, ...args) {
      return started(new Timeout(callback, args, milliseconds(delay), false), timeoutOf);
    },
    setInterval(callback, delay = undefined, ...args) {
      return started(new Timeout(callback, args, milliseconds(delay), true), timeoutOf);
    },
    setImmediate(callback, ...args) {
      return started(new Immediate(callback, args), immediateOf);
    },
    clearTimeout(timeout) {
      clear(timeout);
    },
    clearInterval(timeout) {
      clear(timeout);
    },
    clearImmediate(immediate) {
      immediateOf(immediate)?.stop();
    },
  };
});
