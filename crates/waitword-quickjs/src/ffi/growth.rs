//! Updates growable SharedArrayBuffers when their blocks grow.
//!
//! The engine stores the length of a growable SharedArrayBuffer in each JavaScript object, and the length of a view in the view. Neither
//! changes when another agent grows the block, or when a script of this agent grows it through another object. So each engine has a list of
//! its growable buffers, and updates all of them when [`GrowthWatch`] says that a block has grown:
//!
//! - after each native function. All functions with which a script can synchronize are native: those of `Atomics`, those of a host that
//!   deliver messages, and `SharedArrayBuffer.prototype.grow` and `byteLength`;
//! - at the beginning of each job (`JsAgent::begin_job`);
//! - now and then while a script runs (`interrupted` in `runtime.rs`), so that a loop without synchronization sees the growth, too.
//!
//! The engine's own `grow` updates the length of a buffer object and of its views. It does not move the memory, so it may run at any of
//! these points.

use std::rc::Rc;

use super::handles::{Exception, Growables, Intrinsics, Realm, Value};

/// A list of at most this length is not purged of collected buffers.
const FEW: usize = 64;

impl Growables {
    /// Takes the functions it needs from a realm that no script has used yet.
    pub(super) fn prepare(&self, realm: &Realm) -> Result<(), Exception> {
        if self.intrinsics.borrow().is_some() {
            return Ok(());
        }
        let global = realm.global();
        let weak_ref = realm.get(&global, "WeakRef")?;
        let prototype = |constructor: &Value| realm.get(constructor, "prototype");
        let intrinsics = Intrinsics {
            grow: realm.get(&prototype(&realm.get(&global, "SharedArrayBuffer")?)?, "grow")?,
            deref: realm.get(&prototype(&weak_ref)?, "deref")?,
            weak_ref,
        };
        self.next_purge.set(FEW);
        self.intrinsics.replace(Some(Rc::new(intrinsics)));
        Ok(())
    }

    /// Drops the stored values, which keep their engine alive.
    pub(super) fn let_go(&self) {
        drop(self.known.take());
        drop(self.intrinsics.take());
    }

    fn intrinsics(&self) -> Option<Rc<Intrinsics>> {
        self.intrinsics.borrow().clone()
    }

    /// Whether a block has grown since all buffers were last updated.
    #[inline(always)]
    pub(super) fn is_behind(&self) -> bool {
        self.watch.is_behind()
    }
}

impl Realm {
    /// Updates the lengths of all growable buffers of this engine, and of all views on them, if any block has grown since the last update.
    ///
    /// # Errors
    /// If the stack or the memory limit is reached, or the script is being ended. The next call tries again.
    #[inline(always)]
    pub(crate) fn catch_up(&self) -> Result<(), Exception> {
        if self.growables().is_behind() { self.lengthen_all() } else { Ok(()) }
    }

    /// Adds a new growable buffer, and updates its length, because the block may have grown since the length was read.
    pub(super) fn track(&self, buffer: &Value) -> Result<(), Exception> {
        let growables = self.growables();
        let Some(intrinsics) = growables.intrinsics() else { return Ok(()) };
        self.lengthen(&intrinsics, buffer)?;
        let reference = self.construct(&intrinsics.weak_ref, std::slice::from_ref(buffer))?;
        growables.known.borrow_mut().push(reference);
        if growables.known.borrow().len() >= growables.next_purge.get() {
            self.for_each_growable(&intrinsics, |_| Ok(()))?;
            growables.next_purge.set(2 * growables.known.borrow().len() + FEW);
        }
        Ok(())
    }

    #[cold]
    fn lengthen_all(&self) -> Result<(), Exception> {
        let growables = self.growables();
        let Some(intrinsics) = growables.intrinsics() else { return Ok(()) };
        if growables.is_busy.replace(true) {
            return Ok(());
        }
        let update = || self.for_each_growable(&intrinsics, |buffer| self.lengthen(&intrinsics, buffer));
        let result = growables.watch.catch_up(update);
        growables.is_busy.set(false);
        result
    }

    /// Updates the length of the engine's object, and of all its views, to the block's current length.
    fn lengthen(&self, intrinsics: &Intrinsics, buffer: &Value) -> Result<(), Exception> {
        let length = self.borrow_shared_block(&buffer.borrow()).map_or(0, |block| block.len());
        if length > self.buffer_byte_length(buffer)? {
            self.call(&intrinsics.grow, buffer, &[self.number(length as f64)])?;
        }
        Ok(())
    }

    /// Calls `with` for the live buffers, and removes those that were collected.
    fn for_each_growable(
        &self,
        intrinsics: &Intrinsics,
        with: impl Fn(&Value) -> Result<(), Exception>,
    ) -> Result<(), Exception> {
        // No script runs here, so no buffer is added in the meantime.
        let mut known = self.growables().known.take();
        let mut result = Ok(());
        known.retain(|reference| {
            let look = || match self.call(&intrinsics.deref, reference, &[])? {
                buffer if buffer.is_object() => with(&buffer).map(|()| true),
                _ => Ok(false),
            };
            // After a failure the rest of the list is kept.
            if result.is_err() {
                return true;
            }
            look().unwrap_or_else(|exception| {
                result = Err(exception);
                true
            })
        });
        self.growables().known.replace(known);
        result
    }

    #[inline(always)]
    fn growables(&self) -> &Growables {
        &self.engine().growables
    }
}
