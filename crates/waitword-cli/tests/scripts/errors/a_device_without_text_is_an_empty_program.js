// The program is read from the device, and this file is not run.
//@ only on: unix
//@ command: run /dev/null
