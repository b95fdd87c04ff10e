// A page and its worker hear of errors and rejections and may deal with them.
//> true true
//> unhandledrejection Error: r true
//> onerror Uncaught TypeError: x 9 TypeError
//> Uncaught Error: reported true

const text = `
  onerror = (message, file, line, column, error) => {
    postMessage(["onerror", message, line, error.name]);
    return true;
  };
  addEventListener("unhandledrejection", (event) => {
    postMessage(["unhandledrejection", String(event.reason), event.promise instanceof Promise]);
    event.preventDefault();
    setTimeout(() => { setTimeout(close); throw new TypeError("x"); });
  });
  Promise.reject(new Error("r"));`;
const worker = new Worker("data:text/javascript;base64," + btoa(text));
worker.onmessage = ({ data }) => {
  console.log(...data);
  if (data[0] === "onerror") reportError(new Error("reported"));
};
addEventListener("error", (event) => {
  console.log(event.message, event instanceof ErrorEvent);
  event.preventDefault();
});
console.log(crossOriginIsolated, navigator.hardwareConcurrency > 0);
