// A module is its URL: with another query or fragment a file is another module.
//@ flags: --main-can-block
//@ stdout: as on Node

import * as asWritten from "./support/instance.mjs?static#1";

const last = (url) => url.slice(url.search(/[^/\\]*$/));
const show = (name, { number, url, filename, file, shared }) =>
  console.log(name, number, last(url), last(filename), file(), shared === asWritten.shared);

show("static", asWritten);
const folder = new URL("support/", import.meta.url).href;
const names = ["", "?1", "#1", "?1#1", "?2#", "?", "?#", "?1", "?static#1", "?a b", "?%61"].map((suffix) => "./support/instance.mjs" + suffix);
names.push("./support/none/../instance.mjs?1", "./support/inst%61nce.mjs", "./support/inst%61nce.mjs?1");
names.push(folder + "instance.mjs", folder + "instance.mjs?1", folder + "instance.mjs?3", folder.slice("file://".length) + "instance.mjs?3");
for (const name of names) show(last(name), await import(name));

// A require cache knows files.
const scripts = [await import("./support/instance.cjs"), await import("./support/instance.cjs?1")];
console.log(scripts[0] === scripts[1], scripts[0].own === scripts[1].own, last(scripts[1].filename));
const type = { with: { type: "json" } };
const values = [await import("./support/instance.json", type), await import("./support/instance.json?1", type)];
console.log(values[0] === values[1], values[0].default.own === values[1].default.own);

// What is escaped is a part of the name, and no query.
for (const name of ["gone.mjs?1", "instance.mjs%3F1", "instance.mjs%231", "instance?.mjs"]) {
  await import("./support/" + name).then(() => console.log("found"), ({ name, code }) => console.log(name, code));
}
