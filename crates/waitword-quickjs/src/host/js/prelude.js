// What the other parts share: output, and errors with a code, as Node's are. The first part. Next: events.js.
(function (host) {
  "use strict";

  host.listenersChanged = Symbol("listenersChanged");
  // Lone surrogates have no bytes in UTF-8.
  host.write = (stream, text) => host.native.write(stream, text.toWellFormed());
  host.error = (Type, code, message) => Object.assign(new Type(message), { code });
});
