// Events, and what is done with them while they are dispatched (event_target.js). A part that runs when it is first asked for.
(function (host) {
  "use strict";

  const { Boolean, list, Number, String, now, WeakMap } = host.safe;
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
  const { internal } = Event;
  delete Event.internal;
  host.constants(list("NONE", 0, "CAPTURING_PHASE", 1, "AT_TARGET", AT_TARGET, "BUBBLING_PHASE", 3), Event, Event.prototype);

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

  return { Event, CustomEvent, MessageEvent, ErrorEvent, PromiseRejectionEvent, internal };
});
