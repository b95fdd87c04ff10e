// `navigator`, of which pages ask how many workers are worth while. A part that runs when it is first asked for.
(function (host) {
  "use strict";

  class Navigator {
    get hardwareConcurrency() {
      return host.native.parallelism();
    }
  }
  return { navigator: new Navigator() };
});
