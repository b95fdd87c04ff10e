//! `Atomics.wait`, `waitAsync` and `notify` for the scripts of a program that already has `rquickjs`, in its own runtime.
//!
//! The agent is a guest there: [`install`] or [`install_async`] puts our functions into a context, and a state behind them into the runtime's
//! userdata, with which they end. How the outcomes of `waitAsync` get to the scripts: `guest_driver.rs`. What is unsafe about
//! it: `ffi/guest.rs` and `ffi/blocks.rs`.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicI32;
use std::task::Waker;
use std::time::Instant;

use rquickjs::{AsyncContext, Context, Ctx, Exception as JsException, FromJs, Promise};
use waitword_agents::{Agent, AgentId, MemoryBudget, Outcome, SharedBlock};

use crate::agent_state::AgentState;
use crate::ffi::{Exception, Realm, guest};
use crate::guest_driver::{Driver, drive, drive_waits, next_deadline, ring, settle, sleep};
use crate::install_error::InstallError;
use crate::{array_buffer, atomic_access, atomics, data_view, shared_array_buffer, typed_array};

/// What [`install`] and [`install_async`] are to do.
#[derive(Clone, Debug, Default)]
pub struct InstallOptions {
    /// Whether `Atomics.wait` may block the thread that runs the script. `false`, as in the engine without us: there it is a TypeError.
    ///
    /// In an `AsyncRuntime` a blocked script keeps its thread from the executor's other tasks.
    pub can_block: bool,
    /// Whether also those functions of ArrayBuffers, typed arrays, DataViews and `Atomics` are replaced with which the engine departs from
    /// the standard. `false` to begin with: what waits and notifies does not need them.
    pub corrections: bool,
    /// What the SharedArrayBuffers that scripts make are counted on: beyond it they get a RangeError. The runtime's own memory limit does not
    /// count them. `None` for no limit.
    pub shared_memory: Option<Arc<MemoryBudget>>,
    /// Woken, on any thread, when [`InstalledAgent::settle`] has something to do that is no deadline: for a program that has a `Runtime` and a
    /// loop of its own.
    pub doorbell: Option<Waker>,
}

/// Installs in a context of an `rquickjs::Runtime`. Other contexts of the runtime are for [`InstalledAgent::add_realm`].
///
/// `Atomics.wait`, `waitAsync`, `notify` and `SharedArrayBuffer` are replaced. Install before scripts run: they keep the functions that they
/// have taken, and what they have replaced may end up in ours. SharedArrayBuffers that exist by then, or are made by rquickjs
/// (`ArrayBuffer::from_source_shared`) or by contexts without us, are no [`SharedBlock`]s: they work as before, but to wait on one is a
/// TypeError, and a notify wakes nobody.
///
/// The agent ends with the runtime, and its pending waits leave their queues then; one that was notified before has taken that notify. The
/// engine keeps a context in which this is installed until then.
///
/// # Errors
/// [`InstallError`]; but for [`Failed`](InstallError::Failed) nothing has been changed then.
///
/// # Panics
/// Panics inside [`Context::with`] of the same runtime. With rquickjs's feature `parallel` it never returns there.
///
/// ```
/// use rquickjs::{Context, Promise, Runtime};
/// use waitword_quickjs::{InstallOptions, SharedBlock, install};
///
/// let block = SharedBlock::new(4)?;
/// let word = block.i32(0)?;
/// let context = Context::full(&Runtime::new()?)?;
/// let agent = install(&context, InstallOptions::default())?;
///
/// let notifier = std::thread::spawn(move || while waitword_core::notify_one(&word) == 0 {});
/// let outcome: String = context.with(|ctx| {
///     ctx.globals().set("shared", agent.share(&ctx, &block)?)?;
///     let promise: Promise = ctx.eval("Atomics.waitAsync(new Int32Array(shared), 0, 0).value")?;
///     // As `Promise::finish`, but it sleeps until somebody notifies.
///     agent.finish(&promise)
/// })?;
/// assert_eq!(outcome, "ok");
/// notifier.join().unwrap();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn install(context: &Context, options: InstallOptions) -> Result<InstalledAgent, InstallError> {
    context.with(|ctx| install_in(&ctx, options, None))
}

/// As [`install`], in a context of an `rquickjs::AsyncRuntime`. Returns a **driver**, too, which the program spawns on its executor.
///
/// The driver is woken when a pending wait is notified or due, settles the promise and runs what follows from it, and the runtime's other
/// futures and jobs: it takes the place of `AsyncRuntime::drive`. Nothing is polled meanwhile, and no executor with a timer is needed. It does
/// not keep the runtime, and ends with it.
///
/// With this driver as with rquickjs's own, a future that a native function has spawned (`Ctx::spawn`) wakes only the task that has polled the
/// runtime last. If that was an `AsyncContext::async_with` that has ended, the future goes on when the runtime is polled next. While futures
/// yield, others get the runtime between two polls of the driver.
///
/// A pending `waitAsync` is a future of the runtime. So `AsyncRuntime::idle` returns when no wait is pending any more; it keeps the runtime's
/// lock until then, so that whoever else wants to run a script, perhaps the one that would notify, has to wait. Await promises in
/// `AsyncContext::async_with` instead.
///
/// # Cancellation
/// Nothing was installed if the future is dropped before it is ready. Awaited inside [`AsyncContext::async_with`] of the same runtime, it
/// never is.
///
/// # Errors
/// As [`install`].
///
/// # Panics
/// The driver does when a pending wait has a deadline and the timer's thread cannot be started; it has ended then.
///
/// ```
/// use rquickjs::{AsyncContext, AsyncRuntime, Ctx, Promise};
/// use waitword_quickjs::{InstallOptions, SharedBlock, install_async};
///
/// # let executor = tokio::runtime::Builder::new_current_thread().build()?;
/// # tokio::task::LocalSet::new().block_on(&executor, async {
/// let block = SharedBlock::new(4)?;
/// let word = block.i32(0)?;
/// let context = AsyncContext::full(&AsyncRuntime::new()?).await?;
/// let (agent, driver) = install_async(&context, InstallOptions::default()).await?;
/// tokio::task::spawn_local(driver);
///
/// let notifier = std::thread::spawn(move || while waitword_core::notify_one(&word) == 0 {});
/// let wait = async |ctx: Ctx<'_>| {
///     ctx.globals().set("shared", agent.share(&ctx, &block)?)?;
///     let promise: Promise = ctx.eval("Atomics.waitAsync(new Int32Array(shared), 0, 0).value")?;
///     promise.into_future::<String>().await
/// };
/// assert_eq!(context.async_with(wait).await?, "ok");
/// # notifier.join().unwrap();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub async fn install_async(
    context: &AsyncContext,
    options: InstallOptions,
) -> Result<(InstalledAgent, impl Future<Output = ()> + use<>), InstallError> {
    let bell = Arc::new(AtomicI32::new(0));
    let runtimes_bell = Some(Arc::clone(&bell));
    let agent = context.with(|ctx| install_in(&ctx, options, runtimes_bell)).await?;
    Ok((agent, drive(context.runtime().weak(), bell)))
}

/// The agent of an rquickjs runtime, installed in one or more contexts of it.
///
/// This names the agent, it does not keep it: clones name the same, and to drop all of them changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstalledAgent {
    id: AgentId,
    corrections: bool,
}

impl InstalledAgent {
    /// Installs in another context of the runtime: its scripts belong to the same agent. The engine keeps that context until the runtime ends.
    ///
    /// # Errors
    /// As [`install`].
    pub fn add_realm(&self, ctx: &Ctx<'_>) -> Result<(), InstallError> {
        if guest::state::<AgentState>(ctx).is_none_or(|state| state.agent.id() != self.id) {
            return Err(InstallError::OtherRuntime);
        }
        if guest::realm(ctx).is_some() {
            return Err(InstallError::Installed);
        }
        replace_functions(&adopt(ctx)?, self.corrections)
    }

    /// A SharedArrayBuffer object on `block`, for scripts of this agent.
    ///
    /// # Errors
    /// An exception in the context: a RangeError when the engine cannot handle that many bytes (2^31 or more), or has no memory for the
    /// object; a TypeError when this agent is not installed in the context.
    pub fn share<'js>(&self, ctx: &Ctx<'js>, block: &SharedBlock) -> rquickjs::Result<rquickjs::Value<'js>> {
        let realm = self.realm(ctx)?;
        match realm.shared_array_buffer(block) {
            Ok(buffer) => Ok(realm.give(ctx, buffer)),
            Err(exception) => Err(realm.raise(exception)),
        }
    }

    /// The block under a SharedArrayBuffer object. `None` for any other value, for a SharedArrayBuffer on other memory, and for
    /// a value of a context in which this agent is not installed.
    pub fn shared_block(&self, value: &rquickjs::Value<'_>) -> Option<SharedBlock> {
        let realm = self.find(value.ctx())?;
        realm.shared_block(&realm.take(value))
    }

    /// Runs jobs of a `Runtime` until a promise is settled, as `Promise::finish` does, and sleeps while it depends on a wait
    /// of this agent: until another thread, task or agent notifies that, or its deadline comes.
    ///
    /// # Blocking
    /// Until the promise is settled, for ever if nobody notifies. In an `AsyncRuntime` await the promise instead.
    ///
    /// # Errors
    /// What the promise was rejected with; the error of [`FromJs`] when its value is no `T`; `WouldBlock` when it is pending and
    /// no wait is, so that nothing would end the sleep; an exception as in [`settle`](Self::settle).
    ///
    /// # Panics
    /// When it would have to sleep on a thread that is under `forbid_blocking`.
    pub fn finish<'js, T: FromJs<'js>>(&self, promise: &Promise<'js>) -> rquickjs::Result<T> {
        let realm = self.realm(promise.ctx())?;
        loop {
            match promise.finish() {
                Err(rquickjs::Error::WouldBlock) => {}
                settled => return settled,
            }
            match sleep(&realm) {
                Ok(true) => {}
                Ok(false) => return Err(rquickjs::Error::WouldBlock),
                Err(exception) => return Err(realm.raise(exception)),
            }
        }
    }

    /// Settles the promises of the waits that were notified or are due, and runs the jobs that come of it; whether there was any. For a
    /// program that has a `Runtime` and a loop of its own, which calls it when the [doorbell](InstallOptions::doorbell) is woken, and at the
    /// [next deadline](Self::next_deadline). It never blocks.
    ///
    /// # Errors
    /// An exception in the context: a TypeError when this agent is not installed in it; the engine's own when it was interrupted, or has no
    /// memory or stack to begin: the next call goes on there; or when it has no memory for what waits for the promise: that is lost.
    pub fn settle(&self, ctx: &Ctx<'_>) -> rquickjs::Result<bool> {
        let realm = self.realm(ctx)?;
        settle(&realm).map_err(|exception| realm.raise(exception))
    }

    /// When the next pending wait is due: then [`settle`](Self::settle) has something to do, though nobody wakes the doorbell. `None` if no pending
    /// wait has a deadline. Ask again after scripts have run.
    ///
    /// # Errors
    /// A TypeError when this agent is not installed in the context.
    pub fn next_deadline(&self, ctx: &Ctx<'_>) -> rquickjs::Result<Option<Instant>> {
        Ok(next_deadline(&self.realm(ctx)?).flatten())
    }

    fn realm(&self, ctx: &Ctx<'_>) -> rquickjs::Result<Realm> {
        let missing =
            "this agent of waitword is not installed in this context: see InstalledAgent::add_realm";
        self.find(ctx).ok_or_else(|| JsException::throw_type(ctx, missing))
    }

    fn find(&self, ctx: &Ctx<'_>) -> Option<Realm> {
        let realm = guest::realm(ctx)?;
        AgentState::of(&realm).is_ok_and(|state| state.agent.id() == self.id).then_some(realm)
    }
}

fn install_in(
    ctx: &Ctx<'_>,
    options: InstallOptions,
    runtimes_bell: Option<Arc<AtomicI32>>,
) -> Result<InstalledAgent, InstallError> {
    if guest::is_entered(ctx) {
        return Err(InstallError::Installed);
    }
    if !guest::enter(ctx, options.shared_memory) {
        return Err(InstallError::InUse("the runtime's userdata"));
    }
    let realm = adopt(ctx).and_then(without_hooks).inspect_err(|_| guest::leave(ctx))?;
    let bell = Arc::new(AtomicI32::new(0));
    let (agents_bell, doorbell) = (Arc::clone(&bell), options.doorbell);
    let agent = Agent::new(options.can_block, move || {
        ring(&agents_bell);
        doorbell.as_ref().inspect(|doorbell| doorbell.wake_by_ref());
    });
    let installed = InstalledAgent { id: agent.id(), corrections: options.corrections };
    guest::set_state(ctx, Rc::new(AgentState::new(agent)));
    guest::set_state(ctx, Rc::new(Driver::new(bell, runtimes_bell)));
    // From here on the context may have a function of ours, which needs the engine: there is no way back.
    replace_functions(&realm, options.corrections)?;
    Ok(installed)
}

/// What the functions are built on.
const BUILT_INS: &str =
    "ArrayBuffer Atomics BigInt DataView Int32Array Promise Reflect SharedArrayBuffer Symbol WeakRef";

/// Makes a realm of a context that has what it takes, and changes nothing that a script could see.
fn adopt(ctx: &Ctx<'_>) -> Result<Realm, InstallError> {
    let globals = ctx.globals();
    let lacks = |name: &&'static str| !globals.contains_key(*name).unwrap_or(false);
    match BUILT_INS.split(' ').find(lacks) {
        Some(missing) => Err(InstallError::Missing(missing)),
        None => guest::adopt(ctx).ok_or(InstallError::InUse("the context's opaque pointer")),
    }
}

/// The realm, unless its runtime has functions for shared memory: the engine makes a growable SharedArrayBuffer only with these.
fn without_hooks(realm: Realm) -> Result<Realm, InstallError> {
    let make = || {
        let (constructor, options) = (realm.get(&realm.global(), "SharedArrayBuffer")?, realm.object()?);
        realm.set(&options, "maxByteLength", &realm.number(8))?;
        realm.construct(&constructor, &[realm.number(0), options])
    };
    match make() {
        Ok(_) => Err(InstallError::InUse("the runtime's functions for shared memory")),
        // The engine's own refusal. Any other one tells nothing of these functions: no memory, an interrupt.
        Err(exception) => match realm.describe(&exception) {
            refused if refused.message.contains("requires SAB allocator hooks") => Ok(realm),
            other => Err(InstallError::Failed(other)),
        },
    }
}

fn replace_functions(realm: &Realm, corrections: bool) -> Result<(), InstallError> {
    let replace = || -> Result<(), Exception> {
        realm.prepare()?;
        // The first use makes all of them.
        AgentState::of(realm)?.outcome(realm, Outcome::Notified)?;
        shared_array_buffer::install(realm)?;
        atomics::install(realm)?;
        drive_waits(realm)?;
        if corrections {
            array_buffer::install(realm)?;
            data_view::install(realm)?;
            typed_array::install(realm)?;
            atomic_access::install(realm)?;
        }
        Ok(())
    };
    replace().map_err(|exception| InstallError::Failed(realm.describe(&exception)))
}
