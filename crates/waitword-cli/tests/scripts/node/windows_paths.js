// Paths and file URLs of both systems, whichever this is: pure functions of strings.
//@ flags: --main-can-block
//@ stdout: as on Node

const path = require("node:path");
const { fileURLToPath, pathToFileURL } = require("node:url");

const attempt = (work) => {
  try {
    return work();
  } catch (error) {
    return `${error.name} ${error.code} ${error.message}`;
  }
};
const show = (...parts) => console.log(parts.map((part) => JSON.stringify(part)).join(" "));

console.log(path === path.posix || path === path.win32, path.win32.win32 === path.win32, path.posix.win32 === path.win32);
console.log(require("node:path/win32") === path.win32, require("node:path/posix") === path.posix);

const PATHS = [
  "", ".", "..", "a", "/", "\\", "/a/b.c.d/", "C:", "C:\\", "c:/", "C:a", "C:\\a\\..\\..\\b", "C:/a//b\\.\\c.js", "a\\..\\C:\\x",
  "\\\\server\\share", "\\\\server\\share\\a\\b", "//server/share/../a", "\\\\server", "\\\\?\\C:\\a\\..\\b", "\\\\.\\pipe\\x",
  "..\\..\\a\\", "./x.js", ".\\x.js", ".hidden", "a.b.", "x\\y/z.tar.gz",
];
for (const form of ["posix", "win32"]) {
  const { sep, delimiter, normalize, isAbsolute, dirname, basename, extname, parse, join } = path[form];
  show(form, sep, delimiter);
  for (const each of PATHS) {
    show(each, normalize(each), isAbsolute(each), extname(each), join(each, "..", "e.js"));
    // What Node makes of the top of a drive or of a device, nobody asks for.
    if (!each.startsWith("\\\\?") && !each.startsWith("\\\\.") && each !== "C:\\" && each !== "c:/") show(dirname(each), basename(each), basename(each, ".js"), parse(each));
  }
}
const { win32 } = path;
show(win32.join("\\", "server", "share"), win32.join("\\\\server", "share", "a"), win32.join("a", "", "b"));
show(win32.resolve("C:\\a", "..\\b", "./c"), win32.resolve("C:\\a", "\\b"), win32.resolve("C:\\a", "D:\\b", "C:c"), win32.resolve("C:\\a", "C:b"));
show(win32.resolve("\\\\server\\share\\a", "..\\..\\b"), win32.resolve("C:\\a", "//server/share/b", "c"));
show(win32.relative("C:\\a\\b\\c", "c:\\A\\d"), win32.relative("C:\\a", "D:\\b"), win32.relative("C:\\a", "C:\\a\\"));
show(win32.format({ dir: "C:\\a", base: "b" }), win32.format({ root: "C:\\", name: "b", ext: ".c" }));

const windows = true;
for (const file of ["C:\\a b\\c#d?%.js", "C:/a/b/", "\\\\server\\share\\a b.js", "D:\\x\\..\\y\\"]) {
  const url = pathToFileURL(file, { windows });
  show(file, url.href, attempt(() => fileURLToPath(url, { windows })));
}
for (const url of ["file:///C:/a%20b/c.js", "file://server/share/a.js", "file:///a/b", "file:///C:/a%5Cb", "file:///C:/a%2Fb", "http://a/"]) {
  show(url, attempt(() => fileURLToPath(url, { windows })));
}
show(pathToFileURL("/a\\b c", { windows: false }).href, fileURLToPath("file:///C:/a%5Cb", { windows: false }));
