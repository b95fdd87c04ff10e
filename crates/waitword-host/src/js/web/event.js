// Events, and their state while they are dispatched (event_target.js). Loaded at first use.
(function (host) {
  "use strict";

  const { Boolean, defineProperty, freeze, isArray, list, Number, Symbol, now, WeakMap } = host.safe;
  const { dictionary, domString, usv } = host;
  const { iterator } = Symbol;
  const AT_TARGET = 2;

  class Event {
    #type;
    #bubbles;
    #cancelable;
    #composed;
    #timeStamp = now();
    #isCanceled = false;
    #isStopped = false;
    #isStoppedAtOnce = false;
    #target = null;
    #phase = 0;

    constructor(type, options = undefined) {
      if (arguments.length === 0) throw host.missing("type");
      this.#type = domString(type);
      const { bubbles, cancelable, composed } = dictionary(options);
      this.#bubbles = Boolean(bubbles);
      this.#cancelable = Boolean(cancelable);
      this.#composed = Boolean(composed);
    }

    get type() {
      return this.#type;
    }

    get target() {
      return this.#target;
    }

    get srcElement() {
      return this.#target;
    }

    get currentTarget() {
      return this.#phase === 0 ? null : this.#target;
    }

    get eventPhase() {
      return this.#phase;
    }

    get bubbles() {
      return this.#bubbles;
    }

    get cancelable() {
      return this.#cancelable;
    }

    get composed() {
      return this.#composed;
    }

    get timeStamp() {
      return this.#timeStamp;
    }

    get defaultPrevented() {
      return this.#isCanceled;
    }

    get returnValue() {
      return !this.#isCanceled;
    }

    set returnValue(value) {
      if (!value) this.preventDefault();
    }

    get cancelBubble() {
      return this.#isStopped;
    }

    set cancelBubble(value) {
      if (value) this.#isStopped = true;
    }

    get isTrusted() {
      return false;
    }

    composedPath() {
      return this.#phase === 0 ? [] : [this.#target];
    }

    preventDefault() {
      if (this.#cancelable) this.#isCanceled = true;
    }

    // Events do not propagate: targets have no parents.
    stopPropagation() {
      this.#isStopped = true;
    }

    stopImmediatePropagation() {
      this.#isStopped = this.#isStoppedAtOnce = true;
    }

    initEvent(type, bubbles = false, cancelable = false) {
      if (arguments.length === 0) throw host.missing("type");
      if (this.#phase !== 0) return;
      this.#isCanceled = this.#isStopped = this.#isStoppedAtOnce = false;
      this.#type = domString(type);
      this.#bubbles = Boolean(bubbles);
      this.#cancelable = Boolean(cancelable);
    }

    /** The host's functions for an event that is dispatched. */
    static internal = {
      isEvent: (value) => typeof value === "object" && value !== null && #phase in value,
      phase: (event) => event.#phase,
      enter: (event, target) => {
        event.#target = target;
        event.#phase = AT_TARGET;
      },
      leave: (event) => {
        event.#phase = 0;
        event.#isStopped = event.#isStoppedAtOnce = false;
      },
      isStopped: (event) => event.#isStoppedAtOnce,
    };
  }
  const { internal } = Event;
  delete Event.internal;
  /** The properties of an event that are shown, besides those that its class adds. */
  const SHOWN = list("type", "defaultPrevented", "cancelable", "timeStamp");
  host.hide(Event.prototype, host.inspect.custom, function (depth) {
    const name = this.constructor?.name ?? "Event";
    if (depth < 0) return name;
    const shown = { __proto__: { __proto__: null, constructor: this.constructor } };
    for (let at = 0; at < SHOWN.length; at++) host.put(shown, SHOWN[at], this[SHOWN[at]]);
    return shown;
  });
  host.constants(list("NONE", 0, "CAPTURING_PHASE", 1, "AT_TARGET", AT_TARGET, "BUBBLING_PHASE", 3), Event, Event.prototype);
  host.shape(Event);

  /** Defines attributes on a class of events, by name. The constructor converts the member of its options with this name. */
  function attributes(Class, members) {
    const made = new WeakMap();
    for (const name in members) {
      defineProperty(Class.prototype, name, {
        __proto__: null,
        get() {
          if (!made.has(this)) throw host.invalidThis(Class.name);
          return made.get(this)[name];
        },
        configurable: true,
      });
    }
    host.shape(Class);
    return (event, options) => {
      const values = { __proto__: null };
      for (const name in members) values[name] = members[name](options[name]);
      made.set(event, values);
    };
  }

  const or = (value, otherwise) => (value === undefined ? otherwise : value);
  const textOf = (value) => domString(or(value, ""));
  const numberOf = (value) => Number(or(value, 0)) >>> 0;

  class CustomEvent extends Event {
    constructor(type, options = undefined) {
      if (arguments.length === 0) throw host.missing("type");
      super(type, options);
      detailed(this, dictionary(options));
    }
  }
  const detailed = attributes(CustomEvent, { __proto__: null, detail: (value) => or(value, null) });

  class MessageEvent extends Event {
    constructor(type, options = undefined) {
      if (arguments.length === 0) throw host.missing("type");
      super(type, options);
      addressed(this, dictionary(options));
    }
  }
  const addressed = attributes(MessageEvent, {
    __proto__: null,
    data: (value) => or(value, null),
    lastEventId: textOf,
    origin: (value) => usv(or(value, "")),
    ports: (value) => freeze(value === undefined ? [] : portsIn(value)),
    source: (value) => {
      if (value === undefined || value === null || host.ports.isPort(value)) return value ?? null;
      throw host.invalid("options.source", "an instance of MessagePort", value);
    },
  });

  /** A sequence of ports. */
  function portsIn(value) {
    const refusal = () => host.invalid("options.ports", "an iterable of MessagePorts", value);
    if (typeof value !== "object" || value === null || !value[iterator]) throw refusal();
    const given = isArray(value) ? value : list(...value);
    const ports = [];
    for (let at = 0; at < given.length; at++) {
      if (!host.ports.isPort(given[at])) throw refusal();
      host.append(ports, given[at]);
    }
    return ports;
  }

  class ErrorEvent extends Event {
    constructor(type, options = undefined) {
      if (arguments.length === 0) throw host.missing("type");
      super(type, options);
      failed(this, dictionary(options));
    }
  }
  const failed = attributes(ErrorEvent, {
    __proto__: null, colno: numberOf, error: (value) => value, filename: (value) => usv(or(value, "")), lineno: numberOf, message: textOf,
  });

  class PromiseRejectionEvent extends Event {
    constructor(type, options) {
      if (arguments.length < 2) throw host.missing(arguments.length === 0 ? "type" : "options");
      super(type, options);
      const members = dictionary(options);
      if (members.promise === undefined) throw host.missing("options.promise");
      rejected(this, members);
    }
  }
  const rejected = attributes(PromiseRejectionEvent, { __proto__: null, promise: (value) => value, reason: (value) => value });

  return { Event, CustomEvent, MessageEvent, ErrorEvent, PromiseRejectionEvent, internal };
});
