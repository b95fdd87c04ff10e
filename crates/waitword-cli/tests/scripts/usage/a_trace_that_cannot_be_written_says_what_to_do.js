//@ command: COMMAND
//@ each COMMAND SAID ADVICE: run --trace missing/x.json main.js | the trace cannot be written to | check the name and the directory
//@ each COMMAND SAID ADVICE: run --trace . main.js | the trace cannot be written to | name a file in it
//@ each COMMAND SAID ADVICE: trace no.sock -o missing/x.json | cannot be written: | check the name and the directory
//@ each COMMAND SAID ADVICE: trace no.sock -o . | cannot be written: | name a file in it
//@ code: 1
//@ stderr has: SAID
//@ stderr has: ADVICE

