//@ flags: --memory-limit 16M
//> RangeError true true true
//> string

const blob = new Blob(["/".repeat(1 << 20)]);
const make = () => URL.createObjectURL(blob);
for (let round = 0; round < 100; round++) URL.revokeObjectURL(make());
const kept = [];
try {
  for (;;) kept.push(make());
} catch (error) {
  console.log(error.name, /out of memory/.test(error.message), kept.length > 4, kept.length < 16);
}
kept.forEach((url) => URL.revokeObjectURL(url));
console.log(typeof make());
