// Listeners, and the EventEmitter of node:events. The lists of listeners are kept beside the objects, so that any object can
// have some: also one whose constructor only calls EventEmitter, as classes of old do. Next: event_target.js.
(function (host) {
  "use strict";

  const { Error, Symbol } = globalThis;
  const { apply, assign, defineProperty, list, Map, ownKeys, WeakMap } = host.safe;
  const { isError } = Error;
  const MAX_LISTENERS = 10;
  const all = new WeakMap();
  const limits = new WeakMap();
  const errorMonitor = Symbol("events.errorMonitor");

  // Each list is never changed, only replaced: who walks through one need not copy it.
  const listenersOf = (object, name) => all.get(object)?.get(name);

  function add(object, name, entry, isFirst) {
    let known = all.get(object);
    if (!known) all.set(object, (known = new Map()));
    const before = known.get(name);
    if (name !== "newListener" && known.has("newListener")) fire(object, "newListener", [name, entry.listener]);
    const listeners = isFirst ? list(entry) : list();
    for (let at = 0; at < (before?.length ?? 0); at++) listeners.push(before[at]);
    if (!isFirst) listeners.push(entry);
    known.set(name, listeners);
    object[host.listenersChanged]?.(name);
  }

  function remove(object, name, entry) {
    const known = all.get(object);
    const before = known?.get(name);
    const left = list();
    for (let at = 0; at < (before?.length ?? 0); at++) if (before[at] !== entry) left.push(before[at]);
    if (left.length === (before?.length ?? 0)) return;
    if (left.length === 0) known.delete(name);
    else known.set(name, left);
    object[host.listenersChanged]?.(name);
    if (name !== "removeListener" && known.has("removeListener")) fire(object, "removeListener", [name, entry.listener]);
  }

  /** Calls the listeners; what `event` makes is for those who listen as to an EventTarget. Whether there were any. */
  function fire(object, name, args, event) {
    const listeners = listenersOf(object, name);
    if (!listeners) return false;
    let made;
    for (let at = 0; at < listeners.length; at++) {
      const entry = listeners[at];
      if (entry.isOnce) remove(object, name, entry);
      if (entry.takesEvent) {
        if (host.dispatch(entry, (made ??= event()))) break;
      } else apply(entry.listener, object, args);
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
    on(name, listener) {
      add(this, name, { listener: checked(listener) }, false);
      return this;
    }

    once(name, listener) {
      add(this, name, { listener: checked(listener), isOnce: true }, false);
      return this;
    }

    prependListener(name, listener) {
      add(this, name, { listener: checked(listener) }, true);
      return this;
    }

    prependOnceListener(name, listener) {
      add(this, name, { listener: checked(listener), isOnce: true }, true);
      return this;
    }

    off(name, listener) {
      const listeners = listenersOf(this, name);
      // The newest of several equal listeners goes first, as in Node.
      for (let at = (listeners?.length ?? 0) - 1; at >= 0; at--) {
        if (listeners[at].listener === checked(listener)) {
          remove(this, name, listeners[at]);
          break;
        }
      }
      return this;
    }

    emit(name, ...args) {
      if (name === "error") {
        fire(this, errorMonitor, args);
        if (!listenersOf(this, name)) throw unheard(args[0]);
      }
      return fire(this, name, args);
    }

    removeAllListeners(name) {
      const names = list();
      if (name !== undefined) names.push(name);
      else {
        all.get(this)?.forEach((_, each) => each !== "removeListener" && names.push(each));
        // Last, for its listeners hear of all others.
        names.push("removeListener");
      }
      for (let at = 0; at < names.length; at++) {
        const listeners = listenersOf(this, names[at]);
        for (let each = 0; each < (listeners?.length ?? 0); each++) remove(this, names[at], listeners[each]);
      }
      return this;
    }

    listenerCount(name) {
      return listenersOf(this, name)?.length ?? 0;
    }

    listeners(name) {
      const listeners = listenersOf(this, name);
      const shown = [];
      for (let at = 0; at < (listeners?.length ?? 0); at++) host.append(shown, listeners[at].listener);
      return shown;
    }

    eventNames() {
      const names = [];
      all.get(this)?.forEach((_, name) => host.append(names, name));
      return names;
    }

    setMaxListeners(limit) {
      limits.set(this, limit);
      return this;
    }

    getMaxListeners() {
      return limits.get(this) ?? EventEmitter.defaultMaxListeners;
    }
  }
  const methods = Methods.prototype;
  assign(methods, { addListener: methods.on, removeListener: methods.off, rawListeners: methods.listeners });

  const names = ownKeys(methods);

  /** Gives a class the methods of an emitter. */
  function emits(Class) {
    for (let at = 0; at < names.length; at++) {
      if (names[at] !== "constructor") Class.prototype[names[at]] = methods[names[at]];
    }
  }

  // Not a class: those of old inherit from it by calling it.
  function EventEmitter() {}
  emits(EventEmitter);
  defineProperty(EventEmitter.prototype, host.fire, {
    __proto__: null,
    value(name, args, event) {
      return fire(this, name, args, event);
    },
  });
  assign(EventEmitter, {
    EventEmitter,
    defaultMaxListeners: MAX_LISTENERS,
    errorMonitor,
    listenerCount: (emitter, name) => emitter.listenerCount(name),
    getEventListeners: (emitter, name) => apply(methods.listeners, emitter, [name]),
    once: (emitter, name, settings) => host.part("events_async").once(emitter, name, settings),
    on: (emitter, name, settings) => host.part("events_async").on(emitter, name, settings),
  });

  host.listeners = { add, remove, fire, of: listenersOf, emits };
  host.EventEmitter = EventEmitter;
});
