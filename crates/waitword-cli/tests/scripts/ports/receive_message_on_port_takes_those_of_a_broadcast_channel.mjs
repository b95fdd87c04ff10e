//> { message: { v: 1 } } { message: 2 } undefined
//@ node: same

import { BroadcastChannel, receiveMessageOnPort } from "node:worker_threads";

const [one, other] = [new BroadcastChannel("room"), new BroadcastChannel("room")];
other.postMessage({ v: 1 });
other.postMessage(2);
console.log(receiveMessageOnPort(one), receiveMessageOnPort(one), receiveMessageOnPort(one));
one.close();
other.close();
