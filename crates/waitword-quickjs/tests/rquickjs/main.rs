//! The agent as a guest in runtimes that `rquickjs` has made.

mod async_runtime;
#[path = "../../examples/rquickjs.rs"]
mod example;
mod lost_promises;

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;
use std::rc::Rc;
use std::sync::{Arc, mpsc};
use std::task::{Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use rquickjs::{ArrayBuffer, ArrayBufferSource, Context, Ctx, Function, JsLifetime, Promise, Runtime, qjs};
use waitword_agents::MemoryBudget;
use waitword_core::{notify_all, notify_one};
use waitword_quickjs::{InstallError, InstallOptions, InstalledAgent, SharedBlock, install};

const PLAIN: InstallOptions =
    InstallOptions { can_block: false, corrections: false, shared_memory: None, doorbell: None };

fn context() -> Context {
    Context::full(&Runtime::new().unwrap()).unwrap()
}

/// A context in a runtime of its own, with `block` as `i32`.
fn context_on(block: &SharedBlock, options: InstallOptions) -> (Context, InstalledAgent) {
    let context = context();
    let agent = install(&context, options).unwrap();
    context.with(|ctx| set_words(&ctx, agent, block));
    (context, agent)
}

fn set_words(ctx: &Ctx<'_>, agent: InstalledAgent, block: &SharedBlock) {
    ctx.globals().set("shared", agent.share(ctx, block).unwrap()).unwrap();
    ctx.eval::<(), _>("var i32 = new Int32Array(shared)").unwrap();
}

/// What an expression gives as text, or the error that it throws.
fn text(context: &Context, source: &str) -> String {
    let shown =
        format!("(() => {{ try {{ return String({source}) }} catch (error) {{ return String(error) }} }})()");
    context.with(|ctx| ctx.eval(shown)).unwrap()
}

fn waiters(block: &SharedBlock) -> usize {
    block.table().waiters(&*block.i32(0).unwrap())
}

/// A thread that notifies the first waiter of word 0, as soon as there is one.
fn notifier(block: &SharedBlock) -> thread::JoinHandle<()> {
    let word = block.i32(0).unwrap();
    thread::spawn(move || while notify_one(&word) == 0 {})
}

#[test]
fn two_runtimes_and_a_task_take_turns_on_one_block() {
    example::main().unwrap();
}

#[test]
fn finish_sleeps_until_a_notify_or_a_deadline() {
    let block = SharedBlock::new(4).unwrap();
    let (context, agent) = context_on(&block, PLAIN);
    let thread = notifier(&block);
    context.with(|ctx| {
        let finish = |source| agent.finish::<String>(&ctx.eval::<Promise, _>(source).unwrap());
        assert_eq!(finish("Atomics.waitAsync(i32, 0, 0).value.then(it => it + '!')").unwrap(), "ok!");
        assert_eq!(finish("Atomics.waitAsync(i32, 0, 0, 10).value").unwrap(), "timed-out");
        assert!(matches!(finish("new Promise(() => {})"), Err(rquickjs::Error::WouldBlock)));
        assert!(matches!(finish("Promise.resolve(1)"), Err(rquickjs::Error::FromJs { .. })));
        assert!(matches!(finish("Promise.reject(1)"), Err(rquickjs::Error::Exception)));
    });
    thread.join().unwrap();
}

#[test]
fn each_settled_wait_is_a_job() {
    let block = SharedBlock::new(4).unwrap();
    let (context, agent) = context_on(&block, PLAIN);
    let waits = "var log = ''; for (let name of 'ab') Atomics.waitAsync(i32, 0, 0).value
        .then(() => log += name + 1).then(() => log += name + 2)";
    context.with(|ctx| {
        ctx.eval::<(), _>(waits).unwrap();
        assert_eq!(notify_all(block.i32(0).unwrap()), 2);
        assert!(agent.settle(&ctx).unwrap() && !agent.settle(&ctx).unwrap());
    });
    assert_eq!(text(&context, "log"), "a1a2b1b2");
}

#[test]
fn installing_twice_is_an_error() {
    let one = context();
    let [other, elsewhere] = [Context::full(one.runtime()).unwrap(), context()];
    let agent = install(&one, PLAIN).unwrap();
    assert_eq!(install(&one, PLAIN), Err(InstallError::Installed));
    assert_eq!(install(&other, PLAIN), Err(InstallError::Installed));
    let add = |context: &Context| context.with(|ctx| agent.add_realm(&ctx));
    assert_eq!(
        [&one, &other, &other].map(add),
        [Err(InstallError::Installed), Ok(()), Err(InstallError::Installed)]
    );
    for _ in 0..2 {
        assert_eq!(add(&elsewhere), Err(InstallError::OtherRuntime));
        let block = SharedBlock::new(4).unwrap();
        assert!(elsewhere.with(|ctx| agent.share(&ctx, &block).is_err()));
        let _ = install(&elsewhere, PLAIN);
    }
}

#[test]
fn a_second_realm_belongs_to_the_agent() {
    let block = SharedBlock::new(4).unwrap();
    let (one, agent) = context_on(&block, PLAIN);
    let other = Context::full(one.runtime()).unwrap();
    assert_eq!(text(&other, "typeof Atomics.waitAsync"), "undefined");
    other.with(|ctx| {
        agent.add_realm(&ctx).unwrap();
        set_words(&ctx, agent, &block);
    });
    text(&one, "Atomics.waitAsync(i32, 0, 0).value.then(it => globalThis.outcome = it)");
    // An agent's own waits are settled before its notify returns.
    assert_eq!(text(&other, "Atomics.notify(i32, 0)"), "1");
    while one.runtime().execute_pending_job().unwrap() {}
    assert_eq!(text(&one, "outcome"), "ok");
    drop(one);
    assert_eq!(text(&other, "Atomics.waitAsync(i32, 0, 0).async"), "true");
}

#[test]
fn a_dropped_runtime_leaks_nothing_and_eats_no_notify() {
    let budget = MemoryBudget::new(1 << 20);
    let block = SharedBlock::charged_to(&budget, 4).unwrap();
    let [(gone, _), (stays, agent)] = [(); 2].map(|()| context_on(&block, PLAIN));
    text(&gone, "Atomics.waitAsync(i32, 0, 0)");
    stays.with(|ctx| {
        let promise: Promise = ctx.eval("Atomics.waitAsync(i32, 0, 0).value").unwrap();
        assert_eq!(waiters(&block), 2);
        // The engine asserts that it has freed each object.
        drop(gone);
        assert_eq!((waiters(&block), notify_one(block.i32(0).unwrap())), (1, 1));
        assert_eq!(agent.finish::<String>(&promise).unwrap(), "ok");
    });
    drop((stays, block));
    assert_eq!(budget.held(), 0, "a buffer object kept the block");
}

/// Userdata is dropped in the order of a hash map: some of these before the agent, and some after it.
#[test]
fn userdata_may_call_functions_when_the_runtime_is_dropped() {
    struct Hook<'js, const N: usize>(Function<'js>, Rc<Cell<usize>>);
    // SAFETY: the same type with another lifetime.
    unsafe impl<'js, const N: usize> JsLifetime<'js> for Hook<'js, N> {
        type Changed<'to> = Hook<'to, N>;
    }
    impl<const N: usize> Drop for Hook<'_, N> {
        fn drop(&mut self) {
            let _ = self.0.call::<_, i32>(());
            self.1.set(self.1.get() + 1);
        }
    }
    let (context, called) = (context(), Rc::new(Cell::new(0)));
    install(&context, PLAIN).unwrap();
    context.with(|ctx| {
        let notifies = "() => Atomics.notify(new Int32Array(new SharedArrayBuffer(4)), 0)";
        let hook: Function = ctx.eval(format!("({notifies})")).unwrap();
        macro_rules! store {
            ($($n:literal)*) => {$(
                assert!(ctx.store_userdata(Hook::<$n>(hook.clone(), Rc::clone(&called))).is_ok());
            )*};
        }
        store!(0 1 2 3 4 5 6 7 8 9 10 11);
    });
    drop(context);
    assert_eq!(called.get(), 12);
}

#[test]
fn a_loop_of_the_programs_own_is_woken() {
    let (sender, woken) = mpsc::channel();
    let doorbell = Some(Waker::from(Arc::new(Doorbell(sender))));
    let block = SharedBlock::new(4).unwrap();
    let (context, agent) = context_on(&block, InstallOptions { doorbell, ..PLAIN });
    text(
        &context,
        "void Atomics.waitAsync(i32, 0, 0, 1e7).value.then(outcome => { globalThis.outcome = outcome })",
    );
    assert!(context.with(|ctx| agent.next_deadline(&ctx)).unwrap() > Some(Instant::now()));
    let thread = notifier(&block);
    woken.recv_timeout(Duration::from_secs(60)).unwrap();
    assert!(context.with(|ctx| agent.settle(&ctx)).unwrap());
    assert_eq!(text(&context, "outcome"), "ok");
    assert_eq!(context.with(|ctx| agent.next_deadline(&ctx)).unwrap(), None);
    thread.join().unwrap();
}

struct Doorbell(mpsc::Sender<()>);

impl Wake for Doorbell {
    fn wake(self: Arc<Self>) {
        let _ = self.0.send(());
    }
}

#[test]
fn buffers_of_the_engine_stay_the_engines() {
    let context = context();
    text(&context, "globalThis.before = new Int32Array(new SharedArrayBuffer(8))");
    let agent = install(&context, PLAIN).unwrap();
    let budget = MemoryBudget::new(1 << 20);
    context.with(|ctx| {
        // Where a block of ours was a moment ago.
        let block = SharedBlock::charged_to(&budget, 8).unwrap();
        drop(agent.share(&ctx, &block).unwrap());
        let foreign = ArrayBuffer::from_source_shared(ctx.clone(), Bytes(block)).unwrap();
        assert_eq!(agent.shared_block(foreign.as_value()), None);
        ctx.globals().set("foreign", foreign).unwrap();
        let ours: rquickjs::Value = ctx.eval("var after = new SharedArrayBuffer(8); after").unwrap();
        assert_eq!(agent.shared_block(&ours).unwrap().len(), 8);
    });
    for memory in ["before", "new Int32Array(foreign)"] {
        for wait in ["wait", "waitAsync"] {
            let error = text(&context, &format!("Atomics.{wait}({memory}, 0, 0)"));
            assert!(error.starts_with("TypeError") && error.contains("after waitword is"), "{error}");
        }
        assert_eq!(
            text(&context, &format!("[Atomics.notify({memory}, 0), Atomics.add({memory}, 1, 7)]")),
            "0,0"
        );
    }
    let shapes = "[before.buffer, foreign, after, new SharedArrayBuffer(0)]
        .map(it => [it.byteLength, it.maxByteLength, it.growable, it.slice(4).byteLength])";
    assert_eq!(text(&context, shapes), "8,8,false,4,8,8,false,4,8,8,false,4,0,0,false,0");
    text(&context, "globalThis.grown = new Int32Array(new SharedArrayBuffer(4, { maxByteLength: 16 }))");
    let growing = "[grown.buffer.grow(16), grown.length, Atomics.waitAsync(grown, 3, 0).async]";
    assert_eq!(text(&context, growing), ",4,true");
    drop(context);
    assert_eq!(budget.held(), 0, "rquickjs frees its memory itself");
}

/// Memory of a program's own.
struct Bytes(SharedBlock);

// SAFETY: a block's bytes stay where they are for as long as it has an owner.
unsafe impl ArrayBufferSource for Bytes {
    fn as_ptr(&self) -> *mut u8 {
        self.0.as_ptr()
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}

#[test]
fn wrong_arguments_throw() {
    let block = SharedBlock::new(8).unwrap();
    let (context, _) = context_on(&block, InstallOptions { can_block: true, ..PLAIN });
    for (call, result) in [
        ("Atomics.waitAsync(new Int32Array(2), 0, 0)", "TypeError"),
        ("Atomics.wait(new Uint32Array(shared), 0, 0)", "TypeError"),
        ("Atomics.notify({}, 0)", "TypeError"),
        ("Atomics.waitAsync(i32, 2, 0)", "RangeError"),
        ("Atomics.waitAsync(i32, 0, { valueOf() { throw new SyntaxError() } })", "SyntaxError"),
        ("SharedArrayBuffer.prototype.byteLength", "TypeError"),
        ("Atomics.notify(new Int32Array(1), 0)", "0"),
        ("[Atomics.wait(i32, 0, 1), Atomics.wait(i32, 0, 0, 1)]", "not-equal,timed-out"),
        ("['wait', 'waitAsync', 'notify'].map(name => Atomics[name].length)", "4,4,3"),
    ] {
        let given = text(&context, call);
        assert!(given.starts_with(result), "{call} gave {given}");
    }
    let shared_memory = Some(MemoryBudget::new(1 << 20));
    let (context, _) = context_on(&block, InstallOptions { shared_memory, ..PLAIN });
    assert!(text(&context, "Atomics.wait(i32, 0, 0, 1)").contains("use Atomics.waitAsync"));
    assert!(text(&context, "new SharedArrayBuffer(2 ** 20)").starts_with("RangeError"));
    assert_eq!(text(&context, "new SharedArrayBuffer(2 ** 18)"), "[object SharedArrayBuffer]");
}

#[test]
fn corrections_are_made_if_asked_for() {
    // An array that a coercion has left out of bounds is a TypeError.
    let shrinks = "(() => { let b = new ArrayBuffer(8, { maxByteLength: 8 }), v = new Int32Array(b, 0, 2);
        return Atomics.store(v, 1, { valueOf() { b.resize(0); return 1 } }) })()";
    let [engines, ours] = [false, true].map(|corrections| {
        let (context, _) = context_on(&SharedBlock::new(4).unwrap(), InstallOptions { corrections, ..PLAIN });
        text(&context, shrinks)
    });
    assert!(engines.starts_with("RangeError") && ours.starts_with("TypeError"), "{engines}; {ours}");
}

#[test]
fn a_context_that_will_not_do_is_refused_and_left_as_it_is() {
    let bare = Context::base(&Runtime::new().unwrap()).unwrap();
    assert!(matches!(install(&bare, PLAIN), Err(InstallError::Missing(_))));

    let context = context();
    set_hooks(&context, Some(alloc), Some(keep));
    assert!(matches!(install(&context, PLAIN), Err(InstallError::InUse(_))));
    assert_eq!(text(&context, "typeof Atomics.waitAsync"), "undefined");
    set_hooks(&context, None, None);
    text(&context, "Object.freeze(Atomics)");
    let error = install(&context, PLAIN).unwrap_err();
    assert!(matches!(error, InstallError::Failed(_)) && error.to_string().contains("new runtime"), "{error}");
    // What was replaced before that works.
    assert_eq!(text(&context, "new SharedArrayBuffer(8).byteLength"), "8");
}

fn set_hooks(context: &Context, sab_alloc: Option<Alloc>, sab_free: Option<Free>) {
    let (sab_dup, sab_opaque) = (None, ptr::null_mut());
    let functions = qjs::JSSharedArrayBufferFunctions { sab_alloc, sab_free, sab_dup, sab_opaque };
    // SAFETY: a live runtime, which copies the functions. It has no SharedArrayBuffer when they are changed.
    context.with(|ctx| unsafe {
        qjs::JS_SetSharedArrayBufferFunctions(qjs::JS_GetRuntime(ctx.as_raw().as_ptr()), &functions);
    });
}

type Alloc = unsafe extern "C" fn(*mut c_void, qjs::size_t) -> *mut c_void;
type Free = unsafe extern "C" fn(*mut c_void, *mut c_void);

/// Memory that a program keeps.
unsafe extern "C" fn alloc(_: *mut c_void, size: qjs::size_t) -> *mut c_void {
    Box::leak(vec![0_u64; size as usize / 8 + 1].into_boxed_slice()).as_mut_ptr().cast()
}

unsafe extern "C" fn keep(_: *mut c_void, _: *mut c_void) {}
