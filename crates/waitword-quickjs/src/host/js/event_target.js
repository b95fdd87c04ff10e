// EventTarget, and its events. Ports, and the workers of pages, are targets that have the methods of emitters as well: `on` gets
// what an event carries, `addEventListener` and `onmessage` get the event. Next: clone.js.
(function (host) {
  "use strict";

  const { Boolean, Number, String, Symbol, TypeError } = globalThis;
  const { apply, assign, defineProperty, list, Map, WeakMap } = host.safe;
  const { add, remove, fire, of: listenersOf, emits } = host.listeners;
  const now = performance.now;
  const targets = new WeakMap();
  const AT_TARGET = 2;

  class Event {
    type;
    bubbles;
    cancelable;
    composed;
    timeStamp = now();
    #isCanceled = false;
    #isStopped = false;
    #phase = 0;

    constructor(type, settings) {
      if (arguments.length === 0) throw host.missing("type");
      this.type = String(type);
      this.bubbles = Boolean(settings?.bubbles);
      this.cancelable = Boolean(settings?.cancelable);
      this.composed = Boolean(settings?.composed);
    }

    get target() {
      return targets.get(this) ?? null;
    }

    get srcElement() {
      return this.target;
    }

    get currentTarget() {
      return this.#phase === 0 ? null : this.target;
    }

    get eventPhase() {
      return this.#phase;
    }

    get defaultPrevented() {
      return this.#isCanceled;
    }

    get returnValue() {
      return !this.#isCanceled;
    }

    get cancelBubble() {
      return this.#isStopped;
    }

    get isTrusted() {
      return false;
    }

    composedPath() {
      return this.#phase === 0 ? [] : [this.target];
    }

    preventDefault() {
      if (this.cancelable) this.#isCanceled = true;
    }

    // There is nothing above a target that an event could reach.
    stopPropagation() {}

    stopImmediatePropagation() {
      this.#isStopped = true;
    }

    /** What is done with an event while it is dispatched, for the host alone. */
    static internal = {
      isEvent: (value) => typeof value === "object" && value !== null && #phase in value,
      phase: (event) => event.#phase,
      enter: (event, target) => {
        targets.set(event, target);
        event.#phase = AT_TARGET;
        event.#isStopped = false;
      },
      leave: (event) => void (event.#phase = 0),
      isStopped: (event) => event.#isStopped,
    };
  }
  const { isEvent, phase, enter, leave, isStopped } = Event.internal;
  delete Event.internal;
  const PHASES = { NONE: 0, CAPTURING_PHASE: 1, AT_TARGET, BUBBLING_PHASE: 3 };
  assign(Event, PHASES);

  class CustomEvent extends Event {
    detail;

    constructor(type, settings) {
      super(type, settings);
      this.detail = settings?.detail ?? null;
    }
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

  class PromiseRejectionEvent extends Event {
    promise;
    reason;

    constructor(type, settings) {
      super(type, settings);
      this.promise = settings.promise;
      this.reason = settings.reason;
    }
  }

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
      const entry = { listener, isOnce: Boolean(once), takesEvent: true };
      add(this, name, entry, false);
      signal?.addEventListener("abort", () => remove(this, name, entry));
    }

    removeEventListener(type, listener) {
      const entry = find(this, String(type), listener);
      if (entry) remove(this, String(type), entry);
    }

    dispatchEvent(event) {
      if (!isEvent(event)) throw host.invalid("event", "an instance of Event", event);
      if (phase(event) !== 0) throw new host.DOMException("The event is already being dispatched", "InvalidStateError");
      this[host.fire](event.type, [event], () => event);
      return !event.defaultPrevented;
    }

    /** Calls all listeners: with these arguments, or with the event, which is made for the first who wants it. */
    [host.fire](name, args, make) {
      let event;
      const isHeard = fire(this, name, args, () => {
        event = make ? make() : new Event(name);
        // The port of a page's worker is hidden behind its global object.
        enter(event, this[host.scope] ?? this);
        return event;
      });
      if (event) leave(event);
      return isHeard;
    }
  }
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
      // An error while errors are told would be told for ever.
      if (host.isTelling) throw error;
      host.nextTick(() => {
        throw error;
      });
    }
    return isStopped(event);
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
    for (const name of names) {
      defineProperty(Class.prototype, `on${name}`, {
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

  Object.assign(host, {
    Event, CustomEvent, MessageEvent, ErrorEvent, PromiseRejectionEvent, EventTarget, Target,
  });
});
