//@ stdout: sorted
//> ""
//> TypeError
//> TypeError
//> TypeError
//> true null 1 true null 0

for (const bad of [() => new BroadcastChannel(Symbol()), () => new BroadcastChannel(), () => BroadcastChannel("x")]) {
  try { console.log(bad()); } catch (error) { console.log(error.name); }
}
const [one, other] = [new BroadcastChannel(null), new BroadcastChannel("null")];
other.onmessage = (event) => {
  console.log(event.origin === origin, event.origin, event.data, event.target === other, event.source, event.ports.length);
  one.close();
  other.close();
};
one.postMessage(1);
const { port1, port2 } = new MessageChannel();
port2.onmessage = (event) => { console.log(JSON.stringify(event.origin)); port2.close(); };
port1.postMessage(1);
