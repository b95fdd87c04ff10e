// What an acquisition returns: releases once, by hand or at the end of a `using` block.

// Where the engine has no such symbol, the one that esbuild's and others' translations of `using` look for.
const dispose = Symbol.dispose ?? Symbol.for('Symbol.dispose');

export class Release {
  #held;

  constructor(held) {
    this.#held = held;
  }

  /** Whether this still holds what it stands for. */
  get isHeld() {
    return this.#held !== undefined;
  }

  /** Releases. Does nothing the second time: what it stood for may be somebody else's by then. */
  release() {
    const held = this.#held;
    this.#held = undefined;
    held?.unlock();
  }

  [dispose]() {
    this.release();
  }
}
