// Text as bytes of UTF-8 and back, as the Encoding standard has it. In the private realm; what scripts get of it is
// encoding.js. Next: compare.js.
(function (text) {
  "use strict";

  /** Writes as many whole characters as fit; how much was read, in units of the string, and written. */
  function encodeInto(string, target) {
    let read = 0;
    let written = 0;
    for (const character of string.toWellFormed()) {
      const point = character.codePointAt(0);
      const size = sizeOf(point);
      if (written + size > target.length) break;
      if (size === 1) target[written] = point;
      else {
        for (let at = size - 1, rest = point; at >= 0; at--, rest >>= 6) {
          target[written + at] = at > 0 ? 0x80 | (rest & 0x3f) : LEADS[size] | rest;
        }
      }
      written += size;
      read += character.length;
    }
    return [read, written];
  }

  const LEADS = [0, 0, 0xc0, 0xe0, 0xf0];
  const sizeOf = (point) => (point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4);

  function encodedLength(string) {
    let length = 0;
    for (const character of string.toWellFormed()) length += sizeOf(character.codePointAt(0));
    return length;
  }

  /** The text; undefined if `isFatal` and the bytes are none. */
  function decode(bytes, isFatal) {
    let string = "";
    for (let at = 0; at < bytes.length; ) {
      const [size, point] = sequence(bytes, at);
      if (point === undefined && isFatal) return undefined;
      string += point === undefined ? "\ufffd" : String.fromCodePoint(point);
      at += size;
    }
    return string;
  }

  /** How many bytes belong together, and what they mean, if anything. */
  function sequence(bytes, start) {
    const lead = bytes[start];
    if (lead < 0x80) return [1, lead];
    const size = lead >= 0xc2 && lead < 0xe0 ? 2 : lead >= 0xe0 && lead < 0xf0 ? 3 : lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
    if (size === 0) return [1, undefined];
    let point = lead & (0x7f >> size);
    for (let at = 1; at < size; at++) {
      const next = bytes[start + at];
      // The second byte tells forms that are too long, surrogates, and what is beyond Unicode.
      const least = at > 1 ? 0x80 : lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
      const most = at > 1 ? 0xbf : lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
      if (!(next >= least && next <= most)) return [at, undefined];
      point = (point << 6) | (next & 0x3f);
    }
    return [size, point];
  }

  const NAMES = ["utf-8", "utf8", "unicode-1-1-utf-8", "unicode11utf8", "unicode20utf8", "x-unicode20utf8"];
  const isUtf8 = (label) => NAMES.includes(label.trim().toLowerCase());
  const withoutMark = (string) => (string.startsWith("\ufeff") ? string.slice(1) : string);

  Object.assign(text, { isUtf8, withoutMark, encodeInto, encodedLength, decode });
});
