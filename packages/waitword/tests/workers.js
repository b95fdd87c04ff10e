// Workers, in whatever the engine has. A worker runs `agent.js`; `call` runs one of its jobs and brings what that returned.
const isNode = typeof Worker === 'undefined';
const threads = isNode ? await import('node:worker_threads') : undefined;

export class Agent {
  #worker;
  #calls = new Map();
  #number = 0;

  constructor() {
    const file = new URL('./agent.js', import.meta.url);
    const receive = ({ number, result, error }) => {
      const { resolve, reject } = this.#calls.get(number);
      this.#calls.delete(number);
      if (error === undefined) resolve(result);
      else reject(new Error(error));
    };
    const fail = (error) => this.#calls.forEach(({ reject }) => reject(new Error(`the worker failed: ${error?.message ?? error}`)));
    if (isNode) {
      this.#worker = new threads.Worker(file);
      this.#worker.on('message', receive);
      this.#worker.on('error', fail);
    } else {
      this.#worker = new Worker(file, { type: 'module' });
      this.#worker.onmessage = ({ data }) => receive(data);
      this.#worker.onerror = fail;
    }
  }

  call(job, ...args) {
    return new Promise((resolve, reject) => {
      this.#calls.set(++this.#number, { resolve, reject });
      this.#worker.postMessage({ number: this.#number, job, args });
    });
  }

  end() {
    return this.#worker.terminate();
  }
}

/** Runs `body` with `count` agents, and ends them. */
export async function withAgents(count, body) {
  const agents = Array.from({ length: count }, () => new Agent());
  try {
    return await body(agents);
  } finally {
    await Promise.all(agents.map((agent) => agent.end()));
  }
}
