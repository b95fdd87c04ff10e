// Where the panics of all agents arrive: at the main agent, which `chromium.mjs` watches.
export function reportPanic(message) {
  console.error((globalThis.expectPanic ? 'expected: ' : 'panicked: ') + message);
}

// The next error of a worker is part of a test.
export function expectTrap() {
  globalThis.expectedTraps = (globalThis.expectedTraps ?? 0) + 1;
}

let ringsOfThisAgent = 0;

// From now on, counts the rings of this agent: notifies and messages.
export function countRings() {
  const counted = (object, name) => {
    const original = object[name];
    object[name] = function (...args) {
      ringsOfThisAgent += 1;
      return original.apply(this, args);
    };
  };
  counted(Atomics, 'notify');
  counted(BroadcastChannel.prototype, 'postMessage');
}

export function rings() {
  return ringsOfThisAgent;
}
