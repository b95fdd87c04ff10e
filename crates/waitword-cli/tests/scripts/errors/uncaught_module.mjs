// An uncaught exception in a callback and in a module.
//@ code: 1
//@ stderr has: uncaught exception in main
//@ stderr has: main.mjs:2:

await 1;
null.x;
