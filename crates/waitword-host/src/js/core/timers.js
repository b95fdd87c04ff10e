// setTimeout and its kin. When something is due is the event loop's business (timers.rs); what to call then is kept
// here, under the number that the loop hands back. Next: lifecycle.js.
(function (host) {
  "use strict";

  const LONGEST = 2 ** 31 - 1; // milliseconds; longer delays become 1, as in Node
  const { Number } = globalThis;
  const { trunc } = Math;
  const { apply, Map } = host.safe;
  const active = new Map();
  let last = 0;

  class Timeout {
    #run;
    #delay;
    #repeats;
    #id = ++last;
    #keepsAlive = true;

    constructor(run, delay, repeats) {
      this.#run = run;
      this.#delay = delay;
      this.#repeats = repeats;
      this.#start();
    }

    #start() {
      active.set(this.#id, this);
      host.native.startTimer(this.#id, this.#delay, this.#keepsAlive);
    }

    fire() {
      if (this.#repeats) this.#start();
      else active.delete(this.#id);
      this.#run();
    }

    close() {
      if (active.delete(this.#id)) host.native.stopTimer(this.#id);
      return this;
    }

    refresh() {
      this.close();
      this.#start();
      return this;
    }

    ref() {
      return this.#keep(true);
    }

    unref() {
      return this.#keep(false);
    }

    #keep(keepsAlive) {
      this.#keepsAlive = keepsAlive;
      if (active.has(this.#id)) host.native.refTimer(this.#id, keepsAlive);
      return this;
    }

    hasRef() {
      return this.#keepsAlive;
    }

    [Symbol.toPrimitive]() {
      return this.#id;
    }
  }

  // An own class, so that a script sees `Immediate` where Node shows one; no delay rounds it up to a millisecond.
  class Immediate extends Timeout {}

  const milliseconds = (delay) => {
    const number = Number(delay);
    return number >= 1 && number <= LONGEST ? trunc(number) : 1;
  };

  const bound = (callback, args) => {
    if (typeof callback !== "function") {
      throw host.invalid("callback", "of type function", callback);
    }
    return () => apply(callback, undefined, args);
  };

  const setTimeout = (callback, delay, ...args) => new Timeout(bound(callback, args), milliseconds(delay), false);
  const setInterval = (callback, delay, ...args) => new Timeout(bound(callback, args), milliseconds(delay), true);
  const setImmediate = (callback, ...args) => new Immediate(bound(callback, args), 0, false);
  const clear = (timer) => {
    const known = timer instanceof Timeout ? timer : active.get(Number(timer));
    known?.close();
  };

  host.fireTimer = (id) => active.get(id)?.fire();
  host.timers = {
    setTimeout: named("setTimeout", setTimeout),
    setInterval: named("setInterval", setInterval),
    setImmediate: named("setImmediate", setImmediate),
    clearTimeout: (timer) => clear(timer),
    clearInterval: (timer) => clear(timer),
    clearImmediate: (timer) => clear(timer),
  };
  function named(name, call) {
    return Object.defineProperty(call, "name", { value: name });
  }
});
