// `stack`, `Error.prepareStackTrace`, which is asked when the stack is read, and `Error.captureStackTrace`.
//@ flags: --main-can-block
//@ stdout: as on Node

{
  Error.prepareStackTrace = () => { throw new Error('psp') }; try { structuredClone(new Error('cl')); console.log('ok') } catch (e) { console.log('threw', e.message) }
  Error.prepareStackTrace = undefined;
}
{
  Error.prepareStackTrace = () => 'mine'; const e = new Error('late'); Error.prepareStackTrace = undefined; console.log(e.stack.split('\n')[0])
  Error.prepareStackTrace = undefined;
}
{
  Error.prepareStackTrace = (e, s) => s; const e = new Error('late'); console.log(Array.isArray(e.stack), e.stack === e.stack, typeof e.stack[0].getLineNumber())
  Error.prepareStackTrace = undefined;
}
{
  let n = 0; Error.prepareStackTrace = (e, s) => { n++; throw new Error('t') }; const e = new Error('late'); n = 0; for (let i = 0; i < 3; i++) try { e.stack } catch {} console.log(n)
  Error.prepareStackTrace = undefined;
}
{
  const o = {}; Error.captureStackTrace(o); console.log(o.stack.split('\n')[0], Object.keys(o), o.stack.includes('.js:1'))
  Error.prepareStackTrace = undefined;
}
{
  const o = { name: 'N', message: 'm' }; Error.captureStackTrace(o); console.log(o.stack.split('\n')[0])
  Error.prepareStackTrace = undefined;
}
{
  function a() { const o = {}; Error.captureStackTrace(o, a); return o.stack } function b() { return a() } console.log(/at b /.test(b()), /at a /.test(b()), Error.captureStackTrace.length, Error.captureStackTrace.name)
  Error.prepareStackTrace = undefined;
}
{
  Error.prepareStackTrace = (e, s) => [e, s.length > 0]; const o = {}; Error.captureStackTrace(o); console.log(o.stack[0] === o, o.stack[1]); o.stack = 5; console.log(o.stack)
  Error.prepareStackTrace = undefined;
}
{
  class E extends Error { constructor(m) { super(m); Error.captureStackTrace(this, E); this.name = 'E' } } console.log(new E('x').stack.split('\n')[0])
  Error.prepareStackTrace = undefined;
}
{
  try { Error.captureStackTrace(5) } catch (e) { console.log(e.name) }
  Error.prepareStackTrace = undefined;
}
{
  Error.prepareStackTrace = () => { throw new Error("psp"); };
  const shown = (f) => { try { console.log(f()); } catch (error) { console.log("threw", error.message); } };
  shown(() => new Error("real").message);
  shown(() => new Error("real").stack);
  shown(() => { try { null.x; } catch (error) { return error.name; } });
  shown(() => { try { null.x; } catch (error) { return error.stack; } });
  shown(() => { const error = new Error("set"); error.stack = "mine"; return error.stack; });
  process.on("uncaughtException", (error) => {
    console.log(error.name, error.message);
    shown(() => error.stack);
  });
  throw new Error("real");
}
