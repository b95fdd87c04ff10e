// Package json decides what a js file is.
//> undefined true

console.log(typeof require, this === undefined);
//@ file: package.json
{ "type": "module" }
