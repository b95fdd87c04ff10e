//@ command: run --help
//> Run a JavaScript file: an ES module or a script, with node:worker_threads
//>
//> Usage: waitword run [OPTIONS] <FILE> [ARG]...
//>
//> Arguments:
//>   <FILE> [ARG]...
//>           The file to run, or - for the standard input, and what it finds in process.argv from
//>           position 2 on
//>
//>           A .mjs file is a module and a .cjs file a script; any other is what the "type" in the
//>           nearest package.json says, or a module if it uses import or export. Whatever follows the
//>           file belongs to the program, flags too.
//>
//> Options:
//>       --main-can-block
//>           Let Atomics.wait block the main agent too, as Node does
//>
//>           Without it, Atomics.wait on the main agent is a TypeError, as in a browser: there the main
//>           agent uses Atomics.waitAsync. Workers can always block.
//>
//>       --timeout <SECONDS>
//>           End the program after so many seconds, wherever it is, with exit code 124
//>
//>       --observe
//>           Show which agent waits where, and for whom, when the program hangs
//>
//>           A report on the standard error when no agent can go on any more, when the time of
//>           --timeout is up, and (on Unix) at each SIGUSR1 while the program runs: each word of shared
//>           memory that agents wait on, its queue, since when and from which line of the script, who
//>           holds it if it is used as a lock, and who notified it last. A worker that has ended while
//>           it held a lock is named. Atomics are slower: each looks up its line.
//>           WAITWORD_OBSERVE=serve=SOCKET in the environment does the same, and gives the report to
//>           "waitword report SOCKET" and "waitword top SOCKET".
//>
//>       --trace <FILE>
//>           Write a timeline of the waits and locks of all agents to FILE: ui.perfetto.dev and
//>           Firefox's profiler open it
//>
//>           A lane per agent, slices for waits and for words held as locks, an arrow from each notify
//>           to those that it woke; the last 200,000 steps. As costly as --observe, which it includes.
//>
//>       --memory-limit <SIZE>
//>           Give the scripts of each agent at most so much memory: 64M, 2G, or bytes
//>
//>           All that an agent makes counts: its values, its SharedArrayBuffers until the last agent
//>           lets go of them, and the messages that it posted until they are taken. Beyond it there is
//>           an InternalError, "out of memory"; a RangeError from SharedArrayBuffer, a DataCloneError
//>           from postMessage. What an agent starts with does not count.
//>
//>       --total-memory <SIZE>
//>           Give all agents together at most so much memory: 64M, 2G, or bytes
//>
//>           What --memory-limit counts of each agent comes out of this as well, and so does what each
//>           agent starts with (some 600 KiB; 1 MiB has to be left). Beyond it scripts get the same
//>           errors, and "new Worker" throws an Error with the code ERR_WORKER_INIT_FAILED. The stacks
//>           of the threads do not count.
//>
//>       --max-workers <N>
//>           Let at most so many workers be alive at a time, wherever they were made
//>
//>           Where one more is made, "new Worker" throws an Error with the code ERR_WORKER_INIT_FAILED;
//>           so it does when the system has no thread left.
//>
//>           [default: 1024]
//>
//>       --max-waits <N>
//>           Let each agent have at most so many pending promises of Atomics.waitAsync
//>
//>           Beyond it Atomics.waitAsync throws a RangeError where it would have to wait. There is no
//>           limit without this.
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
//>   ECMAScript 2024, files by import and require, timers, and the modules that
//>   docs/host.md lists. The same file runs on Node; one with the Worker of pages,
//>   in browsers.
//>
//> When a program ends:
//>   A pending Atomics.waitAsync with a timeout keeps it alive; one without a
//>   timeout does only while another agent could still notify it. When nothing can
//>   happen any more, the program ends and says which waits it abandoned.
//>
//> Exit codes:
//>     0  the program ended; also if all that was left were promises of
//>        Atomics.waitAsync that no agent can notify any more (they are listed)
//>     1  an uncaught error, here or in a worker, among them those of
//>        the limits; a file that cannot be read or parsed;
//>        a deadlock: every agent blocked or waiting for another; with --observe,
//>        also an end in which a lock is held by an agent that has ended
//>     2  a mistake on the command line
//>    13  the main module awaits a promise that can never be settled
//>   124  the time of --timeout was up (what was pending is listed)
//>   141  the reader of the program's output has gone
//>     n  process.exit(n), or process.exitCode = n

