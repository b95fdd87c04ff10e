// In JSON, and before `#!`, it would be an error.
//> 1

﻿#!/usr/bin/env waitword
console.log(require('./data.json').a);
//@ file: data.json
﻿{ "a": 1 }
