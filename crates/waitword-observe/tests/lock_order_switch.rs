//! Checking the order of locks, switched on and off; what has no room. One test, because the switch is the process's.

use std::panic::catch_unwind;
use std::sync::mpsc;
use std::thread;

use waitword::Mutex;
use waitword_observe::{assert_lock_order, check_lock_order, disable, lock_order};

fn panics() -> Option<String> {
    let panic = catch_unwind(assert_lock_order).err()?;
    Some(
        panic
            .downcast_ref::<String>()
            .map_or_else(|| (*panic.downcast_ref::<&str>().unwrap()).into(), Clone::clone),
    )
}

#[test]
fn the_switch() {
    static A: Mutex<()> = Mutex::new(());
    static B: Mutex<()> = Mutex::new(());
    let one = || drop((A.lock(), B.lock()));
    let other = || drop((B.lock(), A.lock()));
    assert_eq!(panics().as_deref(), Some("the lock order is not checked: call `check_lock_order` first"));

    // Not while it is off, and what is held meanwhile is not known afterwards.
    thread::spawn(one).join().unwrap();
    let held = B.lock();
    check_lock_order();
    thread::spawn(|| {
        let _a = A.lock();
        assert!(B.try_lock().is_none());
    })
    .join()
    .unwrap();
    drop(A.lock());
    drop(held);
    assert_eq!(lock_order().to_string(), "no potential deadlock was found in the lock order\n");
    let held = A.lock();
    disable();
    assert!(panics().is_some());
    thread::spawn(|| drop(B.lock())).join().unwrap();
    check_lock_order();
    drop(B.lock());
    drop(held);
    thread::spawn(other).join().unwrap();
    assert_eq!(panics(), None);

    thread::spawn(one).join().unwrap();
    let order = lock_order();
    assert_eq!((order.potential_deadlocks.len(), order.left_out), (1, 0));
    assert_eq!(panics(), Some(order.to_string()));

    // A gate that was taken before the check began. Its holder made the edge under it, and makes it again without.
    disable();
    let [gate, a, b] = [Mutex::new(()), Mutex::new(()), Mutex::new(())];
    let (begun, has_begun) = mpsc::channel::<()>();
    let (held, is_held) = mpsc::channel();
    let (again, is_again) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let (gate, a, b) = (&gate, &a, &b);
        scope.spawn(move || {
            let takes = || drop((a.lock(), b.lock()));
            let taken = gate.lock();
            held.send(()).unwrap();
            assert!(has_begun.recv().is_err());
            takes();
            drop(taken);
            assert!(is_again.recv().is_err());
            takes();
        });
        is_held.recv().unwrap();
        check_lock_order();
        drop(begun);
        let other = scope.spawn(move || {
            let _gate = gate.lock();
            drop((b.lock(), a.lock()));
        });
        other.join().unwrap();
        assert_eq!(lock_order().potential_deadlocks.len(), 1, "{}", lock_order());
        drop(again);
    });
    assert_eq!(lock_order().potential_deadlocks.len(), 2, "{}", lock_order());

    // What is dropped while it is off is not known.
    let mut slot = Box::new(Mutex::new(()));
    thread::scope(|scope| drop(scope.spawn(|| drop((A.lock(), slot.lock())))));
    disable();
    *slot = Mutex::new(());
    check_lock_order();
    thread::scope(|scope| drop(scope.spawn(|| drop((slot.lock(), A.lock())))));
    assert_eq!(lock_order().potential_deadlocks.len(), 2, "{}", lock_order());

    // Of so many locks taken under one, most have no room.
    let many: Vec<Mutex<()>> = (0..1_000).map(|_| Mutex::new(())).collect();
    let all = A.lock();
    many.iter().for_each(|lock| drop(lock.lock()));
    drop(all);
    let order = lock_order();
    assert_eq!(order.left_out, 744);
    // A guard that was leaked holds nothing once its lock is gone. In a box, so that it is dropped where it was locked.
    let leaked = Box::new(Mutex::new(()));
    std::mem::forget(leaked.lock());
    drop(leaked);
    many.iter().for_each(|lock| drop(lock.lock()));
    assert_eq!(lock_order().left_out, 744);
    let last = order.to_string().lines().last().map(str::to_owned);
    assert_eq!(last.as_deref(), Some("744 checks of the order were left out because a limit was reached"));
}
