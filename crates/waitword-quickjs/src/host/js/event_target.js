// What browsers call an EventTarget, on top of an EventEmitter: `addEventListener` and `onmessage` get an event, `on` gets
// what the event carries. Ports and workers are both. Next: clone.js.
(function (host) {
  "use strict";

  const { Boolean, Number, String, Symbol, TypeError } = globalThis;
  const { defineProperty } = Object;
  const { apply, list, Map } = host.safe;
  const now = performance.now;
  const target = Symbol("target");

  class Event {
    type;
    bubbles;
    cancelable;
    timeStamp = now();
    #isCanceled = false;

    constructor(type, { bubbles = false, cancelable = false } = {}) {
      this.type = String(type);
      this.bubbles = Boolean(bubbles);
      this.cancelable = Boolean(cancelable);
      defineProperty(this, target, { __proto__: null, value: null, writable: true });
    }

    get target() {
      return this[target];
    }

    get currentTarget() {
      return this[target];
    }

    get defaultPrevented() {
      return this.#isCanceled;
    }

    preventDefault() {
      this.#isCanceled = this.cancelable;
    }

    stopPropagation() {}
  }

  class MessageEvent extends Event {
    data;
    origin;
    lastEventId;
    source;
    ports;

    constructor(type, settings = {}) {
      super(type, settings);
      const { data = null, origin = "", lastEventId = "", source = null, ports = [] } = settings;
      this.data = data;
      this.origin = origin;
      this.lastEventId = lastEventId;
      this.source = source;
      this.ports = ports;
    }
  }

  class ErrorEvent extends Event {
    message;
    filename;
    lineno;
    colno;
    error;

    constructor(type, settings = {}) {
      super(type, settings);
      const { message = "", filename = "", lineno = 0, colno = 0, error } = settings;
      this.message = String(message);
      this.filename = String(filename);
      this.lineno = Number(lineno);
      this.colno = Number(colno);
      this.error = error;
    }
  }

  class Target extends host.EventEmitter {
    // By type: what was added, and what the emitter calls for it.
    #added = new Map();
    #handlers = new Map();

    addEventListener(type, listener, settings) {
      if (listener === null || listener === undefined) return;
      if (typeof listener !== "function" && typeof listener !== "object") {
        throw host.error(TypeError, "ERR_INVALID_ARG_TYPE", "The listener must be a function or an object with handleEvent");
      }
      const name = String(type);
      const isOnce = typeof settings === "object" && settings !== null && settings.once;
      const all = this.#added.get(name) ?? list();
      for (let at = 0; at < all.length; at++) if (all[at].listener === listener) return;
      const call = (event) => {
        if (isOnce) this.removeEventListener(name, listener);
        if (typeof listener === "function") apply(listener, event.target, [event]);
        else apply(listener.handleEvent, listener, [event]);
      };
      all.push({ listener, call });
      this.#added.set(name, all);
      this[host.listenToEvent](name, call);
    }

    removeEventListener(type, listener) {
      const name = String(type);
      const all = this.#added.get(name);
      const rest = list();
      for (let at = 0; at < (all?.length ?? 0); at++) {
        if (all[at].listener === listener) this.off(name, all[at].call);
        else rest.push(all[at]);
      }
      if (all) this.#added.set(name, rest);
    }

    dispatchEvent(event) {
      this[host.fire](event.type, [event], event);
      return !event.defaultPrevented;
    }

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

    /** Calls all listeners: with these arguments, or with the event, which is made for the first who wants it. */
    [host.fire](name, args, event) {
      return super[host.fire](name, args, () => {
        event = typeof event === "function" ? event() : event ?? new Event(name);
        // The port of a page's worker is hidden behind its global object.
        event[target] = this[host.scope] ?? this;
        return event;
      });
    }
  }

  /** Gives a class properties such as `onmessage`. */
  host.withHandlers = (Class, names) => {
    for (const name of names) {
      defineProperty(Class.prototype, `on${name}`, {
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

  Object.assign(host, { Event, MessageEvent, ErrorEvent, Target });
});
