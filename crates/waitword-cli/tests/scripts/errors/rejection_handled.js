// An unhandled rejection fails and a handled one does not.
//> 1

const p = Promise.reject(1); queueMicrotask(() => p.catch(console.log));
