// An uncaught exception in a callback and in a module.
//@ code: 1
//@ stderr has: TypeError
//@ stderr has: main.js:1:20

setTimeout(() => { null.x; }, 1);
