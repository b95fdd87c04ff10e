//! Throwaway stand-in with the shape of the coming crate.
#![allow(missing_docs, clippy::all, clippy::undocumented_unsafe_blocks, clippy::missing_safety_doc)]
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::*;
use std::time::{Duration, Instant};

#[repr(C, align(16))]
struct Head {
    count: AtomicUsize,
    len: AtomicUsize,
    max: usize,
    growable: bool,
}
pub struct SharedBlock(*mut u8);
unsafe impl Send for SharedBlock {}
unsafe impl Sync for SharedBlock {}
impl std::fmt::Debug for SharedBlock {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "block")
    }
}
impl PartialEq for SharedBlock {
    fn eq(&self, o: &Self) -> bool {
        self.0 == o.0
    }
}
impl Eq for SharedBlock {}
#[derive(Debug)]
pub struct BlockError;
#[derive(Debug)]
pub struct GrowError;
#[derive(Debug)]
pub enum WordError {
    Misaligned,
    OutOfBounds,
}
#[derive(Debug)]
pub enum WaitError {
    CannotBlock,
    Terminated,
    Word(WordError),
}
macro_rules! err { ($($t:ty),*) => {$(impl std::fmt::Display for $t { fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result { write!(f, "{self:?}") } } impl std::error::Error for $t {})*} }
err!(BlockError, GrowError, WordError, WaitError);
const H: usize = std::mem::size_of::<Head>();
impl SharedBlock {
    fn make(len: usize, max: usize, growable: bool) -> Result<Self, BlockError> {
        let l = std::alloc::Layout::from_size_align(H.checked_add(max).ok_or(BlockError)?, 16)
            .map_err(|_| BlockError)?;
        let p = unsafe { std::alloc::alloc_zeroed(l) };
        if p.is_null() {
            return Err(BlockError);
        }
        unsafe {
            p.cast::<Head>().write(Head { count: 1.into(), len: len.into(), max, growable });
            Ok(Self(p.add(H)))
        }
    }
    fn head(&self) -> &Head {
        unsafe { &*self.0.sub(H).cast() }
    }
    pub fn new(len: usize) -> Result<Self, BlockError> {
        Self::make(len, len, false)
    }
    pub fn growable(len: usize, max: usize) -> Result<Self, BlockError> {
        if len > max {
            return Err(BlockError);
        }
        Self::make(len, max, true)
    }
    pub fn len(&self) -> usize {
        self.head().len.load(Ordering::SeqCst)
    }
    pub fn max_len(&self) -> usize {
        self.head().max
    }
    pub fn is_growable(&self) -> bool {
        self.head().growable
    }
    pub fn grow(&self, n: usize) -> Result<(), GrowError> {
        if n < self.len() || n > self.max_len() || !self.is_growable() {
            return Err(GrowError);
        }
        self.head().len.store(n, Ordering::SeqCst);
        Ok(())
    }
    pub fn as_ptr(&self) -> *mut u8 {
        self.0
    }
    pub fn id(&self) -> usize {
        self.0 as usize
    }
    pub fn into_raw(self) -> *mut u8 {
        let p = self.0;
        std::mem::forget(self);
        p
    }
    pub unsafe fn from_raw(p: *mut u8) -> Self {
        Self(p)
    }
    pub unsafe fn clone_from_raw(p: *mut u8) -> Self {
        let b = std::mem::ManuallyDrop::new(Self(p));
        (*b).clone()
    }
}
impl Clone for SharedBlock {
    fn clone(&self) -> Self {
        self.head().count.fetch_add(1, Ordering::SeqCst);
        Self(self.0)
    }
}
impl Drop for SharedBlock {
    fn drop(&mut self) {
        if self.head().count.fetch_sub(1, Ordering::SeqCst) == 1 {
            let l = std::alloc::Layout::from_size_align(H + self.head().max, 16).unwrap();
            unsafe { std::alloc::dealloc(self.0.sub(H), l) }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AgentId(pub u64);
impl std::fmt::Display for AgentId {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "agent {}", self.0)
    }
}
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WaitId(u64);
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    I32(i32),
    I64(i64),
}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Notified,
    NotEqual,
    TimedOut,
}
impl Outcome {
    pub fn as_js(self) -> &'static str {
        match self {
            Self::Notified => "ok",
            Self::NotEqual => "not-equal",
            Self::TimedOut => "timed-out",
        }
    }
}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AsyncWait {
    NotEqual,
    TimedOut,
    Pending(WaitId),
}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settled {
    pub id: WaitId,
    pub outcome: Outcome,
}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timeout {
    Never,
    After(Duration),
}
impl Timeout {
    pub fn from_millis(ms: f64) -> Timeout {
        if ms.is_nan() || ms == f64::INFINITY {
            Self::Never
        } else if ms <= 0.0 {
            Self::After(Duration::ZERO)
        } else {
            Self::After(
                Duration::try_from_secs_f64(ms / 1000.0).unwrap_or(Duration::MAX) + Duration::from_nanos(1),
            )
        }
    }
}
pub fn notify_count(n: f64) -> usize {
    if n.is_nan() || n <= 0.0 { 0 } else { n as usize }
}
pub struct PendingWait {
    pub id: WaitId,
    pub block: usize,
    pub byte_index: usize,
    pub deadline: Option<Instant>,
}
pub struct Agent {
    handle: AgentHandle,
    can_block: Cell<bool>,
    settled: RefCell<VecDeque<Settled>>,
    next: Cell<u64>,
    _p: std::marker::PhantomData<*const ()>,
}
#[derive(Clone)]
pub struct AgentHandle {
    id: AgentId,
    term: Arc<AtomicBool>,
    bell: Arc<dyn Fn() + Send + Sync>,
}
impl AgentHandle {
    pub fn terminate(&self) {
        self.term.store(true, Ordering::SeqCst);
        self.ring()
    }
    pub fn is_terminated(&self) -> bool {
        self.term.load(Ordering::SeqCst)
    }
    pub fn id(&self) -> AgentId {
        self.id
    }
    pub fn ring(&self) {
        (self.bell)()
    }
}
impl Agent {
    pub fn new(can_block: bool, bell: impl Fn() + Send + Sync + 'static) -> Agent {
        static N: AtomicU64 = AtomicU64::new(1);
        Agent {
            handle: AgentHandle {
                id: AgentId(N.fetch_add(1, Ordering::SeqCst)),
                term: Default::default(),
                bell: Arc::new(bell),
            },
            can_block: can_block.into(),
            settled: Default::default(),
            next: 0.into(),
            _p: Default::default(),
        }
    }
    pub fn id(&self) -> AgentId {
        self.handle.id
    }
    pub fn handle(&self) -> AgentHandle {
        self.handle.clone()
    }
    pub fn can_block(&self) -> bool {
        self.can_block.get()
    }
    pub fn set_can_block(&self, b: bool) {
        self.can_block.set(b)
    }
    pub fn is_terminated(&self) -> bool {
        self.handle.is_terminated()
    }
    fn eq(b: &SharedBlock, i: usize, e: Expected) -> bool {
        unsafe {
            match e {
                Expected::I32(v) => (*b.0.add(i).cast::<AtomicI32>()).load(Ordering::SeqCst) == v,
                Expected::I64(v) => (*b.0.add(i).cast::<AtomicI64>()).load(Ordering::SeqCst) == v,
            }
        }
    }
    pub fn wait(&self, b: &SharedBlock, i: usize, e: Expected, _t: Timeout) -> Result<Outcome, WaitError> {
        if !self.can_block() {
            return Err(WaitError::CannotBlock);
        }
        Ok(if Self::eq(b, i, e) { Outcome::TimedOut } else { Outcome::NotEqual })
    }
    pub fn wait_async(
        &self,
        b: &SharedBlock,
        i: usize,
        e: Expected,
        t: Timeout,
    ) -> Result<AsyncWait, WaitError> {
        if !Self::eq(b, i, e) {
            return Ok(AsyncWait::NotEqual);
        }
        if t == Timeout::After(Duration::ZERO) {
            return Ok(AsyncWait::TimedOut);
        }
        self.next.set(self.next.get() + 1);
        Ok(AsyncWait::Pending(WaitId(self.next.get())))
    }
    pub fn notify(
        &self,
        _b: &SharedBlock,
        _i: usize,
        _c: usize,
        _s: impl FnMut(Settled),
    ) -> Result<usize, WordError> {
        Ok(0)
    }
    pub fn drain_settled(&self) -> impl Iterator<Item = Settled> + '_ {
        std::iter::from_fn(|| self.settled.borrow_mut().pop_front())
    }
    pub fn has_settled(&self) -> bool {
        !self.settled.borrow().is_empty()
    }
    pub fn next_deadline(&self) -> Option<Instant> {
        None
    }
    pub fn expire_due(&self, _n: Instant) -> usize {
        0
    }
    pub fn pending(&self) -> Vec<PendingWait> {
        vec![]
    }
}
