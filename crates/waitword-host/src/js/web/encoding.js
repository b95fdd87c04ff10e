// TextEncoder and TextDecoder, for UTF-8. A part that runs when it is first asked for.
(function (host) {
  "use strict";

  const { ArrayBuffer, Boolean, RangeError, String, TypeError, Uint8Array, atob } = globalThis;
  const { isView } = ArrayBuffer;
  const text = host.text();

  class TextEncoder {
    get encoding() {
      return "utf-8";
    }

    encode(string = "") {
      const whole = String(string);
      const bytes = new Uint8Array(text.encodedLength(whole));
      text.encodeInto(whole, bytes);
      return bytes;
    }

    encodeInto(string, target) {
      if (!(target instanceof Uint8Array)) throw host.invalid("dest", "an instance of Uint8Array", target);
      const lengths = text.encodeInto(String(string), target);
      return { read: lengths[0], written: lengths[1] };
    }
  }

  class TextDecoder {
    #isFatal;
    #ignoreBOM;

    constructor(label = "utf-8", settings) {
      if (!text.isUtf8(String(label))) {
        throw host.error(RangeError, "ERR_ENCODING_NOT_SUPPORTED",
          'The "' + String(label) + '" encoding is not supported: only utf-8 is');
      }
      this.#isFatal = Boolean(settings?.fatal);
      this.#ignoreBOM = Boolean(settings?.ignoreBOM);
    }

    get encoding() {
      return "utf-8";
    }

    get fatal() {
      return this.#isFatal;
    }

    get ignoreBOM() {
      return this.#ignoreBOM;
    }

    decode(source, settings) {
      if (settings?.stream) {
        throw host.error(TypeError, "ERR_METHOD_NOT_IMPLEMENTED", "Streams are not decoded here: collect the bytes first");
      }
      const string = source === undefined ? "" : text.decode(bytesOf(source), this.#isFatal);
      if (string === undefined) {
        throw host.error(TypeError, "ERR_ENCODING_INVALID_ENCODED_DATA",
          "The encoded data was not valid for encoding utf-8");
      }
      return this.#ignoreBOM ? string : text.withoutMark(string);
    }
  }

  function bytesOf(source) {
    try {
      return isView(source)
        ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
        : new Uint8Array(source, 0);
    } catch {
      throw host.invalid("list", "an instance of ArrayBuffer or ArrayBufferView", source);
    }
  }

  /** The text of what is written to an output and is no string. */
  function chunk(bytes) {
    if (bytes instanceof Uint8Array) return text.decode(bytes, false);
    throw host.invalid("chunk", "of type string or an instance of Buffer or Uint8Array", bytes);
  }

  /** The text in bytes that are written as base64. */
  function ofBase64(string) {
    const letters = atob(string);
    const bytes = new Uint8Array(letters.length);
    for (let at = 0; at < letters.length; at++) bytes[at] = letters.charCodeAt(at);
    return text.decode(bytes, false);
  }

  return { TextEncoder, TextDecoder, chunk, ofBase64 };
});
