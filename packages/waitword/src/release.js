// The base class of guards: releases once, by `release` or at the end of a `using` block.

// If the engine has no `Symbol.dispose`, use the symbol that esbuild and other compilers use when they translate `using`.
const dispose = Symbol.dispose ?? Symbol.for('Symbol.dispose');

export class Release {
  #held;

  constructor(held) {
    this.#held = held;
  }

  /** Whether `release` has not been called yet. */
  get isHeld() {
    return this.#held !== undefined;
  }

  /** Releases. Further calls have no effect, because another holder may have acquired the lock since. */
  release() {
    const held = this.#held;
    this.#held = undefined;
    held?.unlock();
  }

  [dispose]() {
    this.release();
  }
}
