// BroadcastChannel: what is posted in one goes to all others of its name, in whatever agent. Each is a port whose other end is
// in a room (rooms.rs). A part that runs when it is first asked for.
(function (host) {
  "use strict";

  const { native } = host;
  const { String } = globalThis;

  class BroadcastChannel extends host.Target {
    #name;
    #id;

    constructor(name) {
      if (arguments.length === 0) throw host.missing("name");
      super();
      this.#name = String(name);
      this.#id = native.joinRoom(this.#name);
      host.ports.register(this.#id, this);
      native.listenToPort(this.#id, true, true);
    }

    get name() {
      return this.#name;
    }

    postMessage(message) {
      if (arguments.length === 0) throw host.missing("message");
      if (this.#id === undefined) throw closed();
      const ids = host.pack(message);
      // A getter may have closed it.
      if (this.#id === undefined) {
        native.discard(ids);
        throw closed();
      }
      native.postToRoom(this.#name, this.#id, ids);
    }

    close() {
      if (this.#id === undefined) return;
      native.leaveRoom(this.#name, this.#id);
      host.ports.forget(this.#id);
      this.#id = undefined;
    }

    ref() {
      if (this.#id !== undefined) native.listenToPort(this.#id, true, true);
      return this;
    }

    unref() {
      if (this.#id !== undefined) native.listenToPort(this.#id, true, false);
      return this;
    }
  }
  host.withHandlers(BroadcastChannel, ["message", "messageerror"]);
  return { BroadcastChannel };
});
