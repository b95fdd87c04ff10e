//@ code: 1
//@ stderr has: SyntaxError
//@ stderr has: main.js:2:22\n
//@ stderr has: 2 | let é = "ü"; let y = = 2;\n  |                      ^\n

let x = 1;
let é = "ü"; let y = = 2;
