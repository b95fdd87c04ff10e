// The timeout ends a program wherever it is.
//@ flags: --timeout 0.2 --main-can-block
//@ each PLACE in places.txt
//@ code: 124
//@ stderr has: timed out: allow more with --timeout, or
//@ stderr lacks: cannot interrupt

PLACE
