//@ code: 1
//@ stderr has: Error: x
//@ stderr has: --> /dev/zero:1:1

throw Object.assign(new Error("x"), { stack: "    at f (/dev/zero:1:1)" });
