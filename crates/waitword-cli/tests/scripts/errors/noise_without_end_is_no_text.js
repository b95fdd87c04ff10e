// The program is read from the device, and this file is not run. The noise may begin with a NUL byte.
//@ only on: unix
//@ command: run /dev/urandom
//@ code: 1
//@ stderr has: /dev/urandom is no
