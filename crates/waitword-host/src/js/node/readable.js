// The output of a worker, for a parent that reads `worker.stdout` or `worker.stderr`: the part of Readable that this needs. Chunks are strings.
// Loaded at first use.
(function (host) {
  "use strict";

  const { list, Promise, Symbol } = host.safe;

  class Readable extends host.EventEmitter {
    #chunks = list();
    #isPaused = false;
    #isDone = false;
    #isEnded = false;
    #flowing = false;

    setEncoding() {
      return this;
    }

    pause() {
      this.#isPaused = true;
      return this;
    }

    resume() {
      this.#isPaused = false;
      this.#flowing = true;
      this.#flow();
      return this;
    }

    pipe(target) {
      this.on("data", (text) => target.write(text));
      return target;
    }

    async *[Symbol.asyncIterator]() {
      const chunks = list();
      let wake = () => {};
      let isEnded = false;
      this.on("data", (text) => {
        chunks.push(text);
        wake();
      });
      this.on("end", () => {
        isEnded = true;
        wake();
      });
      for (let at = 0; ; ) {
        while (at < chunks.length) yield chunks[at++];
        if (isEnded) return;
        await new Promise((resolve) => (wake = resolve));
      }
    }

    [host.listenersChanged](name) {
      if (name === "data" && this.listenerCount("data") > 0 && !this.#isPaused) host.nextTick(() => this.resume());
    }

    #flow() {
      if (!this.#flowing || this.#isPaused) return;
      const chunks = this.#chunks;
      this.#chunks = list();
      for (let at = 0; at < chunks.length; at++) this.emit("data", chunks[at]);
      if (!this.#isDone || this.#isEnded) return;
      this.#isEnded = true;
      host.nextTick(() => {
        this.emit("end");
        this.emit("close");
      });
    }

    static feed(readable, text) {
      readable.#chunks.push(text);
      readable.#flow();
    }

    /** The worker has ended: no more output comes. */
    static finish(readable) {
      readable.#isDone = true;
      readable.#flow();
    }
  }
  const { feed, finish } = Readable;
  delete Readable.feed;
  delete Readable.finish;
  return { Readable, feed, finish };
});
