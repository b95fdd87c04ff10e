//@ command: report --help
//> Show which threads and tasks of a running Rust program wait for which lock
//>
//> The program uses waitword's locks, calls waitword_observe::init() in main, and was started with
//> WAITWORD_OBSERVE=serve=SOCKET in its environment (or calls waitword_observe::serve).
//>
//> Usage: waitword report [OPTIONS] <SOCKET>
//>
//> Arguments:
//>   <SOCKET>
//>           The path of the program's socket
//>
//> Options:
//>       --json
//>           Print the report as one line of JSON, with all waiters
//>
//>   -h, --help
//>           Print help (see a summary with '-h')
//>
//> The report begins with its findings (waiters that are not polled, long waits,
//> deadlocks). The locks with the most waiters follow, each queue from its head.
//> The program is not stopped.
//>
//> Examples:
//>   WAITWORD_OBSERVE=serve=/tmp/pool.sock pool &
//>   waitword report /tmp/pool.sock
//>   waitword report /tmp/pool.sock --json | jq '.findings'
//>
//> Exit codes:
//>     0  the report was printed
//>     1  there is no report: no such socket, the program has ended, or another
//>        program answered; or the report cannot be written
//>     2  invalid command line

