// The error of a worker is an error event or fails the program.
//@ file: page.js
//> Uncaught TypeError: wrong 2 true true

const worker = new Worker("./worker.js");
worker.onerror = (event) => {
  event.preventDefault();
  console.log(event.message, event.lineno, /[\\/]worker\.js$/.test(event.filename), event.error instanceof TypeError);
};
//@ file: worker.js

throw new TypeError('wrong');
