// The program is read from the device, and this file is not run.
//@ only on: unix
//@ command: run /dev/zero
//@ code: 1
//@ stderr has: /dev/zero is not source text: it begins with a NUL byte
