// The part of node:events that workers, ports and `process` are made of. Next: event_target.js.
(function (host) {
  "use strict";

  const { TypeError } = globalThis;
  const { apply, list, Map } = host.safe;

  class EventEmitter {
    // The lists are never changed, only replaced: who walks through one need not copy it.
    #listeners = new Map();

    on(name, listener) {
      return this.#add(name, listener, listener);
    }

    once(name, listener) {
      requireFunction(listener);
      const wrapper = (...args) => {
        this.#remove(name, wrapper);
        apply(listener, this, args);
      };
      return this.#add(name, listener, wrapper);
    }

    off(name, listener) {
      const all = this.#listeners.get(name);
      // The newest of several equal listeners goes first, as in Node.
      for (let at = (all?.length ?? 0) - 1; at >= 0; at--) {
        if (all[at].listener === listener || all[at].call === listener) {
          this.#remove(name, all[at].call);
          break;
        }
      }
      return this;
    }

    emit(name, ...args) {
      return this[host.fire](name, args);
    }

    /** Calls the listeners. What `event` makes is for those who listen as to an EventTarget. */
    [host.fire](name, args, event) {
      const all = this.#listeners.get(name);
      if (!all) {
        if (name === "error") throw args[0];
        return false;
      }
      let made;
      for (let at = 0; at < all.length; at++) {
        if (all[at].takesEvent) apply(all[at].call, this, [(made ??= event())]);
        else apply(all[at].call, this, args);
      }
      return true;
    }

    [host.listenToEvent](name, call) {
      this.#add(name, call, call, true);
    }

    removeAllListeners(name) {
      const names = list();
      if (name === undefined) this.#listeners.forEach((_, each) => names.push(each));
      else names.push(name);
      for (let at = 0; at < names.length; at++) {
        const all = this.#listeners.get(names[at]);
        for (let each = 0; each < (all?.length ?? 0); each++) this.#remove(names[at], all[each].call);
      }
      return this;
    }

    listenerCount(name) {
      return this.#listeners.get(name)?.length ?? 0;
    }

    listeners(name) {
      const all = this.#listeners.get(name);
      const listeners = [];
      for (let at = 0; at < (all?.length ?? 0); at++) host.append(listeners, all[at].listener);
      return listeners;
    }

    eventNames() {
      const names = [];
      this.#listeners.forEach((_, name) => host.append(names, name));
      return names;
    }

    #add(name, listener, call, takesEvent = false) {
      requireFunction(listener);
      this.#listeners.set(name, without(this.#listeners.get(name), undefined));
      this.#listeners.get(name).push({ listener, call, takesEvent });
      this[host.listenersChanged]?.(name);
      return this;
    }

    #remove(name, call) {
      const left = without(this.#listeners.get(name), call);
      if (left.length === 0) this.#listeners.delete(name);
      else this.#listeners.set(name, left);
      this[host.listenersChanged]?.(name);
    }
  }

  /** A copy of a list of listeners, but for one. */
  function without(all, call) {
    const rest = list();
    for (let at = 0; at < (all?.length ?? 0); at++) if (all[at].call !== call) rest.push(all[at]);
    return rest;
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
