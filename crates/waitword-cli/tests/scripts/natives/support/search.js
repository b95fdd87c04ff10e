// What a worker runs for days: a search that compares 6 * 10^14 characters. `go` is called right before.
const hay = "a".repeat(5e7), needle = "a".repeat(2.5e7) + "b";
exports.search = (go) => { try { go(); hay.indexOf(needle); } finally { console.log("never"); } };
