import { Worker } from 'node:worker_threads';

/** A FIFO queue of values. `take` waits for one if the queue is empty. */
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

/** A worker whose messages are received one at a time. */
export class Partner {
  #worker;
  #messages = new Channel();

  constructor(file, workerData) {
    this.#worker = new Worker(file, { workerData });
    this.#worker.on('message', (message) => this.#messages.put(message));
  }

  send(message) {
    this.#worker.postMessage(message);
  }

  receive() {
    return this.#messages.take();
  }

  terminate() {
    return this.#worker.terminate();
  }
}
