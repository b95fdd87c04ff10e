// Where the panics of all agents arrive: at the main agent, which `chromium.mjs` watches.
export function reportPanic(message) {
  console.error((globalThis.expectPanic ? 'expected: ' : 'panicked: ') + message);
}

// The next error of a worker is part of a test.
export function expectTrap() {
  globalThis.expectedTraps = (globalThis.expectedTraps ?? 0) + 1;
}
