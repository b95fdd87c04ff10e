// URLSearchParams: a list of pairs, and of a URL's its query. A part that runs when it is first asked for.
(function (host) {
  "use strict";

  const { Symbol, TypeError, apply, defineProperty, list, ownKeys, slice } = host.safe;
  const { native } = host;
  const { custom } = host.inspect;
  const IteratorPrototype = host.iteratorPrototype;

  const { usv } = host;
  const tuple = () => host.error(TypeError, "ERR_INVALID_TUPLE", "Each query pair must be an iterable [name, value] tuple");
  const isObject = (value) => (typeof value === "object" && value !== null) || typeof value === "function";

  function parsed(text) {
    const flat = native.parseQuery(text);
    const pairs = list();
    for (let at = 0; at < flat.length; at += 2) pairs.push(list(flat[at], flat[at + 1]));
    return pairs;
  }

  const withoutMark = (text) => (text[0] === "?" ? apply(slice, text, [1]) : text);

  class URLSearchParams {
    #pairs = list();
    /** What a URL does when its parameters have changed. */
    #changed;

    constructor(init = undefined) {
      if (init === undefined || init === null) return;
      if (!isObject(init)) {
        this.#pairs = parsed(withoutMark(usv(init)));
        return;
      }
      const iterate = init[Symbol.iterator];
      if (iterate === undefined || iterate === null) return this.#fromRecord(init);
      if (typeof iterate !== "function") throw host.error(TypeError, "ERR_ARG_NOT_ITERABLE", "Query pairs must be iterable");
      for (const each of init) {
        if (!isObject(each) || typeof each[Symbol.iterator] !== "function") throw tuple();
        const pair = list();
        for (const element of each) pair.push(usv(element));
        if (pair.length !== 2) throw tuple();
        this.#pairs.push(pair);
      }
    }

    #fromRecord(record) {
      const keys = ownKeys(record);
      for (let at = 0; at < keys.length; at++) {
        const own = host.descriptor(record, keys[at]);
        if (own === undefined || !own.enumerable) continue;
        const name = usv(keys[at]);
        const value = usv(record[keys[at]]);
        const known = this.#find(name);
        // Two keys with lone surrogates may become the same name.
        if (known) known[1] = value;
        else this.#pairs.push(list(name, value));
      }
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
      const wanted = usv(name);
      const only = value === undefined ? undefined : usv(value);
      this.#keep((pair) => pair[0] !== wanted || (only !== undefined && pair[1] !== only));
      this.#update();
    }

    get(name) {
      if (arguments.length === 0) throw host.missing("name");
      const pair = this.#find(usv(name));
      return pair ? pair[1] : null;
    }

    getAll(name) {
      if (arguments.length === 0) throw host.missing("name");
      const wanted = usv(name);
      const values = [];
      for (let at = 0; at < this.#pairs.length; at++) {
        if (this.#pairs[at][0] === wanted) host.append(values, this.#pairs[at][1]);
      }
      return values;
    }

    has(name, value = undefined) {
      if (arguments.length === 0) throw host.missing("name");
      return this.#find(usv(name), value === undefined ? undefined : usv(value)) !== undefined;
    }

    set(name, value) {
      if (arguments.length < 2) throw missingBoth();
      const wanted = usv(name);
      const text = usv(value);
      const first = this.#find(wanted);
      if (first) {
        first[1] = text;
        this.#keep((pair) => pair[0] !== wanted || pair === first);
      } else this.#pairs.push(list(wanted, text));
      this.#update();
    }

    sort() {
      this.#pairs.sort((one, other) => (one[0] < other[0] ? -1 : one[0] > other[0] ? 1 : 0));
      this.#update();
    }

    entries() {
      return new Pairs(this.#pairs && this, "entries");
    }

    forEach(callback, thisArg = undefined) {
      if (typeof callback !== "function") throw host.invalid("callback", "of type function", callback);
      for (let at = 0; at < this.#pairs.length; at++) {
        apply(callback, thisArg, [this.#pairs[at][1], this.#pairs[at][0], this]);
      }
    }

    keys() {
      return new Pairs(this.#pairs && this, "keys");
    }

    values() {
      return new Pairs(this.#pairs && this, "values");
    }

    toString() {
      const flat = list();
      for (let at = 0; at < this.#pairs.length; at++) {
        flat.push(this.#pairs[at][0]);
        flat.push(this.#pairs[at][1]);
      }
      return native.formatQuery(flat);
    }

    #find(name, value) {
      for (let at = 0; at < this.#pairs.length; at++) {
        const pair = this.#pairs[at];
        if (pair[0] === name && (value === undefined || pair[1] === value)) return pair;
      }
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

    static pair(params, at) {
      return params.#pairs[at];
    }

    static load(params, search) {
      params.#pairs = parsed(withoutMark(search));
    }

    static of(search, changed) {
      const params = new URLSearchParams();
      load(params, search);
      params.#changed = (query) => changed(query);
      return params;
    }
  }

  const missingBoth = () => host.error(TypeError, "ERR_MISSING_ARGS", 'The "name" and "value" arguments must be specified');
  const { load, of, pair } = URLSearchParams;
  delete URLSearchParams.pair;
  delete URLSearchParams.load;
  delete URLSearchParams.of;

  /** Goes on where it is, whatever happens to the list meanwhile. */
  class Pairs {
    #params;
    #kind;
    #at = 0;

    constructor(params, kind) {
      this.#params = params;
      this.#kind = kind;
    }

    next() {
      const value = this.#item(this.#at);
      if (value === undefined) return { value, done: true };
      this.#at += 1;
      return { value, done: false };
    }

    #item(at) {
      const found = pair(this.#params, at);
      if (found === undefined) return undefined;
      return this.#kind === "entries" ? [found[0], found[1]] : found[this.#kind === "keys" ? 0 : 1];
    }

    static show(pairs, inspect) {
      let shown = "";
      for (let at = pairs.#at; pairs.#item(at) !== undefined; at++) {
        shown += (shown === "" ? "" : ", ") + inspect(pairs.#item(at));
      }
      return "URLSearchParams Iterator { " + shown + " }";
    }
  }
  const showPairs = Pairs.show;
  delete Pairs.show;
  delete Pairs.prototype.constructor;
  host.prototypeOf(Pairs.prototype, IteratorPrototype);
  host.enumerable(Pairs.prototype, ["next"]);
  host.tag(Pairs, "URLSearchParams Iterator");
  host.tag(URLSearchParams, "URLSearchParams");

  host.enumerable(URLSearchParams.prototype,
    ["size", "append", "delete", "get", "getAll", "has", "set", "sort", "entries", "forEach", "keys", "values", "toString"]);
  const hidden = (object, key, value) => {
    defineProperty(object, key, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
  };
  hidden(URLSearchParams.prototype, Symbol.iterator, URLSearchParams.prototype.entries);
  hidden(Pairs.prototype, custom, function (depth, options, inspect) {
    return depth < 0 ? "[Object]" : showPairs(this, inspect);
  });
  hidden(URLSearchParams.prototype, custom, function (depth, options, inspect) {
    if (depth < 0) return "[Object]";
    const items = list();
    let length = -2;
    for (let at = 0; pair(this, at) !== undefined; at++) {
      const item = inspect(pair(this, at)[0]) + " => " + inspect(pair(this, at)[1]);
      items.push(item);
      length += item.length + 2;
    }
    if (items.length === 0) return "URLSearchParams {}";
    if (length <= 128) return "URLSearchParams { " + items.join(", ") + " }";
    return "URLSearchParams {\n  " + items.join(",\n  ") + " }";
  });

  return { URLSearchParams, load, of };
});
