//! Promises that are forgotten since nothing can settle them, and reactions that the engine drops.

use rquickjs::{Ctx, Function};
use waitword_core::{notify_all, notify_one};
use waitword_quickjs::SharedBlock;

use crate::{PLAIN, context_on, text};

/// Calls a script's function when it is dropped.
struct CallsAtItsEnd<'js>(Function<'js>);

impl Drop for CallsAtItsEnd<'_> {
    fn drop(&mut self) {
        self.0.call::<_, ()>(()).unwrap();
    }
}

/// Waits that nothing can end are forgotten at the thousandth, and with the first a function goes that notifies the one just queued, and waits
/// itself: in the places of those that are forgotten with it.
#[test]
fn a_wait_that_is_notified_while_others_are_forgotten_is_settled() {
    let block = SharedBlock::new(4).unwrap();
    let (context, agent) = context_on(&block, PLAIN);
    context.with(|ctx| {
        fn at_its_end<'js>(ctx: Ctx<'js>, call: Function<'js>) -> Function<'js> {
            let calls = CallsAtItsEnd(call);
            Function::new(ctx, move || {
                let _kept = &calls;
            })
            .unwrap()
        }
        ctx.globals().set("atItsEnd", Function::new(ctx.clone(), at_its_end).unwrap()).unwrap();
        let waits = "const wait = (words) => Atomics.waitAsync(words, 0, 0).value;
            const hopeless = () => wait(new Int32Array(new SharedArrayBuffer(4)));
            var notified, outcome = 'pending', settled = 0;
            hopeless().then(atItsEnd(() => {
                notified = Atomics.notify(i32, 0);
                for (let others = 0; others < 10; others++) wait(i32).then(() => { settled++; });
            }));
            for (let others = 0; others < 998; others++) hopeless();
            wait(i32).then((it) => { outcome = it; });";
        ctx.eval::<(), _>(waits).unwrap();
        assert_eq!(notify_all(block.i32(0).unwrap()), 10);
        agent.settle(&ctx).unwrap();
        while ctx.execute_pending_job() {}
    });
    assert_eq!(text(&context, "[notified, outcome, settled]"), "1,ok,10");
}

#[test]
fn reactions_that_are_lost_for_want_of_memory_are_an_error() {
    let block = SharedBlock::new(4).unwrap();
    let (context, agent) = context_on(&block, PLAIN);
    text(&context, "String(Atomics.waitAsync(i32, 0, 0).value.then(() => {}))");
    assert_eq!(notify_one(block.i32(0).unwrap()), 1);
    let settle = |limit| {
        context.runtime().set_memory_limit(limit);
        context.with(|ctx| agent.settle(&ctx))
    };
    assert!(matches!(settle(1024), Err(rquickjs::Error::Exception)));
    assert!(!settle(0).unwrap(), "the promise is settled");
}
