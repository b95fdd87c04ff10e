//@ command: WORDS
//@ each WORDS: run --no-such-flag a.js
//@ each WORDS: run
//@ each WORDS: walk
//@ code: 2
//@ stderr has: Usage: waitword
//@ stderr lacks: to run a file

