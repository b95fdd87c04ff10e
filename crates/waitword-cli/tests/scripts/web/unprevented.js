// A page and its worker hear of errors and rejections and may deal with them.
//@ code: 1
//@ stderr has: Error: goes on
//> Uncaught Error: goes on

onerror = (message) => console.log(message); throw new Error('goes on');
