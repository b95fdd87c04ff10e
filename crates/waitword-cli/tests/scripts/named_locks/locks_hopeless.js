// Locks by name are for all agents.
//@ stderr has: all agents wait for messages

const { locks } = require('worker_threads'); const forever = () => new Promise(() => {});
locks.request('one', forever); locks.request('one', forever);
