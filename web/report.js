// Where the panics of all agents arrive: at the main agent, which `driver.mjs` watches.
export function reportPanic(message) {
  console.error('panicked: ' + message);
}
