// EventTarget; its events are in event.js. Ports, and the workers of pages, are targets that have the methods of emitters as well: `on` gets
// what an event carries, `addEventListener` and `onmessage` get the event. Next: dom_exception.js.
(function (host) {
  "use strict";

  const { apply, Boolean, defineProperty, Map, String, Symbol } = host.safe;
  const { add, remove, fire, of: listenersOf, emits } = host.listeners;
  /** What is done with an event while it is dispatched. Few programs have any. */
  const internal = () => host.part("event").internal;

  class EventTarget {
    addEventListener(type, listener, settings) {
      if (listener === null || listener === undefined) return;
      if (typeof listener !== "function" && typeof listener !== "object") {
        throw host.invalid("listener", "an instance of EventListener", listener);
      }
      const name = String(type);
      if (find(this, name, listener)) return;
      const { once, signal } = typeof settings === "object" && settings !== null ? settings : {};
      if (signal?.aborted) return;
      const resists = typeof settings === "object" && settings !== null && settings[host.resists] === true;
      const entry = { listener, isOnce: Boolean(once), takesEvent: true, resists };
      add(this, name, entry, false);
      signal?.addEventListener("abort", () => remove(this, name, entry));
    }

    removeEventListener(type, listener) {
      const entry = find(this, String(type), listener);
      if (entry) remove(this, String(type), entry);
    }

    dispatchEvent(event) {
      if (!internal().isEvent(event)) throw host.invalid("event", "an instance of Event", event);
      if (internal().phase(event) !== 0) throw new host.DOMException("The event is already being dispatched", "InvalidStateError");
      this[host.fire](event.type, [event], () => event);
      return !event.defaultPrevented;
    }

    /** Calls all listeners: with these arguments, or with the event, which is made for the first that takes it. */
    [host.fire](name, args, make) {
      let event;
      const isHeard = fire(this, name, args, () => {
        event = make ? make() : new (host.part("event").Event)(name);
        // The port of a page's worker is hidden behind its global object.
        internal().enter(event, this[host.scope] ?? this);
        return event;
      });
      if (event) internal().leave(event);
      return isHeard;
    }
  }
  // Its listeners hear neither of new ones nor of those that are removed, and one that has been removed is not called any more.
  defineProperty(EventTarget.prototype, host.isTarget, { __proto__: null, value: true });
  defineProperty(EventTarget.prototype, Symbol.toStringTag, { __proto__: null, value: "EventTarget", configurable: true });

  function find(target, name, listener) {
    const listeners = listenersOf(target, name);
    for (let at = 0; at < (listeners?.length ?? 0); at++) {
      if (listeners[at].takesEvent && listeners[at].listener === listener) return listeners[at];
    }
  }

  /** Calls one listener; what it throws is nobody's business but the agent's. Whether the event goes no further. */
  host.dispatch = ({ listener }, event) => {
    try {
      if (typeof listener === "function") apply(listener, event.target, [event]);
      else apply(listener.handleEvent, listener, [event]);
    } catch (error) {
      // An error while an error is reported would be reported for ever.
      if (host.isTelling) throw error;
      host.nextTick(() => {
        throw error;
      });
    }
    return internal().isStopped(event);
  };

  class Target extends EventTarget {
    #handlers = new Map();

    /** The handler in a property such as `onmessage`. */
    [host.handler](name) {
      return this.#handlers.get(name)?.current ?? null;
    }

    /** Sets it. It keeps its place among the listeners while it is replaced, as in browsers. */
    [host.setHandler](name, value) {
      const current = typeof value === "function" ? value : null;
      const known = this.#handlers.get(name);
      if (known && current) known.current = current;
      else if (known) {
        this.#handlers.delete(name);
        this.removeEventListener(name, known.listener);
      } else if (current) {
        const handler = { current, listener: (event) => apply(handler.current, event.target, [event]) };
        this.#handlers.set(name, handler);
        this.addEventListener(name, handler.listener);
      }
    }
  }
  emits(Target);
  Target.prototype.emit = function (name, ...args) {
    return this[host.fire](name, args);
  };

  /** Gives a class properties such as `onmessage`. */
  host.withHandlers = (Class, names) => {
    for (let at = 0; at < names.length; at++) {
      const name = names[at];
      defineProperty(Class.prototype, "on" + name, {
        __proto__: null,
        get() {
          return this[host.handler](name);
        },
        set(value) {
          this[host.setHandler](name, value);
        },
        enumerable: true,
        configurable: true,
      });
    }
  };

  host.EventTarget = EventTarget;
  host.Target = Target;
});
