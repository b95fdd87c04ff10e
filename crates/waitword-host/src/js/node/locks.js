// `locks` of node:worker_threads: the Web Locks standard, for all agents of the program. The holders are in named_locks.rs. Loaded at first use.
(function (host) {
  "use strict";

  const { native, options } = host;
  const { Boolean, Map, Promise, TypeError } = host.safe;
  const { DOMException } = host;
  const waiting = new Map();

  const unsupported = (message) => new DOMException(message, "NotSupportedError");
  const aborted = () => new DOMException("The operation was aborted", "AbortError");

  class Lock {
    #name;
    #mode;

    constructor(key = undefined, name = undefined, mode = undefined) {
      if (key !== host.own) throw host.illegal();
      this.#name = name;
      this.#mode = mode;
    }

    get name() {
      return this.#name;
    }

    get mode() {
      return this.#mode;
    }
  }

  class LockManager {
    constructor(key = undefined) {
      if (key !== host.own) throw host.illegal();
    }

    /** Calls the callback when the lock is granted. The lock is released when the promise that the callback returns is settled. */
    request(name, settings, callback = undefined) {
      const isShort = arguments.length < 3;
      return new Promise((resolve, reject) => {
        const call = isShort ? settings : callback;
        const wanted = checked(host.domString(name), isShort ? undefined : settings, call);
        const { signal } = wanted;
        signal?.throwIfAborted();
        const ticket = native.requestLock(wanted.name, wanted.mode === "shared", wanted.ifAvailable, wanted.steal);
        if (ticket === undefined) {
          resolve(run(call, null));
          return;
        }
        const request = { ...wanted, call, resolve, reject, giveUp: undefined };
        waiting.set(ticket, request);
        if (!signal) return;
        request.giveUp = () => {
          waiting.delete(ticket);
          native.releaseLock(request.name, ticket);
          reject(signal.reason);
        };
        signal.addEventListener("abort", request.giveUp, { once: true });
      });
    }

    async query() {
      const held = [];
      const pending = [];
      const all = native.queryLocks();
      for (let at = 0; at < all.length; at++) {
        const row = all[at];
        const clientId = "waitword-" + options.pid + "-" + row[2];
        host.append(row[3] ? held : pending, { name: row[0], mode: row[1] ? "shared" : "exclusive", clientId });
      }
      return { held, pending };
    }
  }
  host.shape(Lock);
  host.shape(LockManager);

  function checked(name, settings, call) {
    if (typeof call !== "function") throw host.invalid("callback", "of type function", call);
    const members = host.dictionary(settings);
    const ifAvailable = Boolean(members.ifAvailable);
    const mode = members.mode === undefined ? "exclusive" : host.domString(members.mode);
    const { signal } = members;
    const steal = Boolean(members.steal);
    if (mode !== "exclusive" && mode !== "shared") throw new TypeError("The mode of a lock must be 'exclusive' or 'shared', not '" + mode + "'");
    if (signal !== undefined && !host.part("abort").isSignal(signal)) {
      throw host.invalid("options.signal", "an instance of AbortSignal", signal);
    }
    if (name[0] === "-") throw unsupported("The name of a lock may not begin with '-'");
    if (ifAvailable && steal) throw unsupported("ifAvailable and steal cannot be combined");
    if (steal && mode !== "exclusive") throw unsupported("Only an exclusive lock can be stolen");
    if (signal && (steal || ifAvailable)) throw unsupported("signal cannot be combined with steal or ifAvailable");
    return { name, mode, ifAvailable, steal, signal };
  }

  const run = async (call, lock) => call(lock);

  /** The lock was granted to this agent, and is released if its request was aborted. The result of the callback is ignored if the lock was stolen in the meantime. */
  async function granted(ticket) {
    const request = waiting.get(ticket);
    if (!request) return;
    if (request.giveUp) request.signal.removeEventListener("abort", request.giveUp);
    try {
      const result = await run(request.call, new Lock(host.own, request.name, request.mode));
      if (give(ticket, request)) request.resolve(result);
      else request.reject(aborted());
    } catch (error) {
      request.reject(give(ticket, request) ? error : aborted());
    }
  }

  /** Releases a lock. Returns whether this agent still held it, because it may have been stolen, with the message still queued. */
  function give(ticket, request) {
    waiting.delete(ticket);
    return native.releaseLock(request.name, ticket);
  }

  /** Another request has stolen the lock. */
  function stolen(ticket) {
    waiting.get(ticket)?.reject(aborted());
  }

  return { granted, locks: new LockManager(host.own), stolen };
});
