//> true

const start = performance.now();
setTimeout(() => console.log(performance.now() - start >= 20), 20);
