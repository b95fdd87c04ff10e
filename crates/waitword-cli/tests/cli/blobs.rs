//! Blob URLs: which agents know them, and for how long.

use crate::program::{run, run_with};

#[test]
fn workers_know_the_blob_urls_of_their_parents_and_parents_those_of_their_workers() {
    run(
        "blob_known",
        r#"
        const url = (text) => URL.createObjectURL(new Blob([text]));
        const library = url("self.fromLibrary = 'library'");
        const inner = url("postMessage('inner'); close()");
        const outer = url(`
          onmessage = ({ data: { library, inner } }) => {
            importScripts(library);
            const mine = URL.createObjectURL(new Blob(["postMessage('of the worker'); close()"]));
            const worker = new Worker(inner + '#fragment');
            worker.onmessage = ({ data }) => postMessage([fromLibrary, data, mine]);
          };
        `);
        const worker = new Worker(outer);
        worker.postMessage({ library, inner });
        worker.onmessage = ({ data }) => {
          console.log(data[0], data[1]);
          new Worker(data[2]).onmessage = ({ data }) => {
            console.log(data);
            worker.terminate();
          };
        };
        "#,
    )
    .with_code(0)
    .printed(&["library inner", "of the worker"])
    .quietly();
}

#[test]
fn a_blob_url_says_whether_it_was_revoked_or_is_not_known() {
    run(
        "blob_refused",
        r#"
        const why = (url) => {
          try {
            new Worker(url);
          } catch ({ code, message }) {
            return code + (/ was revoked$/.test(message) ? " revoked" : / is not known/.test(message) ? " not known" : message);
          }
        };
        const url = URL.createObjectURL(new Blob([`
          onmessage = ({ data }) => {
            URL.revokeObjectURL(data);
            postMessage(URL.createObjectURL(new Blob([""])));
          }`]));
        const revoked = URL.createObjectURL(new Blob([""]));
        URL.revokeObjectURL(revoked);
        URL.revokeObjectURL("blob:of nobody");
        for (const each of [revoked, revoked + "0", "blob:", "blob:null/0b1c", url.replace(/\d+$/, "0$&")]) console.log(why(each));
        const byOther = URL.createObjectURL(new Blob([""]));
        const { Worker: NodeWorker } = require("node:worker_threads");
        const worker = new Worker(url);
        worker.onmessage = ({ data }) => {
          console.log(why(byOther));
          // The URLs of an agent go with it.
          const maker = new NodeWorker("require('worker_threads').parentPort.postMessage(URL.createObjectURL(new Blob([''])))", { eval: true });
          let made;
          maker.on("message", (url) => { made = url; });
          maker.on("exit", () => {
            console.log(why(made));
            worker.terminate();
          });
          worker.onmessage = null;
        };
        worker.postMessage(byOther);
        "#,
    )
    .with_code(0)
    .printed(&[
        "ERR_WORKER_PATH revoked",
        "ERR_WORKER_PATH not known",
        "ERR_WORKER_PATH not known",
        "ERR_WORKER_PATH not known",
        "ERR_WORKER_PATH not known",
        "ERR_WORKER_PATH revoked",
        "ERR_WORKER_PATH not known",
    ])
    .quietly();
}

#[test]
fn only_blobs_have_blob_urls() {
    run(
        "blob_arguments",
        r#"
        const calls = [() => URL.createObjectURL(1), () => URL.createObjectURL(null), () => URL.createObjectURL({}),
          () => URL.revokeObjectURL(), () => URL.revokeObjectURL(Symbol())];
        for (const call of calls) {
          try {
            console.log(call());
          } catch (error) {
            console.log(error.name, error.code);
          }
        }
        "#,
    )
    .with_code(0)
    .printed(&[
        "TypeError ERR_INVALID_ARG_TYPE",
        "TypeError ERR_INVALID_ARG_TYPE",
        "TypeError ERR_INVALID_ARG_TYPE",
        "TypeError ERR_MISSING_ARGS",
        "TypeError undefined",
    ])
    .quietly();
}

#[test]
fn texts_that_have_urls_count_on_the_budget_of_who_made_them_until_they_are_revoked() {
    run_with(
        "blob_budget",
        &["--memory-limit", "16M"],
        &[(
            "main.js",
            r#"
            const blob = new Blob(["/".repeat(1 << 20)]);
            const make = () => URL.createObjectURL(blob);
            for (let round = 0; round < 100; round++) URL.revokeObjectURL(make());
            const kept = [];
            try {
              for (;;) kept.push(make());
            } catch (error) {
              console.log(error.name, /out of memory/.test(error.message), kept.length > 4, kept.length < 16);
            }
            kept.forEach((url) => URL.revokeObjectURL(url));
            console.log(typeof make());
            "#,
        )],
        &[],
    )
    .with_code(0)
    .printed(&["RangeError true true true", "string"])
    .quietly();
}
