// A module that awaits for ever exits with 13.
//@ code: 13
//@ stderr has: the main module still awaits

await new Promise(() => {});
