// Listeners, and the EventEmitter of node:events. The lists of listeners are kept beside the objects, so that any object can
// have some: also one whose constructor only calls EventEmitter, as classes of old do. What few emitters need is in
// events_rare.js. Next: event_target.js.
(function (host) {
  "use strict";

  const { Error, Symbol } = globalThis;
  const { apply, assign, defineProperty, list, Map, ownKeys, String, WeakMap } = host.safe;
  const { isError } = Error;
  const all = new WeakMap();
  const limits = new WeakMap();
  /** Whether rejections of what listeners return are errors of the emitter. */
  const captures = new WeakMap();
  const errorMonitor = Symbol("events.errorMonitor");
  const captureRejectionSymbol = Symbol.for("nodejs.rejection");
  let defaultLimit = 10;
  let capturesByDefault = false;
  const rare = () => host.part("events_rare");

  /** Names of events are keys of properties. */
  const keyOf = (name) => (typeof name === "string" || typeof name === "symbol" ? name : String(name));

  // Each list is never changed, only replaced: a loop over one need not copy it.
  const listenersOf = (object, name) => all.get(object)?.get(keyOf(name));

  function add(object, name, entry, isFirst) {
    const key = keyOf(name);
    let known = all.get(object);
    if (!known) all.set(object, (known = new Map()));
    // Its listeners come first, and may add some for this event themselves.
    else if (!object[host.isTarget] && known.has("newListener")) object.emit("newListener", name, original(entry));
    const before = known.get(key);
    const listeners = isFirst ? list(entry) : list();
    for (let at = 0; at < (before?.length ?? 0); at++) listeners.push(before[at]);
    if (!isFirst) listeners.push(entry);
    listeners.isWarned = before?.isWarned;
    known.set(key, listeners);
    object[host.listenersChanged]?.(key);
    const limit = limits.get(object) ?? defaultLimit;
    if (limit > 0 && listeners.length > limit && !listeners.isWarned) {
      // Of a list that had a single listener nobody knows any more whether there was a warning.
      listeners.isWarned = true;
      rare().warn(object, name, listeners.length, limit);
    }
  }

  /** `shown`: what the listeners of that get. */
  function remove(object, name, entry, shown = original(entry)) {
    const key = keyOf(name);
    const known = all.get(object);
    const before = known?.get(key);
    const left = list();
    for (let at = 0; at < (before?.length ?? 0); at++) if (before[at] !== entry) left.push(before[at]);
    if (left.length === (before?.length ?? 0)) return;
    entry.isRemoved = true;
    left.isWarned = before.isWarned && left.length > 1;
    if (left.length === 0) known.delete(key);
    else known.set(key, left);
    object[host.listenersChanged]?.(key);
    if (!object[host.isTarget] && known.has("removeListener")) object.emit("removeListener", name, shown);
  }

  /** What was passed as the listener; of one that wraps another, as those of `rawListeners` do, the other. */
  const original = (entry) => (entry.takesEvent ? entry.listener : entry.listener.listener || entry.listener);

  /** Calls the listeners; those of an EventTarget get what `event` makes. Whether there were any. */
  function fire(object, name, args, event) {
    const listeners = listenersOf(object, name);
    if (!listeners) return false;
    const isTarget = object[host.isTarget];
    let made;
    let isStopped = false;
    for (let at = 0; at < listeners.length; at++) {
      const entry = listeners[at];
      // Of an emitter, those are called that were there; of a target, not those that have been removed since.
      if (isTarget ? entry.isRemoved || (isStopped && !entry.resists) : entry.isDone) continue;
      if (entry.isOnce) {
        entry.isDone = true;
        remove(object, name, entry);
      }
      if (entry.takesEvent) {
        if (host.dispatch(entry, (made ??= event()))) isStopped = true;
      } else {
        const result = apply(entry.listener, object, args);
        if (result !== undefined && result !== null && captures.get(object)) rare().capture(object, result, name, args);
      }
    }
    return true;
  }

  /** What an `error` means to which nobody listens. */
  function unheard(error) {
    if (isError(error)) return error;
    const made = host.error(Error, "ERR_UNHANDLED_ERROR", "Unhandled error. (" + host.inspect(error) + ")");
    return host.put(made, "context", error);
  }

  function checked(listener) {
    if (typeof listener !== "function") throw host.invalid("listener", "of type function", listener);
    return listener;
  }

  class Methods {
    setMaxListeners(limit) {
      limits.set(this, host.checkedNumber("setMaxListeners", limit, 0));
      return this;
    }

    getMaxListeners() {
      return limits.get(this) ?? defaultLimit;
    }

    emit(name, ...args) {
      if (name === "error") {
        fire(this, errorMonitor, args);
        if (!listenersOf(this, name)) throw unheard(args[0]);
      }
      return fire(this, name, args);
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
        const entry = listeners[at];
        if (entry.listener === listener || entry.raw === listener || original(entry) === listener) {
          remove(this, name, entry, listeners.length > 1 ? listener : undefined);
          break;
        }
      }
      return this;
    }

    removeAllListeners(name) {
      const names = list();
      if (arguments.length > 0 && !(this[host.isTarget] && name === undefined)) names.push(name);
      else {
        all.get(this)?.forEach((_, each) => each !== "removeListener" && names.push(each));
        // Last, for its listeners hear of all others.
        names.push("removeListener");
      }
      for (let at = 0; at < names.length; at++) {
        const listeners = listenersOf(this, names[at]);
        const shown = (entry) => (listeners.length > 1 && listenersOf(this, "removeListener") ? raw(this, names[at], entry) : undefined);
        for (let each = (listeners?.length ?? 0) - 1; each >= 0; each--) {
          remove(this, names[at], listeners[each], shown(listeners[each]));
        }
      }
      return this;
    }

    listeners(name) {
      const listeners = listenersOf(this, name);
      const shown = [];
      for (let at = 0; at < (listeners?.length ?? 0); at++) host.append(shown, original(listeners[at]));
      return shown;
    }

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
      for (let at = 0; at < (listeners?.length ?? 0); at++) {
        if (listeners[at].listener === listener || original(listeners[at]) === listener) count++;
      }
      return count;
    }

    eventNames() {
      const names = { __proto__: null };
      all.get(this)?.forEach((_, name) => (names[name] = true));
      return ownKeys(names);
    }
  }

  /** What is called of an entry: of one that is called once, a function that takes it away first. */
  const raw = (object, name, entry) => (entry.isOnce ? (entry.raw ??= rare().wrap(object, name, entry)) : entry.listener);

  const methods = Methods.prototype;
  assign(methods, { on: methods.addListener, off: methods.removeListener });

  const names = ownKeys(methods);

  /** Gives a class the methods of an emitter. */
  function emits(Class) {
    for (let at = 0; at < names.length; at++) {
      if (names[at] !== "constructor") Class.prototype[names[at]] = methods[names[at]];
    }
  }

  // Not a class: those of old inherit from it by calling it.
  function EventEmitter(options) {
    const captured = options?.captureRejections;
    captures.set(this, captured ? host.checkedBoolean("options.captureRejections", captured) : capturesByDefault);
  }
  emits(EventEmitter);
  defineProperty(EventEmitter.prototype, host.fire, {
    __proto__: null,
    value(name, args, event) {
      return fire(this, name, args, event);
    },
  });
  assign(EventEmitter, {
    EventEmitter,
    captureRejectionSymbol,
    errorMonitor,
    addAbortListener: (signal, listener) => rare().addAbortListener(signal, listener),
    getEventListeners: (emitter, name) => rare().getEventListeners(emitter, name),
    getMaxListeners: (emitter) => rare().getMaxListeners(emitter),
    listenerCount: (emitter, name) => {
      if (typeof emitter.listenerCount === "function") return emitter.listenerCount(name);
      return apply(methods.listenerCount, emitter, [name]);
    },
    on: (emitter, name, settings) => host.part("events_async").on(emitter, name, settings),
    once: (emitter, name, settings) => host.part("events_async").once(emitter, name, settings),
    setMaxListeners: (limit = defaultLimit, ...targets) => rare().setMaxListeners(limit, targets),
  });
  const accessor = (name, get, set) => {
    defineProperty(EventEmitter, name, { __proto__: null, get, set, enumerable: true, configurable: true });
  };
  accessor("EventEmitterAsyncResource", () => host.part("events_resource").EventEmitterAsyncResource);
  accessor("defaultMaxListeners", () => defaultLimit, (limit) => {
    defaultLimit = host.checkedNumber("defaultMaxListeners", limit, 0);
  });
  accessor("captureRejections", () => capturesByDefault, (captured) => {
    capturesByDefault = host.checkedBoolean("EventEmitter.captureRejections", captured);
  });

  host.listeners = { add, remove, fire, of: listenersOf, emits, limits, captures, methods };
  host.EventEmitter = EventEmitter;
});
