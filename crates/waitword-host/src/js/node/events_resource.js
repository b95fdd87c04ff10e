// EventEmitterAsyncResource of node:events. A part that runs when it is first asked for.
(function (host) {
  "use strict";

  const { apply, defineProperty } = host.safe;
  const { EventEmitter } = host;

  // There is no context that it could keep, as for AsyncResource itself.
  const { AsyncResource } = host.part("small_modules").async_hooks;

  class Resource extends AsyncResource {
    eventEmitter;

    constructor(emitter, name) {
      super(name);
      this.eventEmitter = emitter;
    }
  }
  defineProperty(Resource, "name", { __proto__: null, value: "EventEmitterReferencingAsyncResource", configurable: true });

  class EventEmitterAsyncResource extends EventEmitter {
    #resource;

    constructor(options = undefined) {
      const isNamed = typeof options === "string";
      if (!isNamed && new.target === EventEmitterAsyncResource && typeof options?.name !== "string") {
        throw host.invalid("options.name", "of type string", options?.name);
      }
      super(isNamed ? undefined : options);
      this.#resource = new Resource(this, isNamed ? options : options?.name || new.target.name);
    }

    emit(name, ...args) {
      const all = [super.emit, this, name];
      for (let at = 0; at < args.length; at++) host.append(all, args[at]);
      return apply(this.#resource.runInAsyncScope, this.#resource, all);
    }

    emitDestroy() {
      this.#resource.emitDestroy();
    }

    get asyncId() {
      return this.#resource.asyncId();
    }

    get triggerAsyncId() {
      return this.#resource.triggerAsyncId();
    }

    get asyncResource() {
      return this.#resource;
    }
  }

  return { EventEmitterAsyncResource };
});
