// BroadcastChannel: what is posted in one goes to all others of its name, in whatever agent. Each is a port whose other end is
// in a broadcast group (broadcast_groups.rs). A part that runs when it is first asked for.
(function (host) {
  "use strict";

  const { native } = host;

  class BroadcastChannel extends host.Target {
    #name;
    #id;

    constructor(name) {
      if (arguments.length === 0) throw host.missing("name");
      super();
      this.#name = host.domString(name);
      this.#id = native.joinGroup(this.#name);
      host.ports.register(this.#id, this, host.origin);
      native.listenToPort(this.#id, true, true);
    }

    get name() {
      return this.#name;
    }

    postMessage(message) {
      if (arguments.length === 0) throw host.missing("message");
      // What a getter in the message does to this channel comes too late for the message.
      const id = this.#id;
      if (id === undefined) throw new host.DOMException("BroadcastChannel is closed.", "InvalidStateError");
      native.postToGroup(this.#name, id, host.pack(message));
    }

    close() {
      if (this.#id === undefined) return;
      native.leaveGroup(this.#name, this.#id);
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

    static isChannel(value) {
      return typeof value === "object" && value !== null && #name in value;
    }

    /** The first message, for `receiveMessageOnPort`. */
    static take(channel) {
      const taken = channel.#id === undefined ? undefined : native.receiveFromPort(channel.#id);
      return taken === undefined ? undefined : { message: taken[0] };
    }
  }
  const { isChannel, take } = BroadcastChannel;
  delete BroadcastChannel.isChannel;
  delete BroadcastChannel.take;
  host.withHandlers(BroadcastChannel, ["message", "messageerror"]);
  host.shape(BroadcastChannel);
  return { BroadcastChannel, isChannel, take };
});
