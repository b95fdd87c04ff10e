// What the engine does in one go is ended from outside: a search that compares 6 * 10^14 characters, for days.
//@ flags: --timeout 3
//@ code: 124
//@ stderr has: --timeout
//@ stderr has: cannot interrupt

"a".repeat(5e7).indexOf("a".repeat(2.5e7) + "b")
