// Both ends of a thread of `waitword_web::spawn`: the agent that starts it imports this module, and the worker runs it.

const NAME = 'waitword-thread';

// The workers that this agent has started and that have not ended.
const workers = new Map();

// Called by `thread.rs`. Node's workers are in a module, everybody else's are a global.
export async function startWorker(main, module, memory, stackSize, call, ended) {
  const node = globalThis.Worker === undefined;
  const Worker = node ? (await import('node:worker_threads')).Worker : globalThis.Worker;
  const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module', name: NAME, workerData: NAME });
  workers.set(call, worker);
  const on = (event, listener) => node ? worker.on(event, listener) : worker.addEventListener(event, listener);
  const end = () => { workers.delete(call); ended(); };
  on('error', end);
  on('messageerror', end);
  // Its last message, whether its closure has returned or not.
  on('message', (message) => { if ((node ? message : message.data)?.waitword === 'ended') end(); });
  worker.postMessage({ main, module, memory, stackSize, call });
}

// Stops the worker wherever it is.
export function terminateWorker(call) {
  workers.get(call)?.terminate();
  workers.delete(call);
}

async function runThread({ main, module, memory, stackSize, call }) {
  const bindgen = await import(main);
  // Sets up this instance's stack and thread-locals.
  const wasm = await bindgen.default({ module_or_path: module, memory, thread_stack_size: stackSize });
  await bindgen.__waitword_thread(call);
  wasm.__wbindgen_thread_destroy();
}

async function serve() {
  const { workerData, parentPort } = globalThis.process?.versions?.node === undefined
    ? { workerData: globalThis.name }
    : await import('node:worker_threads');
  if (workerData !== NAME) return;
  const port = parentPort ?? globalThis;
  const end = () => {
    port.postMessage({ waitword: 'ended' });
    if (parentPort) parentPort.close(); else globalThis.close();
  };
  // Thrown where one sees it: an unhandled rejection of a worker is shown nowhere.
  const begin = (data) => runThread(data).then(end, (error) => setTimeout(() => { throw error; }));
  if (parentPort) parentPort.once('message', begin);
  else globalThis.addEventListener('message', (event) => begin(event.data), { once: true });
}

serve();
