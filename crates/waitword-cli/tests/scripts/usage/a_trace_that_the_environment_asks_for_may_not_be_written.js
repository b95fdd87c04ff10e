// The program runs all the same.
//@ environment: WAITWORD_OBSERVE=trace=FILE
//@ each FILE ADVICE: missing/x.json | check the path
//@ each FILE ADVICE: . | name a file in it
//@ stderr has: waitword: no trace at FILE:
//@ stderr has: ADVICE
//> ran

console.log("ran");
