// Starts the four workers: two in Rust and two in JavaScript, or, where the wasm was not built, four in JavaScript.
import { LOCK, WORDS } from './words.js';

const RUST = '/wasm/waitword_browser_example.js';

/** The words that all share, where the lock is, and who the agents are: the page first. */
export async function startWorkers() {
  const rust = await loadRust();
  const words = rust?.words ?? new Int32Array(new SharedArrayBuffer(4 * WORDS));
  const [lockWords, lockIndex] = rust ? [new Int32Array(rust.memory.buffer), rust.lockIndex] : [words, LOCK];
  const kinds = rust ? ['Rust', 'Rust', 'JavaScript', 'JavaScript'] : ['JavaScript', 'JavaScript', 'JavaScript', 'JavaScript'];
  await Promise.all(kinds.map((kind, i) => {
    const worker = new Worker('worker.js', { type: 'module' });
    const means = kind === 'Rust' ? { url: RUST, module: rust.module, memory: rust.memory } : undefined;
    worker.postMessage({ number: i + 1, words, lockWords, lockIndex, rust: means });
    return new Promise((resolve, reject) => {
      worker.onmessage = resolve;
      worker.onerror = reject;
    });
  }));
  const names = kinds.map((kind, i) => ({ kind, name: `${kind} ${kinds.slice(0, i + 1).filter((other) => other === kind).length}` }));
  return { words, lockWords, lockIndex, agents: [{ kind: 'page', name: 'This page' }, ...names] };
}

async function loadRust() {
  const response = await fetch(RUST.replace('.js', '_bg.wasm'));
  if (!response.ok) return undefined;
  const module = await WebAssembly.compileStreaming(response);
  const wasm = await import(RUST);
  // `memory` is the shared memory that this first instance has made.
  const { memory } = await wasm.default({ module_or_path: module });
  const words = new Int32Array(memory.buffer, 4 * wasm.wordsIndex(), WORDS);
  return { module, memory, words, lockIndex: wasm.lockIndex() };
}
