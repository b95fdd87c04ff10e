//@ command: test262 support
//@ file: support/test/a.js
//> 1 passed, 0 failed, 0 skipped

/*---
flags: [noStrict]
---*/
const other = $262.createRealm();
assert(other.global !== $262.global && $262.global === this);
assert(other.evalScript('var inside = Array; inside') === other.global.inside);
assert(other.global.Array !== Array && other.global.$262 === other);
assert($262.evalScript('let lexical = 1; lexical + 1') === 2 && lexical === 1);
let early; try { $262.evalScript('let = ;'); } catch (e) { early = e; }
assert(early instanceof SyntaxError);
const buffer = new ArrayBuffer(8);
assert($262.detachArrayBuffer(buffer) === null && buffer.detached);
let shared; try { $262.detachArrayBuffer(new SharedArrayBuffer(8)); } catch (e) { shared = e; }
assert(shared instanceof TypeError);
assert($262.gc() === undefined);
assert(typeof $262.IsHTMLDDA === 'undefined' && $262.IsHTMLDDA() === null);
for (const name of ['print', '$262']) {
  const p = Object.getOwnPropertyDescriptor(globalThis, name);
  assert(p.writable && p.configurable && !p.enumerable, name);
}
