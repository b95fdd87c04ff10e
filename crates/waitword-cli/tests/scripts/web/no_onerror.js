// The error of a worker is an error event or fails the program.
//@ file: page.js
//@ code: 1
//@ stderr has: worker 1
//@ stderr has: TypeError: wrong
//@ stderr has: worker.js:2

new Worker('worker.js')
//@ file: worker.js

throw new TypeError('wrong');
