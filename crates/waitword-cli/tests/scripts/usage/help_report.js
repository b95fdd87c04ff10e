//@ command: report --help
//> Show which threads and tasks wait for which lock in a running Rust program
//>
//> The program uses the locks of waitword, calls waitword_observe::init() in main, and was started with
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
//>           Print the report as JSON, with all waiters, in one line
//>
//>   -h, --help
//>           Print help (see a summary with '-h')
//>
//> The report has what can be concluded first (waiters that are not polled,
//> long waits, deadlocks), then the locks with the most waiters, each queue from
//> its head. The program goes on meanwhile.
//>
//> Examples:
//>   WAITWORD_OBSERVE=serve=/tmp/pool.sock pool &
//>   waitword report /tmp/pool.sock
//>   waitword report /tmp/pool.sock --json | jq '.findings'
//>
//> Exit codes:
//>     0  there was a report
//>     1  there was none: no such socket, nobody listens, or another program does;
//>        or it could not be written
//>     2  a mistake on the command line

