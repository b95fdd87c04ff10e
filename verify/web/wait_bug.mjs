// Fails on an engine whose baseline compiler spoils a local variable at `memory.atomic.wait32` (V8 11.3, which Node 20 has; docs/web.md):
//     node --liftoff-only verify/web/wait_bug.mjs
// It saves the address, 8 bytes, in the slot of a 4-byte value, and overwrites the one beside it.
//
//   (module
//     (import "env" "memory" (memory 1 1 shared))
//     (func (export "keep") (param $kept i32) (result i32)
//       (drop (memory.atomic.wait32 (i32.const 64) (i32.const 1) (i64.const 0)))   ;; "not-equal"
//       (local.get $kept)))                                                        ;; 0, where it has to be the argument
import assert from 'node:assert/strict';

const section = (id, ...bytes) => [id, bytes.length, ...bytes];
const name = (text) => [text.length, ...Buffer.from(text)];
const [I32, I64_CONST, I32_CONST, DROP, LOCAL_GET, END] = [0x7f, 0x42, 0x41, 0x1a, 0x20, 0x0b];
const code = [0, I32_CONST, ...[0xc0, 0], I32_CONST, 1, I64_CONST, 0, ...[0xfe, 0x01, 2, 0], DROP, LOCAL_GET, 0, END];
const module = new WebAssembly.Module(Uint8Array.of(
  ...Buffer.from('\0asm\x01\0\0\0'),
  ...section(1, 1, 0x60, 1, I32, 1, I32), // a function of an i32 that returns one
  ...section(2, 1, ...name('env'), ...name('memory'), 2, 3, 1, 1), // shared, of one page
  ...section(3, 1, 0),
  ...section(7, 1, ...name('keep'), 0, 0),
  ...section(10, 1, code.length, ...code),
));
const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
const { keep } = new WebAssembly.Instance(module, { env: { memory } }).exports;
assert.equal(keep(42), 42, `V8 ${process.versions.v8} spoils a local variable at memory.atomic.wait32`);
