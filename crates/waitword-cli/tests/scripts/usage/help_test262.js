//@ command: test262 --help
//> Run test262, the conformance suite of ECMAScript, and compare with what is known
//>
//> Usage: waitword test262 [OPTIONS] <DIR> [PATH]...
//>
//> Arguments:
//>   <DIR>
//>           The folder with a checkout of test262, which is only read
//>
//>   [PATH]...
//>           Tests, or folders of tests, such as test/built-ins/Atomics [default: what the snapshots
//>           cover]
//>
//>           They count from DIR, or from test in it. Without any, and without snapshots, all tests are
//>           run.
//>
//> Options:
//>   -j, --jobs <N>
//>           How many tests run at a time [default: as many as there are processor cores]
//>
//>           Tests of agents mostly sleep, so more than there are cores may be faster.
//>
//>       --time-limit <SECONDS>
//>           After so many seconds a test has failed
//>
//>           [default: 60]
//>
//>       --snapshots <DIR>
//>           The folder of snapshots [default: conformance]
//>
//>           Each *.txt in it names the paths that it covers and lists the tests below them that do not
//>           pass. Tests that no snapshot covers have to pass.
//>
//>       --update
//>           Write what was found into the snapshots, instead of comparing
//>
//>           Rewrites those snapshots of which all paths were run. To begin a new one, write a file
//>           with a line such as `path test/built-ins/Atomics`.
//>
//>       --json
//>           Print one JSON object, with every test, instead of text
//>
//>   -h, --help
//>           Print help (see a summary with '-h')
//>
//> Examples:
//>   git clone --depth 1 https://github.com/tc39/test262
//>   waitword test262 test262
//>   waitword test262 test262 test/built-ins/Atomics/waitAsync --jobs 8
//>   waitword test262 test262 --update && git diff conformance
//>
//> How tests run:
//>   Each in a process of its own, in sloppy and in strict mode unless its flags say
//>   otherwise. $262 has agent, createRealm, detachArrayBuffer, evalScript, gc,
//>   global and IsHTMLDDA. The main agent can block, but for tests with the flag
//>   CanBlockIsFalse. Tests of features that the engine does not have are skipped.
//>
//> Exit codes:
//>     0  everything is as the snapshots say; with --update, they were written
//>     1  something is not as the snapshots say, or fails and no snapshot knows it
//>     2  a mistake on the command line; no checkout there, no such tests, a
//>        snapshot that cannot be read or written

