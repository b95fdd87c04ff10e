import { Worker } from 'node:worker_threads';

/** Values are put in by one side and taken out, in order, by the other, which waits if there are none yet. */
export class Channel {
  #values = [];
  #takers = [];

  put(value) {
    const taker = this.#takers.shift();
    if (taker) taker(value);
    else this.#values.push(value);
  }

  take() {
    if (this.#values.length > 0) return Promise.resolve(this.#values.shift());
    return new Promise((resolve) => this.#takers.push(resolve));
  }
}

/** A worker to talk to: what it posts is heard one message at a time. */
export class Partner {
  #worker;
  #messages = new Channel();

  constructor(file, workerData) {
    this.#worker = new Worker(file, { workerData });
    this.#worker.on('message', (message) => this.#messages.put(message));
  }

  tell(message) {
    this.#worker.postMessage(message);
  }

  hear() {
    return this.#messages.take();
  }

  dismiss() {
    return this.#worker.terminate();
  }
}
