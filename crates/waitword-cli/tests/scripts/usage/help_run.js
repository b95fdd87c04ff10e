//@ command: run --help
//> Run a JavaScript file: an ES module or a script, with node:worker_threads
//>
//> Usage: waitword run [OPTIONS] <FILE> [ARG]...
//>
//> Arguments:
//>   <FILE> [ARG]...
//>           The file to run (- for standard input), and the program's arguments, in process.argv from
//>           position 2 on
//>
//>           A .mjs file is a module and a .cjs file a script. For other files, the "type" in the
//>           nearest package.json decides; without it, a file that uses import or export is a module.
//>           Everything after the file is passed to the program, flags too.
//>
//> Options:
//>       --main-can-block
//>           Let Atomics.wait block the main agent, as in Node
//>
//>           Without this flag, Atomics.wait throws a TypeError on the main agent, as in a browser; use
//>           Atomics.waitAsync there. Workers can always block.
//>
//>       --timeout <SECONDS>
//>           End the program after this time, even inside a loop or a wait, with exit code 124
//>
//>       --observe
//>           Report which agent waits where, and for whom, when the program hangs
//>
//>           Prints a report to standard error when no agent can continue, when --timeout is reached,
//>           and (on Unix) at each SIGUSR1. For each word of shared memory with waiters it shows the
//>           queue, the age and the script line of each wait, the holder if the word is used as a lock,
//>           and the last agent that notified it. A worker that ended while it held a lock is named.
//>           Operations of Atomics are slower, because each looks up its script line.
//>           WAITWORD_OBSERVE=serve=SOCKET in the environment does the same, and serves the report to
//>           "waitword report SOCKET" and "waitword top SOCKET".
//>
//>       --trace <FILE>
//>           Write a timeline of all agents' waits and locks to FILE, for ui.perfetto.dev or Firefox's
//>           profiler
//>
//>           It has a lane per agent, slices for waits and for words held as locks, and an arrow from
//>           each notify to the waits that it woke. The last 200,000 steps are kept. Includes
//>           --observe, and costs as much.
//>
//>       --memory-limit <SIZE>
//>           Limit the memory of each agent's scripts: 64M, 2G, or bytes
//>
//>           Counts all that an agent creates: its values, its SharedArrayBuffers until the last agent
//>           drops them, and the messages that it posted until they are received. What an agent starts
//>           with does not count. Beyond the limit, scripts get an InternalError "out of memory";
//>           SharedArrayBuffer throws a RangeError, postMessage a DataCloneError.
//>
//>       --total-memory <SIZE>
//>           Limit the memory of all agents together: 64M, 2G, or bytes
//>
//>           Counts what --memory-limit counts for each agent, and what each agent starts with (about
//>           600 KiB; a new agent needs 1 MiB). The stacks of the threads do not count. Beyond the
//>           limit, scripts get the same errors, and "new Worker" throws an Error with the code
//>           ERR_WORKER_INIT_FAILED.
//>
//>       --max-workers <N>
//>           Limit the number of live workers in the program, whichever agent created them
//>
//>           Beyond the limit, "new Worker" throws an Error with the code ERR_WORKER_INIT_FAILED. It
//>           also does so if the system cannot start another thread.
//>
//>           [default: 1024]
//>
//>       --max-waits <N>
//>           Limit the number of pending Atomics.waitAsync promises of each agent
//>
//>           Beyond the limit, Atomics.waitAsync throws a RangeError if it would have to wait. Without
//>           this flag there is no limit.
//>
//>   -h, --help
//>           Print help (see a summary with '-h')
//>
//> Examples:
//>   waitword run examples/article/async-lock.js
//>   waitword run --main-can-block demo.mjs one two
//>   waitword run --timeout 10 --memory-limit 64M --max-workers 16 untrusted.js
//>   generate-program | waitword run - one two
//>   waitword run --observe --timeout 60 hangs-sometimes.mjs
//>
//> What programs can use:
//>   ECMAScript 2024, files by import and require, timers, and the modules listed
//>   in docs/host.md. The same file runs on Node or, if it uses the Worker of web
//>   pages, in browsers.
//>
//> When a program ends:
//>   A pending Atomics.waitAsync with a timeout keeps the program alive. One without
//>   a timeout does so only while another agent could still notify it. When nothing
//>   can happen any more, the program ends and lists the waits that it abandoned.
//>
//> Exit codes:
//>     0  the program ended; or only Atomics.waitAsync promises were left that no
//>        agent can notify any more (they are listed)
//>     1  an uncaught error in the main agent or a worker, including those of the
//>        limits; a file that cannot be read or parsed; a deadlock (every agent is
//>        blocked or waits for another); with --observe, also a program that ends
//>        while an agent that has ended holds a lock
//>     2  invalid command line
//>    13  the main module awaits a promise that can never be settled
//>   124  --timeout was reached (what was pending is listed)
//>   141  the reader of the program's output closed it
//>     n  process.exit(n), or process.exitCode = n

