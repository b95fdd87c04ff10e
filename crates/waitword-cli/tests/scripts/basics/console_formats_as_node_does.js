//> x is 1.5 and 1 and 2.5 {"a":1} { b: 1 }% rest { c: 'd' }
//> [ 1, <1 empty item>, 'two' ] Map(1) { 'k' => Set(1) { 1 } } <ref *1> { name: 'c', self: [Circular *1] } [ undefined, null, -0, 1n, Symbol(s) ]
//> {
//>   f: [Function: f],
//>   g: [class A],
//>   h: [Function: h],
//>   d: 1970-01-01T00:00:00.000Z,
//>   re: /x/g,
//>   deep: { a: { b: [Object] } }
//> }
//> Point { x: 1 } [Object: null prototype] {} Promise { 1 } Uint8Array(2) [ 0, 0 ] it's
//> [ "it's", 'a"b', 'line\n' ]
//>
//> undefined
//> [
//>     0,  10,  20,  30,  40,  50,  60,  70,
//>    80,  90, 100, 110, 120, 130, 140, 150,
//>   160, 170, 180, 190, 200, 210, 220, 230,
//>   240, 250, 260, 270, 280, 290, 300, 310,
//>   320, 330, 340, 350, 360, 370, 380, 390
//> ]
//> info
//> debug

const circular = { name: "c" };
circular.self = circular;
console.log("%s is %d and %i and %f %j %o%%", "x", "1.5", 1.7, "2.5", { a: 1 }, { b: 1 }, "rest", { c: "d" });
console.log([1, , "two"], new Map([["k", new Set([1])]]), circular, [undefined, null, -0, 1n, Symbol("s")]);
console.log({ f() {}, g: class A {}, h: () => {}, d: new Date(0), re: /x/g, deep: { a: { b: { c: {} } } } });
console.log(new (class Point { x = 1; })(), Object.create(null), Promise.resolve(1), new Uint8Array(2), "it's");
console.log(["it's", 'a"b', "line\n"]);
console.log(); console.log(undefined);
console.log(Array.from({ length: 40 }, (_, i) => i * 10));
console.info("info"); console.debug("debug");
