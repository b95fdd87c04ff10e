// The web's algorithm is depth first: what is in a property is read to its end before the next property is.
//> abcdefg
//> { a: 0, d: 2 }
//> [ 9, 2, <2 empty items> ]
//> 100
//> Map(2) { 'a' => { b: 1 }, 'c' => 2 }
//> first { a: 1 }

const { receiveMessageOnPort } = require("worker_threads");
const order = [];
const noted = (name, value) => (order.push(name), value);
structuredClone({
  get a() { return noted("a", { get b() { return noted("b", [1]); }, get c() { return noted("c"); } }); },
  get d() { return noted("d", new Map([[{ get e() { return noted("e"); } }, { get f() { return noted("f"); } }]])); },
  get g() { return noted("g"); },
});
console.log(order.join(""));
const changed = { get a() { delete this.b; this.c = 1; return 0; }, b: 1, d: 2 };
console.log(structuredClone(changed));
const array = [1, 2, 3, 4];
Object.defineProperty(array, 0, { enumerable: true, get() { array.length = 2; return 9; } });
console.log(structuredClone(array));
const freed = { list: [0, {}] };
Object.defineProperty(freed.list, 0, { enumerable: true, get() { freed.list = null; return Array.from({ length: 100 }, () => ({})); } });
console.log(structuredClone(freed).list[0].length);
const map = new Map([["a", { get b() { map.clear(); return 1; } }], ["c", 2]]);
console.log(structuredClone(map));
const { port1, port2 } = new MessageChannel();
port1.postMessage({ get a() { port1.postMessage("first"); return 1; } });
console.log(receiveMessageOnPort(port2).message, receiveMessageOnPort(port2).message);
