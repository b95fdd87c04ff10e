// An import that is not there.
//@ code: 1
//@ stderr has: No module named 'lodash', imported by
//@ stderr has: main.mjs. Built in
//@ stderr has: node:worker_threads
//@ stderr has: while loading
//@ stderr lacks: waitword:

import 'lodash';
