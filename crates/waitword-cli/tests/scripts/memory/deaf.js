// A program that goes on after its errors, until nothing is left even for one, is told so.
//@ flags: --memory-limit 4M
//@ code: 1
//@ stderr has: error: out of memory in main
//@ stderr has: help: raise --memory-limit

let all; for (;;) try { for (;;) all = [all]; } catch {}
