// EventTarget. Its events are in event.js. Ports are targets with the methods of emitters as well: a listener added by `on` gets the value that
// an event carries, one added by `addEventListener` or `onmessage` gets the event. Next: dom_exception.js.
(function (host) {
  "use strict";

  const { apply, Boolean, defineProperty, list, Map } = host.safe;
  const { domString } = host;
  const { add, remove, fire, of: listenersOf, emits } = host.listeners;
  /** The functions for dispatching an event. Few programs use events. */
  const internal = () => host.part("event").internal;

  class EventTarget {
    #isOne = true;

    addEventListener(type, listener, options = undefined) {
      if (!isTarget(this)) throw host.invalidThis("EventTarget");
      if (arguments.length < 2) throw host.missing(arguments.length === 0 ? "type" : "listener");
      const name = domString(type);
      const isCallback = isListener(listener);
      const { isCapture, members } = optionsIn(options);
      const { once, signal } = members;
      if (signal !== undefined && !host.part("abort").isSignal(signal)) throw host.invalid("options.signal", "an instance of AbortSignal", signal);
      if (!isCallback || find(this, name, listener, isCapture) || signal?.aborted) return;
      const entry = { listener, isCapture, isOnce: Boolean(once), takesEvent: true, resists: members[host.resists] === true };
      add(this, name, entry, false);
      signal?.addEventListener("abort", () => remove(this, name, entry));
    }

    removeEventListener(type, listener, options = undefined) {
      if (!isTarget(this)) throw host.invalidThis("EventTarget");
      if (arguments.length < 2) throw host.missing(arguments.length === 0 ? "type" : "listener");
      const name = domString(type);
      const entry = isListener(listener) && find(this, name, listener, optionsIn(options).isCapture);
      if (entry) remove(this, name, entry);
    }

    dispatchEvent(event) {
      if (!isTarget(this)) throw host.invalidThis("EventTarget");
      if (arguments.length === 0) throw host.missing("event");
      if (!internal().isEvent(event)) throw host.invalid("event", "an instance of Event", event);
      if (internal().phase(event) !== 0) throw new host.DOMException("The event is already being dispatched", "InvalidStateError");
      this[host.fire](event.type, [event], () => event);
      return !event.defaultPrevented;
    }

    /** Calls all listeners: with these arguments, or with the event, which is created for the first listener that needs it. */
    [host.fire](name, args, make) {
      let event;
      const isHeard = fire(this, name, args, () => {
        event = make ? make() : new (host.part("event").Event)(name);
        // The port of a web worker is represented by its global object.
        internal().enter(event, this[host.scope] ?? this);
        return event;
      });
      if (event) internal().leave(event);
      return isHeard;
    }

    static isTarget(value) {
      return typeof value === "object" && value !== null && #isOne in value;
    }
  }
  const { isTarget } = EventTarget;
  delete EventTarget.isTarget;
  host.shape(EventTarget);
  // No events are emitted for added or removed listeners, and a removed listener is not called any more.
  defineProperty(EventTarget.prototype, host.isTarget, { __proto__: null, value: true });

  function find(target, name, listener, isCapture) {
    const listeners = listenersOf(target, name);
    for (let at = 0; at < (listeners?.length ?? 0); at++) {
      const entry = listeners[at];
      if (entry.takesEvent && entry.listener === listener && entry.isCapture === isCapture) return entry;
    }
  }

  /** Whether the listener is not null. */
  function isListener(listener) {
    if (listener === null || listener === undefined) return false;
    if (typeof listener === "function" || typeof listener === "object") return true;
    throw host.invalid("listener", "an instance of EventListener", listener);
  }

  /** The options, or, in the older form, the capture flag. */
  function optionsIn(options) {
    const isDictionary = typeof options === "object" || typeof options === "function";
    const members = host.dictionary(isDictionary ? options : undefined);
    return { isCapture: Boolean(isDictionary ? members.capture : options), members };
  }

  /** Calls a listener. An exception is reported as an uncaught error of the agent. Returns whether the event stops here. */
  host.dispatch = ({ listener }, event) => {
    try {
      if (typeof listener === "function") apply(listener, event.target, [event]);
      else apply(listener.handleEvent, listener, [event]);
    } catch (error) {
      // An error during the report of an error is not reported again, which could go on forever.
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

    /** Sets the handler. A replaced handler keeps its position among the listeners, as in browsers. */
    [host.setHandler](name, value) {
      const current = typeof value === "function" || typeof value === "object" ? value : null;
      const known = this.#handlers.get(name);
      if (known && current) known.current = current;
      else if (known) {
        this.#handlers.delete(name);
        this.removeEventListener(name, known.listener);
      } else if (current) {
        const handler = { current, listener: (event) => {
          if (typeof handler.current === "function") apply(handler.current, event.target, [event]);
        } };
        this.#handlers.set(name, handler);
        this.addEventListener(name, handler.listener);
      }
    }
  }
  /** For Node's own targets: ports, which have the methods of emitters as well. */
  class NodeEventTarget extends Target {}
  emits(NodeEventTarget, list("addListener", "emit", "eventNames", "getMaxListeners", "listenerCount", "off", "on", "once",
    "removeAllListeners", "removeListener", "setMaxListeners"));
  host.put(NodeEventTarget.prototype, "emit", function emit(name, ...args) {
    return this[host.fire](name, args);
  });

  /** Defines properties such as `onmessage` on a class. */
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
  host.NodeEventTarget = NodeEventTarget;
});
