//> [ 1 ] 7
//> DataCloneError

const shared = new SharedArrayBuffer(4);
const copy = structuredClone({ list: [1], word: new Int32Array(shared) });
new Int32Array(shared)[0] = 7;
console.log(copy.list, copy.word[0]);
try { structuredClone(() => {}); } catch (error) { console.log(error.name); }
