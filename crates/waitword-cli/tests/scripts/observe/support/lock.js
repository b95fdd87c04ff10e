module.exports = class AsyncLock {
  constructor(words, index) { this.words = words; this.index = index; }
  lock() { while (!this.take()) Atomics.wait(this.words, this.index, 1); }
  async lockAsync() { while (!this.take()) await Atomics.waitAsync(this.words, this.index, 1).value; }
  take() { return Atomics.compareExchange(this.words, this.index, 0, 1) === 0; }
  unlock() {
    Atomics.compareExchange(this.words, this.index, 1, 0);
    Atomics.notify(this.words, this.index, 1);
  }
};
