// Package json decides what a js file is.
//> function false

console.log(typeof require, this === undefined);
//@ file: package.json
{ not json
