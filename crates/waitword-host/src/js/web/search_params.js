// URLSearchParams: a list of pairs, and of a URL's its query. A part that runs when it is first asked for.
(function (host) {
  "use strict";

  const { Symbol, TypeError, apply, defineProperty, list, keys, slice } = host.safe;
  const { native, usv } = host;
  const isObject = (value) => (typeof value === "object" && value !== null) || typeof value === "function";

  function parsed(query) {
    const flat = native.parseQuery(query[0] === "?" ? apply(slice, query, [1]) : query);
    const pairs = list();
    for (let at = 0; at < flat.length; at += 2) pairs.push(list(flat[at], flat[at + 1]));
    return pairs;
  }

  /** The pairs that the argument of the constructor stands for. */
  function pairsOf(init) {
    if (init === undefined || init === null) return list();
    if (!isObject(init)) return parsed(usv(init));
    const pairs = list();
    const iterate = init[Symbol.iterator];
    if (iterate === undefined || iterate === null) {
      const names = keys(init);
      for (let at = 0; at < names.length; at++) pairs.push(list(usv(names[at]), usv(init[names[at]])));
      return pairs;
    }
    if (typeof iterate !== "function") throw host.error(TypeError, "ERR_ARG_NOT_ITERABLE", "Query pairs must be iterable");
    for (const each of init) {
      const pair = list();
      if (isObject(each) && typeof each[Symbol.iterator] === "function") for (const element of each) pair.push(usv(element));
      if (pair.length !== 2) throw host.error(TypeError, "ERR_INVALID_TUPLE", "Each query pair must be an iterable [name, value] tuple");
      pairs.push(pair);
    }
    return pairs;
  }

  class URLSearchParams {
    #pairs;
    /** What a URL does when its parameters have changed. */
    #changed;

    constructor(init = undefined) {
      this.#pairs = pairsOf(init);
    }

    get size() {
      return this.#pairs.length;
    }

    append(name, value) {
      if (arguments.length < 2) throw missingBoth();
      this.#pairs.push(list(usv(name), usv(value)));
      this.#update();
    }

    delete(name, value = undefined) {
      if (arguments.length === 0) throw host.missing("name");
      const isMeant = meant(name, value);
      this.#keep((pair) => !isMeant(pair));
      this.#update();
    }

    get(name) {
      if (arguments.length === 0) throw host.missing("name");
      return this.#find(meant(name))?.[1] ?? null;
    }

    getAll(name) {
      if (arguments.length === 0) throw host.missing("name");
      const isMeant = meant(name);
      const values = [];
      for (let at = 0; at < this.#pairs.length; at++) {
        if (isMeant(this.#pairs[at])) host.append(values, this.#pairs[at][1]);
      }
      return values;
    }

    has(name, value = undefined) {
      if (arguments.length === 0) throw host.missing("name");
      return this.#find(meant(name, value)) !== undefined;
    }

    set(name, value) {
      if (arguments.length < 2) throw missingBoth();
      const wanted = usv(name);
      const text = usv(value);
      const isMeant = meant(wanted);
      const first = this.#find(isMeant);
      if (first) {
        first[1] = text;
        this.#keep((pair) => !isMeant(pair) || pair === first);
      } else this.#pairs.push(list(wanted, text));
      this.#update();
    }

    sort() {
      this.#pairs.sort((one, other) => (one[0] < other[0] ? -1 : one[0] > other[0] ? 1 : 0));
      this.#update();
    }

    // Each goes on where it is, whatever happens to the list meanwhile.
    *entries() {
      for (let at = 0; at < this.#pairs.length; at++) yield [this.#pairs[at][0], this.#pairs[at][1]];
    }

    *keys() {
      for (let at = 0; at < this.#pairs.length; at++) yield this.#pairs[at][0];
    }

    *values() {
      for (let at = 0; at < this.#pairs.length; at++) yield this.#pairs[at][1];
    }

    forEach(callback, thisArg = undefined) {
      if (typeof callback !== "function") throw host.invalid("callback", "of type function", callback);
      for (let at = 0; at < this.#pairs.length; at++) {
        apply(callback, thisArg, [this.#pairs[at][1], this.#pairs[at][0], this]);
      }
    }

    toString() {
      const flat = list();
      for (let at = 0; at < this.#pairs.length; at++) flat.push(this.#pairs[at][0], this.#pairs[at][1]);
      return native.formatQuery(flat);
    }

    #find(isMeant) {
      for (let at = 0; at < this.#pairs.length; at++) if (isMeant(this.#pairs[at])) return this.#pairs[at];
      return undefined;
    }

    #keep(isKept) {
      const kept = list();
      for (let at = 0; at < this.#pairs.length; at++) if (isKept(this.#pairs[at])) kept.push(this.#pairs[at]);
      this.#pairs = kept;
    }

    #update() {
      if (this.#changed) this.#changed(this.toString());
    }

    static show(params, inspect) {
      let shown = "";
      for (let at = 0; at < params.#pairs.length; at++) {
        shown += (shown && ",") + " " + inspect(params.#pairs[at][0]) + " => " + inspect(params.#pairs[at][1]);
      }
      return "URLSearchParams {" + shown + (shown && " ") + "}";
    }

    static load(params, search) {
      params.#pairs = parsed(search);
    }

    static of(search, changed) {
      const params = new URLSearchParams(search);
      params.#changed = changed;
      return params;
    }
  }

  const missingBoth = () => host.error(TypeError, "ERR_MISSING_ARGS", 'The "name" and "value" arguments must be specified');
  const { load, of, show } = URLSearchParams;
  delete URLSearchParams.load;
  delete URLSearchParams.of;
  delete URLSearchParams.show;

  /** Which pairs have this name, and this value if one is given. */
  function meant(name, value = undefined) {
    const wanted = usv(name);
    const only = value === undefined ? undefined : usv(value);
    return (pair) => pair[0] === wanted && (only === undefined || pair[1] === only);
  }

  const hidden = (key, value, writable) => {
    defineProperty(URLSearchParams.prototype, key, { __proto__: null, value, writable, enumerable: false, configurable: true });
  };
  hidden(Symbol.toStringTag, "URLSearchParams", false);
  hidden(Symbol.iterator, URLSearchParams.prototype.entries, true);
  hidden(host.inspect.custom, function (depth, options, inspect) {
    return depth < 0 ? "[Object]" : show(this, inspect);
  }, true);

  return { URLSearchParams, load, of };
});
