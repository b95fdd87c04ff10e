// What the engine passes on a stack: so many, whatever asks for it.
//> RangeError too many arguments in function call (only 65535 allowed)
//> RangeError too many arguments in function call (only 65535 allowed)
//> RangeError too many arguments in function call (only 65535 allowed)
//> RangeError too many arguments in function call (only 65535 allowed)
//> RangeError too many arguments in function call (only 65535 allowed)
//> 1 131070

const items = new Array(65_536).fill(1);
const calls = [() => Math.max(...items), () => Math.max.apply(null, items), () => [].push(...items),
  () => Reflect.construct(Array, items), () => String.fromCharCode(...items)];
for (const call of calls) {
  try {
    console.log(call());
  } catch ({ name, message }) {
    console.log(name, message);
  }
}
items.pop();
console.log(Math.max(...items), [...items, ...items].length);
