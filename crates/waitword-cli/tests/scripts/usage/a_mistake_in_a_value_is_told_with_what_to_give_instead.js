//@ command: COMMAND FLAG VALUE a.js
//@ each COMMAND FLAG VALUE ADVICE: run | --timeout | 0 | greater than 0
//@ each COMMAND FLAG VALUE ADVICE: run | --timeout | -1 | greater than 0
//@ each COMMAND FLAG VALUE ADVICE: run | --timeout | soon | greater than 0
//@ each COMMAND FLAG VALUE ADVICE: run | --timeout | NaN | greater than 0
//@ each COMMAND FLAG VALUE ADVICE: run | --timeout | 1e30 | greater than 0
//@ each COMMAND FLAG VALUE ADVICE: run | --memory-limit | -1 | or a number followed by K, M or G
//@ each COMMAND FLAG VALUE ADVICE: run | --memory-limit | 12X | or a number followed by K, M or G
//@ each COMMAND FLAG VALUE ADVICE: run | --memory-limit | 0 | greater than 0
//@ each COMMAND FLAG VALUE ADVICE: run | --memory-limit | 99999999999G | the number is too large
//@ each COMMAND FLAG VALUE ADVICE: run | --memory-limit | 99999999999999999999 | the number is too large
//@ each COMMAND FLAG VALUE ADVICE: run | --total-memory | -1 | or a number followed by K, M or G
//@ each COMMAND FLAG VALUE ADVICE: run | --total-memory | much | or a number followed by K, M or G
//@ each COMMAND FLAG VALUE ADVICE: run | --total-memory | 0 | greater than 0
//@ each COMMAND FLAG VALUE ADVICE: run | --total-memory | 99999999999999999999 | the number is too large
//@ each COMMAND FLAG VALUE ADVICE: run | --max-workers | -1 | expected a whole number, such as 16
//@ each COMMAND FLAG VALUE ADVICE: run | --max-workers | 1.5 | expected a whole number, such as 16
//@ each COMMAND FLAG VALUE ADVICE: run | --max-workers | 16M | expected a whole number, such as 16
//@ each COMMAND FLAG VALUE ADVICE: run | --max-workers | 99999999999999999999 | the number is too large
//@ each COMMAND FLAG VALUE ADVICE: run | --max-waits | -1 | expected a whole number, such as 16
//@ each COMMAND FLAG VALUE ADVICE: run | --max-waits | 99999999999999999999 | the number is too large
//@ each COMMAND FLAG VALUE ADVICE: test262 | --jobs | -1 | expected a whole number, such as 16
//@ each COMMAND FLAG VALUE ADVICE: test262 | --jobs | 0 | greater than 0
//@ code: 2
//@ stderr has: invalid value 'VALUE' for 'FLAG <
//@ stderr has: ADVICE

