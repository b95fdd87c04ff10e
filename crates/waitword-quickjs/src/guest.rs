//! `Atomics.wait`, `waitAsync` and `notify` for the scripts of a program that already uses `rquickjs`, in the program's own runtime.
//!
//! The agent is a guest there: [`install`] or [`install_async`] adds our functions to a context, and their state to the runtime's
//! userdata, with which the agent ends. `guest_driver.rs` delivers the outcomes of `waitAsync` to the scripts. The unsafe code is in
//! `ffi/guest.rs` and `ffi/blocks.rs`.

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

/// Options for [`install`] and [`install_async`].
#[derive(Clone, Debug, Default)]
pub struct InstallOptions {
    /// Whether `Atomics.wait` may block the thread that runs the script. If `false`, the default and the engine's own behaviour,
    /// `Atomics.wait` throws a TypeError.
    ///
    /// In an `AsyncRuntime`, a blocked script keeps the executor's other tasks off its thread.
    pub can_block: bool,
    /// Whether to replace the other functions of ArrayBuffers, typed arrays, DataViews and `Atomics` with which the engine departs from
    /// the standard. `false` by default, because waiting and notifying do not need them.
    pub corrections: bool,
    /// The budget to which the SharedArrayBuffers of scripts are charged. Beyond it, scripts get a RangeError. The runtime's own memory
    /// limit does not count them. `None` means no limit.
    pub shared_memory: Option<Arc<MemoryBudget>>,
    /// A waker that is woken, on any thread, when [`InstalledAgent::settle`] has work other than a deadline. For programs with a
    /// `Runtime` and an event loop of their own.
    pub doorbell: Option<Waker>,
}

/// Installs an agent in a context of an `rquickjs::Runtime`. For other contexts of the same runtime, use [`InstalledAgent::add_realm`].
///
/// This replaces `Atomics.wait`, `waitAsync`, `notify` and `SharedArrayBuffer`. Install before scripts run, because a script may already
/// have kept an original function, or have replaced a built-in that ours use.
///
/// Some SharedArrayBuffers are not [`SharedBlock`]s: those that exist already, those created by rquickjs
/// (`ArrayBuffer::from_source_shared`), and those created in contexts where this is not installed. They work as before, but waiting on
/// one is a TypeError, and a notify wakes no waiter.
///
/// The agent ends with the runtime. Its pending waits leave their queues then. A wakeup that one of them had already received is lost. The
/// engine keeps a context in which this is installed until the runtime ends.
///
/// # Errors
/// [`InstallError`]. Nothing was changed, except with [`Failed`](InstallError::Failed).
///
/// # Panics
/// If called inside [`Context::with`] of the same runtime. With rquickjs's feature `parallel`, the call never returns there.
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
///     // As `Promise::finish`, but sleeps until the wait is notified.
///     agent.finish(&promise)
/// })?;
/// assert_eq!(outcome, "ok");
/// notifier.join().unwrap();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn install(context: &Context, options: InstallOptions) -> Result<InstalledAgent, InstallError> {
    context.with(|ctx| install_in(&ctx, options, None))
}

/// Installs an agent in a context of an `rquickjs::AsyncRuntime`, as [`install`] does in a `Runtime`. Also returns a **driver**, a future
/// that the program spawns on its executor.
///
/// The driver replaces `AsyncRuntime::drive`. It is woken when a pending wait is notified or due, settles the promise, and runs the
/// resulting jobs and the runtime's other futures and jobs. It does not poll in between, and needs no timer of the executor. It does not
/// keep the runtime alive, and ends with it.
///
/// A limitation, also of rquickjs's own driver: a future that a native function spawned (`Ctx::spawn`) wakes only the task that polled the
/// runtime last. If that was an `AsyncContext::async_with` that has ended, the future continues only when the runtime is polled next (by an
/// `async_with`, or by the driver for another reason). While futures yield, other tasks can lock the runtime between two polls of the
/// driver.
///
/// A pending `waitAsync` is a future of the runtime. So `AsyncRuntime::idle` returns only when no wait is pending. It holds the runtime's
/// lock until then, so that no other task can run a script, not even one that would notify. Await promises in
/// `AsyncContext::async_with` instead.
///
/// # Cancellation
/// If the future is dropped before it is ready, nothing was installed. Inside [`AsyncContext::async_with`] of the same runtime it is never
/// ready.
///
/// # Errors
/// As [`install`].
///
/// # Panics
/// The driver panics, and ends, if a pending wait has a deadline and the timer thread cannot be started.
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

/// A handle to the agent of an rquickjs runtime, installed in one or more of its contexts.
///
/// The handle does not keep the agent alive. Clones refer to the same agent, and dropping all of them changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstalledAgent {
    id: AgentId,
    corrections: bool,
}

impl InstalledAgent {
    /// Installs the same agent in another context of the runtime. The engine keeps that context until the runtime ends.
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

    /// Creates a SharedArrayBuffer object on `block`, for scripts of this agent.
    ///
    /// # Errors
    /// An exception in the context: a RangeError if the block has 2^31 bytes or more, which the engine does not support, or if there is
    /// no memory for the object; a TypeError if this agent is not installed in the context.
    pub fn share<'js>(&self, ctx: &Ctx<'js>, block: &SharedBlock) -> rquickjs::Result<rquickjs::Value<'js>> {
        let realm = self.realm(ctx)?;
        match realm.shared_array_buffer(block) {
            Ok(buffer) => Ok(realm.give(ctx, buffer)),
            Err(exception) => Err(realm.raise(exception)),
        }
    }

    /// Returns the block of a SharedArrayBuffer object. Returns `None` for any other value, for a SharedArrayBuffer on other memory, and
    /// for a value of a context in which this agent is not installed.
    pub fn shared_block(&self, value: &rquickjs::Value<'_>) -> Option<SharedBlock> {
        let realm = self.find(value.ctx())?;
        realm.shared_block(&realm.take(value))
    }

    /// Runs jobs of a `Runtime` until a promise is settled, as `Promise::finish` does, and blocks while the promise depends on a wait of
    /// this agent.
    ///
    /// # Blocking
    /// Until another thread, task or agent notifies that wait, or its deadline is reached: forever, if neither happens. In an
    /// `AsyncRuntime`, await the promise instead.
    ///
    /// # Errors
    /// - what the promise was rejected with;
    /// - the error of [`FromJs`] if its value is not a `T`;
    /// - `WouldBlock` if the promise is pending and no wait is, so that nothing would end the sleep;
    /// - an exception as from [`settle`](Self::settle).
    ///
    /// # Panics
    /// If it would block, and blocking is forbidden on this thread (`forbid_blocking`).
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

    /// Settles the promises of the waits that were notified or are due, and runs the resulting jobs, without blocking. Returns whether
    /// there was any such wait.
    ///
    /// A program with a `Runtime` and an event loop of its own calls this when the [doorbell](InstallOptions::doorbell) is woken, and at
    /// the [next deadline](Self::next_deadline).
    ///
    /// # Errors
    /// An exception in the context:
    /// - a TypeError if this agent is not installed in it;
    /// - the engine's own, if it was interrupted or has no memory or stack to begin; the next call continues there;
    /// - the engine's own, if it has no memory for the promise's reactions; they are lost.
    pub fn settle(&self, ctx: &Ctx<'_>) -> rquickjs::Result<bool> {
        let realm = self.realm(ctx)?;
        settle(&realm).map_err(|exception| realm.raise(exception))
    }

    /// Returns the earliest deadline of a pending wait, or `None` if no pending wait has a deadline. [`settle`](Self::settle) has work
    /// then, and the doorbell is not woken for it. Call this again after scripts have run.
    ///
    /// # Errors
    /// A TypeError if this agent is not installed in the context.
    pub fn next_deadline(&self, ctx: &Ctx<'_>) -> rquickjs::Result<Option<Instant>> {
        Ok(next_deadline(&self.realm(ctx)?).flatten())
    }

    fn realm(&self, ctx: &Ctx<'_>) -> rquickjs::Result<Realm> {
        let missing = "the agent is not installed in this context: use InstalledAgent::add_realm";
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
    // From here on the context may have a function of ours, which needs the engine, so that this cannot be undone.
    replace_functions(&realm, options.corrections)?;
    Ok(installed)
}

/// The built-ins that our functions need.
const BUILT_INS: &str =
    "ArrayBuffer Atomics BigInt DataView Int32Array Promise Reflect SharedArrayBuffer Symbol WeakRef";

/// Makes a realm of a context that has all built-ins that are needed. Changes nothing that a script could observe.
fn adopt(ctx: &Ctx<'_>) -> Result<Realm, InstallError> {
    let globals = ctx.globals();
    let lacks = |name: &&'static str| !globals.contains_key(*name).unwrap_or(false);
    match BUILT_INS.split(' ').find(lacks) {
        Some(missing) => Err(InstallError::Missing(missing)),
        None => guest::adopt(ctx).ok_or(InstallError::InUse("the context's opaque pointer")),
    }
}

/// Returns the realm, unless its runtime has functions for shared memory. The test is that the engine creates a growable
/// SharedArrayBuffer only with these.
fn without_hooks(realm: Realm) -> Result<Realm, InstallError> {
    let make = || {
        let (constructor, options) = (realm.get(&realm.global(), "SharedArrayBuffer")?, realm.object()?);
        realm.set(&options, "maxByteLength", &realm.number(8))?;
        realm.construct(&constructor, &[realm.number(0), options])
    };
    match make() {
        Ok(_) => Err(InstallError::InUse("the runtime's functions for shared memory")),
        // The engine's refusal for lack of these functions. Any other error (no memory, an interrupt) says nothing about them.
        Err(exception) => match realm.describe(&exception) {
            refused if refused.message.contains("requires SAB allocator hooks") => Ok(realm),
            other => Err(InstallError::Failed(other)),
        },
    }
}

fn replace_functions(realm: &Realm, corrections: bool) -> Result<(), InstallError> {
    let replace = || -> Result<(), Exception> {
        realm.prepare()?;
        // The first use creates all three strings.
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
