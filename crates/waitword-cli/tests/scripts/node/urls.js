// URL: what is parsed, what each part becomes when it is set, and how it is shown.
//@ flags: --main-can-block
//@ stdout: as on Node

const { fileURLToPath, pathToFileURL, URL: Url } = require("node:url");
const { inspect } = require("node:util");

const attempt = (work) => {
  try {
    return work();
  } catch (error) {
    return `${error.name} ${error.code} ${Object.keys(error)}`;
  }
};
const PARTS = ["href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash"];
const show = (title, url) => console.log(title, typeof url === "string" ? url : PARTS.map((part) => url[part]).join(" "));

// One per line: a reference, and a base if there is one.
const REFERENCES = [
  ["http://user:pa%3Ass@EXAMPLE.com:80/a/./b/../c?q=1#h"],
  ["https://example.com:443"],
  ["http://example.com:8080"],
  ["http://example.com:99999/"],
  ["http://b\u00fccher.example/\u00fc?\u00fc#\u00fc"],
  ["http://\u65e5\u672c.jp"],
  ["http://faß.example"],
  ["http://xn--zn7c.com"],
  ["http://%41%2f.com"],
  ["http://a b.com"],
  ["http://1.2.3"],
  ["http://0x7f.1"],
  ["http://256.1.1.1"],
  ["http://[::1]:3000/x"],
  ["http://[1:2:0:0:5:0:0:0]"],
  ["http://[bad]"],
  ["http://a//b///c"],
  ["http://a/%2e%2E/x/%2e/y"],
  ["http://a/b c\"<>`{}|^%zz"],
  ["http://a/?a b\"<>'`{}|#a b\"<>`{}"],
  ["http:\\\\a\\b"],
  ["http:/a"],
  ["http:a"],
  ["//other/p", "https://a/b"],
  ["../x?y", "http://a/b/c/d"],
  ["?y", "http://a/b?x#z"],
  ["#y", "http://a/b?x#z"],
  ["", "http://a/b?x#z"],
  [".", "file:///a/b"],
  ["C|/x", "file:///a/b"],
  ["//host/x", "file:///a/b"],
  ["file://localhost/x"],
  ["file:x"],
  ["  http://a/\t\n b  "],
  ["data:text/plain, a b#c d"],
  ["mailto:me@here?x"],
  ["blob:https://a:8/x"],
  ["blob:null/x"],
  ["javascript:alert( 1 )"],
  ["foo://h:1/../p?q"],
  ["foo:/a/../b"],
  ["foo:a/../b"],
  ["x", "foo:a"],
  ["#x", "foo:a"],
  ["ws://a:80/", undefined],
  ["wss://a:443/x"],
  ["ftp://a:21/"],
  ["http://\ud800/"],
  ["http://a/\ud800"],
  ["http://"],
  ["http://user@/x"],
  ["http://a:b:c@d"],
  ["relative"],
  ["", undefined],
  ["x", "y"],
];
for (const [reference, ...base] of REFERENCES) {
  show(JSON.stringify([reference, ...base]), attempt(() => new URL(reference, ...base)));
  console.log(URL.canParse(reference, ...base), URL.parse?.(reference, ...base)?.href ?? null);
}

const SET = [
  ["http://a/b", "href", "https://c/d?e"],
  ["http://a/b", "href", "nothing"],
  ["http://a:8080/b", "protocol", "https"],
  ["http://a:443/b", "protocol", "https:"],
  ["http://a/b", "protocol", "foo"],
  ["foo://a/b", "protocol", "http"],
  ["http://a/b", "username", "me@"],
  ["http://a/b", "password", "p:w"],
  ["file:///a", "username", "me"],
  ["http://a:1/b", "host", "c:2"],
  ["http://a:1/b", "host", "c"],
  ["http://a:1/b", "host", ""],
  ["http://a/b", "host", "x y"],
  ["http://a:1/b", "hostname", "c:2"],
  ["http://a:1/b", "hostname", "\u00fc.de"],
  ["mailto:x", "host", "a"],
  ["http://a:1/b", "port", "80"],
  ["http://a/b", "port", "90x"],
  ["http://a/b", "port", "x"],
  ["http://a/b", "port", "70000"],
  ["http://a:1/b", "port", ""],
  ["http://a/b", "pathname", "c/../d e?#"],
  ["mailto:x", "pathname", "y"],
  ["http://a/b", "search", "a b'"],
  ["http://a/b?x", "search", "?"],
  ["http://a/b?x", "search", ""],
  ["http://a/b", "hash", "#c d`"],
  ["http://a/b#x", "hash", ""],
  ["http://a/b", "origin", "http://c"],
];
for (const [href, part, value] of SET) {
  const url = new URL(href);
  show(JSON.stringify([href, part, value]), attempt(() => {
    url[part] = value;
    return url;
  }));
  console.log(url.href);
}

// Node shows the parameters of the query as well, which are not offered here.
const shown = (value) => inspect(value).replace(/\n +searchParams: .*/g, "");
const url = new URL("http://a:8/b?n=1#h");
console.log(shown(url), shown({ deep: { deeper: { url } } }), shown({ in: { in: { in: { url } } } }));
console.log(attempt(() => URL("a:")), attempt(() => new URL()), attempt(() => URL.canParse()), URL === Url, JSON.stringify([url]), `${url}`);
console.log(Object.keys(url), url instanceof URL, [..."url"].length);

for (const file of ["http://x", "file://h/x", "file:///a%2fb", "file:///a%20b%25", "file:///a%zz", 1, new URL("file:///%C3%BC"), null]) {
  console.log(attempt(() => fileURLToPath(file)));
}
for (const path of ["/a b/?#%\\\n\t\u00e9/", "/a/../b//c/", "/[x]{y}|^'~", "/", 1, undefined]) {
  console.log(attempt(() => pathToFileURL(path).href));
}
