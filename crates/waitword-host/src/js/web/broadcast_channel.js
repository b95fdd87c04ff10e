// BroadcastChannel: a message posted in one goes to all others with its name, in all agents. Each is a port whose other end is in a broadcast
// group (broadcast_groups.rs). Loaded at first use.
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
      // A getter in the message may close this channel, but too late to affect the message.
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

    /** Takes the first message, for `receiveMessageOnPort`. */
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
