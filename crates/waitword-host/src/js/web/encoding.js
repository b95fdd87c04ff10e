// TextEncoder and TextDecoder for UTF-8, and the text and modules of `data:` URLs. Rust converts the bytes (natives/texts.rs). Loaded at
// first use.
(function (host) {
  "use strict";

  const { ArrayBuffer, Boolean, RangeError, TypeError, Uint8Array, atob } = globalThis;
  const { apply, decodeURIComponent, parseJson, slice, String } = host.safe;
  const { dictionary, domString, usv } = host;
  const { isView } = ArrayBuffer;
  const { native } = host;
  const JSON_TYPE = "application/json";

  const bytesIn = (string) => new Uint8Array(native.encodeUtf8(usv(string)));
  /** Decodes a copy, because the memory may be shared. */
  const textOf = (bytes, isFatal) => native.decodeUtf8(new Uint8Array(bytes).buffer, isFatal);
  const isContinued = (byte) => (byte & 0xc0) === 0x80;

  class TextEncoder {
    #isOne = true;

    static check(value) {
      if (typeof value !== "object" || value === null || !(#isOne in value)) throw host.invalidThis("TextEncoder");
    }

    get encoding() {
      checkEncoder(this);
      return "utf-8";
    }

    encode(string = "") {
      checkEncoder(this);
      return bytesIn(string);
    }

    /** Writes as many whole characters as fit. Returns how many units of the string were read, and how many bytes were written. */
    encodeInto(string, target) {
      checkEncoder(this);
      if (arguments.length < 2) throw host.missing(arguments.length === 0 ? "src" : "dest");
      if (!(target instanceof Uint8Array)) throw host.invalid("dest", "an instance of Uint8Array", target);
      const room = target.length;
      // Each unit takes at least one byte. Half a character at the end becomes three bytes, which do not fit.
      const bytes = bytesIn(apply(slice, domString(string), [0, room]));
      let written = bytes.length < room ? bytes.length : room;
      while (written < bytes.length && isContinued(bytes[written])) written--;
      let read = 0;
      for (let at = 0; at < written; at++) {
        target[at] = bytes[at];
        // A character of four bytes is two units.
        if (!isContinued(bytes[at])) read += bytes[at] < 0xf0 ? 1 : 2;
      }
      return { read, written };
    }
  }
  const { check: checkEncoder } = TextEncoder;
  delete TextEncoder.check;
  host.shape(TextEncoder);

  class TextDecoder {
    #isFatal;
    #ignoreBOM;

    constructor(label = "utf-8", options = undefined) {
      const name = domString(label);
      const { fatal, ignoreBOM } = dictionary(options);
      if (!native.isUtf8(name)) {
        throw host.error(RangeError, "ERR_ENCODING_NOT_SUPPORTED", 'The "' + name + '" encoding is not supported: only utf-8 is');
      }
      this.#isFatal = Boolean(fatal);
      this.#ignoreBOM = Boolean(ignoreBOM);
    }

    get encoding() {
      if (!(#isFatal in this)) throw host.invalidThis("TextDecoder");
      return "utf-8";
    }

    get fatal() {
      return this.#isFatal;
    }

    get ignoreBOM() {
      return this.#ignoreBOM;
    }

    decode(source = undefined, options = undefined) {
      if (!(#isFatal in this)) throw host.invalidThis("TextDecoder");
      if (dictionary(options).stream) {
        throw host.error(TypeError, "ERR_METHOD_NOT_IMPLEMENTED", "Decoding of streams is not supported: collect the bytes first");
      }
      const string = source === undefined ? "" : textOf(bytesOf(source), this.#isFatal);
      if (string === undefined) {
        throw host.error(TypeError, "ERR_ENCODING_INVALID_ENCODED_DATA",
          "The encoded data was not valid for encoding utf-8");
      }
      return !this.#ignoreBOM && string[0] === "\ufeff" ? apply(slice, string, [1]) : string;
    }
  }

  host.shape(TextDecoder);

  function bytesOf(source) {
    if (isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
    if (host.isBuffer(source)) return new Uint8Array(source, 0);
    throw host.invalid("list", "an instance of SharedArrayBuffer, ArrayBuffer or ArrayBufferView", source);
  }

  /** The text of a chunk that is not a string. */
  function chunk(bytes) {
    if (bytes instanceof Uint8Array) return textOf(bytes, false);
    if (bytes === null) throw host.error(TypeError, "ERR_STREAM_NULL_VALUES", "May not write null values to stream");
    throw host.invalid("chunk", "of type string or an instance of Buffer or Uint8Array", bytes);
  }

  function dataUrl(url) {
    const found = host.text().parseDataUrl(url);
    if (!found) throw invalidUrl(url);
    return found;
  }

  const invalidUrl = (url) => host.put(host.error(TypeError, "ERR_INVALID_URL", "Invalid URL"), "input", url);

  function contents({ body, isBase64 }) {
    const text = decodeURIComponent(body);
    if (!isBase64) return text;
    const letters = atob(text);
    const bytes = new Uint8Array(letters.length);
    for (let at = 0; at < letters.length; at++) bytes[at] = letters.charCodeAt(at);
    return textOf(bytes, false);
  }

  /** The text of a `data:` URL, whatever its type. */
  const dataText = (url) => contents(dataUrl(url));

  /** The text of an ES module in a `data:` URL, or an array with the value of JSON. `isEntry`: it is a worker's script, so there is no import attribute. */
  function dataModule(url, isEntry) {
    const found = dataUrl(url);
    if (found.type === "text/javascript" || found.type === "application/javascript") return contents(found);
    if (found.type === JSON_TYPE && !isEntry) return [parseJson(contents(found))];
    if (found.type === JSON_TYPE) {
      throw host.error(TypeError, "ERR_IMPORT_ASSERTION_TYPE_MISSING", 'Module "' + url + '" needs an import attribute of type "json"');
    }
    if (found.type === undefined) throw invalidUrl(url);
    throw host.error(RangeError, "ERR_UNKNOWN_MODULE_FORMAT", "Unknown module format: " + found.type + " for URL " + url);
  }

  return { TextEncoder, TextDecoder, bytesIn, chunk, dataModule, dataText };
});
