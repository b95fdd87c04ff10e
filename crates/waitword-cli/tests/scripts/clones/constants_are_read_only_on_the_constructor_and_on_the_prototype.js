//> true false true false TypeError true
//> true false true false TypeError true
//> true false true false TypeError true
//> true false true false TypeError true
//> true false true false TypeError true
//> true false true false TypeError true
//> true false true false TypeError true
//> true false true false TypeError true
//> 2

"use strict";
for (const [name, value] of [["NONE", 0], ["CAPTURING_PHASE", 1], ["AT_TARGET", 2], ["BUBBLING_PHASE", 3]]) {
  for (const of of [Event, Event.prototype]) {
    const found = Object.getOwnPropertyDescriptor(of, name);
    let thrown;
    try { of[name] = 9; } catch (error) { thrown = error.name; }
    console.log(found.value === value, found.writable, found.enumerable, found.configurable, thrown, delete { [name]: of[name] }[name]);
  }
}
console.log(new Event("x").AT_TARGET);
