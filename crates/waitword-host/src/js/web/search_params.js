// URLSearchParams. A part that runs when it is first asked for.
(function (host) {
  "use strict";

  const { String, Symbol, decodeURIComponent, encodeURIComponent } = globalThis;
  const { list } = host.safe;

  const decoded = (text) => {
    const spaced = text.replaceAll("+", " ");
    try {
      return decodeURIComponent(spaced);
    } catch {
      return spaced;
    }
  };
  const encoded = (text) => encodeURIComponent(text.toWellFormed()).replaceAll("%20", "+")
    .replace(/[!'()~]/g, (each) => "%" + each.charCodeAt(0).toString(16).toUpperCase());

  class URLSearchParams {
    #pairs = list();

    constructor(init = "") {
      if (typeof init === "object" && init !== null) {
        const pairs = typeof init[Symbol.iterator] === "function" ? init : Object.entries(init);
        for (const [name, value] of pairs) this.append(name, value);
        return;
      }
      for (const each of String(init).replace(/^\?/, "").split("&")) {
        if (each === "") continue;
        const at = each.indexOf("=");
        this.append(decoded(at < 0 ? each : each.slice(0, at)), at < 0 ? "" : decoded(each.slice(at + 1)));
      }
    }

    get size() {
      return this.#pairs.length;
    }

    append(name, value) {
      this.#pairs.push([String(name), String(value)]);
    }

    delete(name) {
      this.#keep(([each]) => each !== String(name));
    }

    get(name) {
      return this.getAll(name)[0] ?? null;
    }

    getAll(name) {
      return [...this].filter(([each]) => each === String(name)).map(([, value]) => value);
    }

    has(name) {
      return this.getAll(name).length > 0;
    }

    set(name, value) {
      let isFirst = true;
      const pair = this.#pairs.find(([each]) => each === String(name));
      if (!pair) return this.append(name, value);
      pair[1] = String(value);
      this.#keep(([each]) => each !== pair[0] || (isFirst && !(isFirst = false)));
    }

    sort() {
      this.#pairs.sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
    }

    forEach(call, self) {
      for (const [name, value] of this) call.call(self, value, name, this);
    }

    *keys() {
      for (const [name] of this) yield name;
    }

    *values() {
      for (const [, value] of this) yield value;
    }

    *entries() {
      for (let at = 0; at < this.#pairs.length; at++) yield [...this.#pairs[at]];
    }

    [Symbol.iterator]() {
      return this.entries();
    }

    toString() {
      return [...this].map(([name, value]) => encoded(name) + "=" + encoded(value)).join("&");
    }

    #keep(wanted) {
      const left = list();
      for (let at = 0; at < this.#pairs.length; at++) if (wanted(this.#pairs[at])) left.push(this.#pairs[at]);
      this.#pairs = left;
    }
  }
  return { URLSearchParams };
});
