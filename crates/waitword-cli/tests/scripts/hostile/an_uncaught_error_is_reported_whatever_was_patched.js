//@ each PATCH in patches.txt
//@ code: 1
//@ stderr has: uncaught exception in main
//@ stderr has: TypeError: this one
//@ stderr has: main.js:

const { ownKeys } = Reflect;
const { defineProperty, getPrototypeOf } = Object;
const boom = () => { throw "patched"; };
const each = (list, use) => { for (let at = 0; at < list.length; at++) use(list[at]); };
const wrong = new TypeError('this one');
setTimeout(() => { throw wrong; }, 1);
PATCH;
