// What the other parts share: an error with a code, as Node's are. The first part. Next: events.js.
(function (host) {
  "use strict";

  host.listenersChanged = Symbol("listenersChanged");
  host.error = (Type, code, message) => Object.assign(new Type(message), { code });
});
