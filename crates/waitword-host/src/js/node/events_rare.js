// What few emitters need: warnings about too many listeners, rejections of what listeners return, and the functions of
// node:events that take any emitter. A part that runs when it is first asked for.
(function (host) {
  "use strict";

  const { apply, defineProperty, Error, indexOf, slice, String, Symbol } = host.safe;
  const { captures, limits, methods, remove } = host.listeners;
  const { EventEmitter } = host;
  const EITHER = "an instance of EventEmitter or EventTarget";
  const warned = new host.safe.WeakMap();
  const isEmitter = (value, method) => typeof value?.[method] === "function";
  const isTarget = (value) => typeof value === "object" && value !== null && value[host.isTarget] === true;

  /** Warns the program that something makes more and more listeners: once for each list, or each target. */
  function warn(object, name, count, limit) {
    const isOfTarget = isTarget(object);
    if (isOfTarget && warned.has(object)) return;
    if (isOfTarget) warned.set(object, true);
    const remedy = isOfTarget ? "events" : "emitter";
    const message = "Possible " + (isOfTarget ? "EventTarget" : "EventEmitter") + " memory leak detected. " + String(count) + " " + String(name) +
      " listeners added to " + titleOf(object) + ". MaxListeners is " + String(limit) + ". Use " + remedy +
      ".setMaxListeners() to increase limit";
    const warning = new Error(message);
    host.put(warning, "name", "MaxListenersExceededWarning");
    host.put(warning, isOfTarget ? "target" : "emitter", object);
    host.put(warning, "type", name);
    host.put(warning, "count", count);
    host.part("process").process.emitWarning(warning);
  }

  /** An object without its parts: `[MessagePort [EventTarget]]`. */
  function titleOf(object) {
    const shown = host.inspect(object, { depth: -1 });
    if (shown[0] === "[") return shown;
    const title = apply(slice, shown, [0, apply(indexOf, shown, [" {"])]);
    return title === "EventTarget" ? title : "[" + title + "]";
  }

  /** The function that stands in `rawListeners` for one that is called once. */
  function wrap(object, name, entry) {
    const wrapper = (...args) => {
      if (entry.isDone) return undefined;
      entry.isDone = true;
      remove(object, name, entry);
      return apply(entry.listener, object, args);
    };
    defineProperty(wrapper, "name", { __proto__: null, value: "bound onceWrapper", configurable: true });
    return host.put(wrapper, "listener", entry.listener);
  }

  /** A listener of an emitter that captures rejections has returned something: perhaps a promise. */
  function capture(emitter, result, name, args) {
    try {
      const { then } = result;
      if (typeof then !== "function") return;
      apply(then, result, [undefined, (reason) => host.nextTick(rejected, [emitter, reason, name, args])]);
    } catch (error) {
      emitter.emit("error", error);
    }
  }

  function rejected(emitter, reason, name, args) {
    const handler = emitter[EventEmitter.captureRejectionSymbol];
    if (typeof handler === "function") {
      const all = [reason, name];
      for (let at = 0; at < args.length; at++) host.append(all, args[at]);
      return apply(handler, emitter, all);
    }
    // What the listeners of `error` reject with would come here for ever.
    const captured = captures.get(emitter);
    captures.set(emitter, false);
    try {
      emitter.emit("error", reason);
    } finally {
      captures.set(emitter, captured);
    }
  }

  function getEventListeners(emitter, name) {
    if (typeof emitter.listeners === "function") return emitter.listeners(name);
    if (isTarget(emitter)) return apply(methods.listeners, emitter, [name]);
    throw host.invalid("emitter", EITHER, emitter);
  }

  function getMaxListeners(emitter) {
    if (isEmitter(emitter, "getMaxListeners") || isTarget(emitter)) return apply(methods.getMaxListeners, emitter, []);
    throw host.invalid("emitter", EITHER, emitter);
  }

  function setMaxListeners(limit, targets) {
    host.checkedNumber("setMaxListeners", limit, 0);
    if (targets.length === 0) EventEmitter.defaultMaxListeners = limit;
    for (let at = 0; at < targets.length; at++) {
      const target = targets[at];
      if (isTarget(target)) {
        limits.set(target, limit);
        warned.delete(target);
      } else if (isEmitter(target, "setMaxListeners")) target.setMaxListeners(limit);
      else throw host.invalid("eventTargets", EITHER, target);
    }
  }

  function addAbortListener(signal, listener) {
    if (signal === undefined) throw host.invalid("signal", "an instance of AbortSignal", signal);
    host.checkedSignal("signal", signal);
    if (typeof listener !== "function") throw host.invalid("listener", "of type function", listener);
    if (signal.aborted) host.enqueue(() => listener());
    else signal.addEventListener("abort", listener, { __proto__: null, once: true, [host.resists]: true });
    return { __proto__: null, [Symbol.dispose]: () => void signal.removeEventListener("abort", listener) };
  }

  return { addAbortListener, capture, getEventListeners, getMaxListeners, setMaxListeners, warn, wrap };
});
