// `data:` URLs: their text, and what it is as a module. A part that runs when it is first asked for.
(function (host) {
  "use strict";

  const { decodeURIComponent, parseJson, RangeError, TypeError } = host.safe;
  const JSON_TYPE = "application/json";

  function parts(url) {
    const found = host.text().parseDataUrl(url);
    if (!found) throw host.put(host.error(TypeError, "ERR_INVALID_URL", "Invalid URL"), "input", url);
    return found;
  }

  function textOf(found) {
    const text = decodeURIComponent(found.body);
    return found.isBase64 ? host.part("encoding").ofBase64(text) : text;
  }

  /** The text of one, whatever its type. */
  const text = (url) => textOf(parts(url));

  /** The text of the ES module that one is; of JSON, a list of its value. `isEntry`: a worker begins with it, so no `import` can say what it is. */
  function module(url, isEntry) {
    const found = parts(url);
    if (found.type === "text/javascript" || found.type === "application/javascript") return textOf(found);
    if (found.type === JSON_TYPE && !isEntry) return [parseJson(textOf(found))];
    if (found.type === JSON_TYPE) {
      throw host.error(TypeError, "ERR_IMPORT_ASSERTION_TYPE_MISSING", 'Module "' + url + '" needs an import attribute of type "json"');
    }
    if (found.type === undefined) throw host.put(host.error(TypeError, "ERR_INVALID_URL", "Invalid URL"), "input", url);
    throw host.error(RangeError, "ERR_UNKNOWN_MODULE_FORMAT", "Unknown module format: " + found.type + " for URL " + url);
  }

  /** What `import` of a relative name in one fails with. */
  function unresolvable(name, url) {
    throw host.error(TypeError, "ERR_UNSUPPORTED_RESOLVE_REQUEST",
      'Failed to resolve module specifier "' + name + '" from "' + url + '": Invalid relative URL or base scheme is not hierarchical.');
  }

  return { module, text, unresolvable };
});
