//> library inner
//> of the worker

const url = (text) => URL.createObjectURL(new Blob([text]));
const library = url("self.fromLibrary = 'library'");
const inner = url("postMessage('inner'); close()");
const outer = url(`
  onmessage = ({ data: { library, inner } }) => {
    importScripts(library);
    const mine = URL.createObjectURL(new Blob(["postMessage('of the worker'); close()"]));
    const worker = new Worker(inner + '#fragment');
    worker.onmessage = ({ data }) => postMessage([fromLibrary, data, mine]);
  };
`);
const worker = new Worker(outer);
worker.postMessage({ library, inner });
worker.onmessage = ({ data }) => {
  console.log(data[0], data[1]);
  new Worker(data[2]).onmessage = ({ data }) => {
    console.log(data);
    worker.terminate();
  };
};
