// Listeners, and the EventEmitter of node:events. The lists of listeners are kept beside the objects, so that any object can have some, even
// one whose constructor only calls EventEmitter, as constructors without `class` do. Next: event_target.js.
(function (host) {
  "use strict";

  const { Error } = globalThis;
  const { apply, assign, defineProperty, list, Map, ownKeys, RangeError, String, Symbol, WeakMap } = host.safe;
  const { isError } = Error;
  const all = new WeakMap();
  /** The maximum of listeners per event, for objects on which it was set. There is no warning; programs can only read it. */
  const limits = new WeakMap();
  let defaultLimit = 10;
  const errorMonitor = Symbol("events.errorMonitor");

  /** Names of events are property keys. */
  const keyOf = (name) => (typeof name === "string" || typeof name === "symbol" ? name : String(name));

  // A list is never changed, only replaced, so that a loop over one need not copy it.
  const listenersOf = (object, name) => all.get(object)?.get(keyOf(name));

  function add(object, name, entry, isFirst) {
    const key = keyOf(name);
    if (!object[host.isTarget] && listenersOf(object, "newListener")) object.emit("newListener", name, entry.listener);
    let known = all.get(object);
    if (!known) all.set(object, (known = new Map()));
    const before = known.get(key);
    const listeners = isFirst ? list(entry) : list();
    for (let at = 0; at < (before?.length ?? 0); at++) listeners.push(before[at]);
    if (!isFirst) listeners.push(entry);
    known.set(key, listeners);
    object[host.listenersChanged]?.(key);
  }

  function remove(object, name, entry) {
    const key = keyOf(name);
    const known = all.get(object);
    const before = known?.get(key);
    const left = list();
    for (let at = 0; at < (before?.length ?? 0); at++) if (before[at] !== entry) left.push(before[at]);
    if (left.length === (before?.length ?? 0)) return;
    entry.isRemoved = true;
    if (left.length === 0) known.delete(key);
    else known.set(key, left);
    object[host.listenersChanged]?.(key);
    if (!object[host.isTarget] && listenersOf(object, "removeListener")) object.emit("removeListener", name, entry.listener);
  }

  /** Calls the listeners; those of an EventTarget get the result of `event`. Returns whether there were any. */
  function fire(object, name, args, event) {
    const isTarget = object[host.isTarget];
    if (name === "error" && !isTarget) fire(object, errorMonitor, args);
    const listeners = listenersOf(object, name);
    if (!listeners) return false;
    let made;
    let isStopped = false;
    for (let at = 0; at < listeners.length; at++) {
      const entry = listeners[at];
      // For an emitter, all listeners at the beginning are called; for a target, except those removed since.
      if (isTarget ? entry.isRemoved || (isStopped && !entry.resists) : entry.isDone) continue;
      if (entry.isOnce) {
        entry.isDone = true;
        remove(object, name, entry);
      }
      if (!entry.takesEvent) apply(entry.listener, object, args);
      else if (host.dispatch(entry, (made ??= event()))) isStopped = true;
    }
    return true;
  }

  /** The exception for an `error` without a listener. */
  function unheard(error) {
    if (isError(error)) return error;
    const made = host.error(Error, "ERR_UNHANDLED_ERROR", "Unhandled error. (" + host.inspect(error) + ")");
    return host.put(made, "context", error);
  }

  function checked(listener) {
    if (typeof listener !== "function") throw host.invalid("listener", "of type function", listener);
    return listener;
  }

  function limit(most, name) {
    if (typeof most !== "number") throw host.invalid(name, "of type number", most);
    if (!(most >= 0)) throw host.outOfRange(name, ">= 0", most);
    return most;
  }

  class Methods {
    setMaxListeners(most) {
      limits.set(this, limit(most, "setMaxListeners"));
      return this;
    }

    getMaxListeners() {
      return limits.get(this) ?? defaultLimit;
    }

    emit(name, ...args) {
      const isHeard = fire(this, name, args);
      if (!isHeard && name === "error") throw unheard(args[0]);
      return isHeard;
    }

    addListener(name, listener) {
      add(this, name, { listener: checked(listener) }, false);
      return this;
    }

    prependListener(name, listener) {
      add(this, name, { listener: checked(listener) }, true);
      return this;
    }

    once(name, listener) {
      add(this, name, { listener: checked(listener), isOnce: true }, false);
      return this;
    }

    prependOnceListener(name, listener) {
      add(this, name, { listener: checked(listener), isOnce: true }, true);
      return this;
    }

    removeListener(name, listener) {
      checked(listener);
      const listeners = listenersOf(this, name);
      // The newest of several equal listeners goes first, as in Node.
      for (let at = (listeners?.length ?? 0) - 1; at >= 0; at--) {
        if (listeners[at].listener !== listener) continue;
        remove(this, name, listeners[at]);
        break;
      }
      return this;
    }

    removeAllListeners(name) {
      const names = list();
      if (arguments.length > 0 && !(this[host.isTarget] && name === undefined)) names.push(name);
      else all.get(this)?.forEach((_, each) => void (each !== "removeListener" && names.push(each)));
      // Last, because it is called for the removal of the others.
      if (arguments.length === 0) names.push("removeListener");
      for (let at = 0; at < names.length; at++) {
        const listeners = listenersOf(this, names[at]);
        for (let each = (listeners?.length ?? 0) - 1; each >= 0; each--) remove(this, names[at], listeners[each]);
      }
      return this;
    }

    listeners(name) {
      const listeners = listenersOf(this, name);
      const shown = [];
      for (let at = 0; at < (listeners?.length ?? 0); at++) host.append(shown, listeners[at].listener);
      return shown;
    }

    /** Like `listeners`, but with the self-removing wrappers of those that are called once. */
    rawListeners(name) {
      const listeners = listenersOf(this, name);
      const shown = [];
      for (let at = 0; at < (listeners?.length ?? 0); at++) host.append(shown, raw(this, name, listeners[at]));
      return shown;
    }

    listenerCount(name, listener) {
      const listeners = listenersOf(this, name);
      if (listener === undefined || listener === null) return listeners?.length ?? 0;
      let count = 0;
      for (let at = 0; at < (listeners?.length ?? 0); at++) if (listeners[at].listener === listener) count++;
      return count;
    }

    eventNames() {
      const names = { __proto__: null };
      all.get(this)?.forEach((_, name) => (names[name] = true));
      return ownKeys(names);
    }
  }

  const methods = Methods.prototype;
  assign(methods, { on: methods.addListener, off: methods.removeListener });

  /** Defines these methods of an emitter on a class. */
  function emits(Class, names) {
    for (let at = 0; at < names.length; at++) if (names[at] !== "constructor") host.put(Class.prototype, names[at], methods[names[at]]);
  }

  function raw(object, name, entry) {
    if (!entry.isOnce) return entry.listener;
    const once = function (...args) {
      if (entry.isDone) return undefined;
      entry.isDone = true;
      remove(object, name, entry);
      return apply(entry.listener, object, args);
    };
    return host.put(once, "listener", entry.listener);
  }

  // Not a class, because constructors without `class` inherit from it by calling it.
  function EventEmitter(options) {}
  emits(EventEmitter, ownKeys(methods));
  defineProperty(EventEmitter.prototype, host.fire, {
    __proto__: null,
    value(name, args, event) {
      return fire(this, name, args, event);
    },
  });

  /** For functions that accept both kinds. */
  function checkedEmitter(emitter) {
    if (emitter?.[host.isTarget] || typeof emitter?.listeners === "function") return emitter;
    throw host.invalid("emitter", "an instance of EventEmitter or EventTarget", emitter);
  }

  assign(EventEmitter, {
    EventEmitter,
    errorMonitor,
    getEventListeners: (emitter, name) => apply(methods.listeners, checkedEmitter(emitter), [name]),
    getMaxListeners: (emitter) => apply(methods.getMaxListeners, checkedEmitter(emitter), []),
    listenerCount: (emitter, name) => apply(methods.listenerCount, checkedEmitter(emitter), [name]),
    once: (emitter, name, options = undefined) => host.part("promises").event(emitter, name, options),
    setMaxListeners: (most = defaultLimit, ...emitters) => {
      limit(most, "setMaxListeners");
      if (emitters.length === 0) defaultLimit = most;
      for (let at = 0; at < emitters.length; at++) limits.set(checkedEmitter(emitters[at]), most);
    },
  });
  defineProperty(EventEmitter, "defaultMaxListeners", {
    __proto__: null,
    get: () => defaultLimit,
    set: (most) => void (defaultLimit = limit(most, "defaultMaxListeners")),
    enumerable: true,
  });

  host.listeners = { add, remove, fire, of: listenersOf, emits };
  host.EventEmitter = EventEmitter;
});
