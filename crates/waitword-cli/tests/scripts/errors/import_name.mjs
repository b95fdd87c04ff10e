// An import that is not there.
//@ code: 1
//@ stderr has: 'nope'
//@ stderr has: while loading
//@ stderr has: main.mjs

import { nope } from 'node:worker_threads';
