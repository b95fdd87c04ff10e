// The part of node:events that workers, ports and `process` are made of. Next: worker_threads.js.
(function (host) {
  "use strict";

  class EventEmitter {
    #listeners = new Map();

    on(name, listener) {
      return this.#add(name, listener, listener);
    }

    once(name, listener) {
      requireFunction(listener);
      const wrapper = (...args) => {
        this.#remove(name, wrapper);
        listener.apply(this, args);
      };
      return this.#add(name, listener, wrapper);
    }

    off(name, listener) {
      const list = this.#listeners.get(name) ?? [];
      // The newest of several equal listeners goes first, as in Node.
      const entry = list.findLast((each) => each.listener === listener || each.call === listener);
      if (entry) this.#remove(name, entry.call);
      return this;
    }

    emit(name, ...args) {
      const list = this.#listeners.get(name);
      if (!list || list.length === 0) {
        if (name === "error") throw args[0];
        return false;
      }
      for (const { call } of [...list]) call.apply(this, args);
      return true;
    }

    removeAllListeners(name) {
      for (const each of name === undefined ? [...this.#listeners.keys()] : [name]) {
        for (const { call } of [...(this.#listeners.get(each) ?? [])]) this.#remove(each, call);
      }
      return this;
    }

    listenerCount(name) {
      return this.#listeners.get(name)?.length ?? 0;
    }

    listeners(name) {
      return (this.#listeners.get(name) ?? []).map((each) => each.listener);
    }

    eventNames() {
      return [...this.#listeners.keys()];
    }

    #add(name, listener, call) {
      requireFunction(listener);
      const list = this.#listeners.get(name) ?? [];
      this.#listeners.set(name, [...list, { listener, call }]);
      this[host.listenersChanged]?.(name);
      return this;
    }

    #remove(name, call) {
      const list = (this.#listeners.get(name) ?? []).filter((each) => each.call !== call);
      if (list.length === 0) this.#listeners.delete(name);
      else this.#listeners.set(name, list);
      this[host.listenersChanged]?.(name);
    }
  }

  EventEmitter.prototype.addListener = EventEmitter.prototype.on;
  EventEmitter.prototype.removeListener = EventEmitter.prototype.off;
  EventEmitter.EventEmitter = EventEmitter;

  function requireFunction(listener) {
    if (typeof listener !== "function") {
      throw host.error(TypeError, "ERR_INVALID_ARG_TYPE", "The listener must be a function");
    }
  }

  host.EventEmitter = EventEmitter;
});
