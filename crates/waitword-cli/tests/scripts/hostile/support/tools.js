// What the patches are written with.
const { ownKeys } = Reflect;
const { defineProperty, getPrototypeOf } = Object;
const boom = () => { throw "patched"; };
const each = (list, use) => { for (let at = 0; at < list.length; at++) use(list[at]); };
module.exports = { ownKeys, defineProperty, getPrototypeOf, boom, each };
