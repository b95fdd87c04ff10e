// The message of an error is its own property, or none: one that is inherited, or made by a getter, stays behind.
//> false ""
//> true ""
//> true "own"
//> false ""
//> false ""
//> true "5"

class Inherits extends Error {}
Inherits.prototype.message = "inherited";
const gets = Object.defineProperty(new Error(), "message", { get: () => "got", enumerable: true });
for (const error of [new Error(), new Error(""), new Error("own"), new Inherits(), gets, Object.assign(new Error(), { message: 5 })]) {
  const copy = structuredClone(error);
  console.log(Object.hasOwn(copy, "message"), JSON.stringify(copy.message));
}
