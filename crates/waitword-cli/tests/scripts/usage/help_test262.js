//@ command: test262 --help
//> Run test262, the conformance suite of ECMAScript, and compare the results with snapshots
//>
//> Usage: waitword test262 [OPTIONS] <DIR> [PATH]...
//>
//> Arguments:
//>   <DIR>
//>           The folder with a checkout of test262, which is not modified
//>
//>   [PATH]...
//>           Tests or folders of tests, such as test/built-ins/Atomics [default: what the snapshots
//>           cover]
//>
//>           Paths are relative to DIR or to DIR/test. Without paths and without snapshots, all tests
//>           run.
//>
//> Options:
//>   -j, --jobs <N>
//>           How many tests run at a time [default: the number of processor cores]
//>
//>           More may be faster, because tests of agents mostly sleep.
//>
//>       --time-limit <SECONDS>
//>           The time after which a test counts as failed
//>
//>           [default: 60]
//>
//>       --snapshots <DIR>
//>           The folder of snapshots [default: conformance]
//>
//>           Each *.txt in it names the paths that it covers and lists the tests below them that do not
//>           pass. Tests that no snapshot covers are expected to pass.
//>
//>       --update
//>           Write the results into the snapshots instead of comparing
//>
//>           Rewrites each snapshot if all its paths were run. To begin a new snapshot, create a file
//>           with a line such as `path test/built-ins/Atomics`.
//>
//>       --json
//>           Print one JSON object with every test instead of text
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
//>   Each test runs in a process of its own, in sloppy and in strict mode unless its
//>   flags say otherwise. $262 has agent, createRealm, detachArrayBuffer, evalScript,
//>   gc, global and IsHTMLDDA. The main agent can block, except in tests with the
//>   flag CanBlockIsFalse. Tests of features that the engine lacks are skipped.
//>
//> Exit codes:
//>     0  all results are as in the snapshots; with --update, they were written
//>     1  a result differs from its snapshot, or a test that no snapshot covers fails
//>     2  invalid command line; no checkout in DIR, no such tests, a snapshot that
//>        cannot be read or written

