//! `LazyLock`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;
use std::thread;

use waitword::*;

use crate::common::{Task, block_on, forbidden, until};

type Lazy = LazyLock<i32>;
type Force = (&'static str, for<'a> fn(&'a Lazy) -> &'a i32);

const FORCES: [Force; 3] = [
    ("deref", |lazy| lazy),
    ("force", |lazy| LazyLock::force(lazy)),
    ("force_async", |lazy| block_on(LazyLock::force_async(lazy))),
];

#[test]
fn every_way_to_force_makes_the_value_once() {
    let _nobody_may_wait = forbid_blocking();
    for (way, force) in FORCES {
        let lazy: Lazy = LazyLock::new(|| 7);
        assert_eq!(LazyLock::get(&lazy), None);
        assert_eq!(force(&lazy), &7, "{way}");
        for (other, force) in FORCES {
            assert_eq!(force(&lazy), &7, "{other} after {way}");
        }
    }
}

#[test]
fn threads_and_tasks_wait_for_the_one_that_makes_it() {
    let (begun, go) = (Event::new(), Event::new());
    let lazy = LazyLock::new(|| {
        begun.notify_one();
        go.wait();
        7
    });
    thread::scope(|scope| {
        scope.spawn(|| assert_eq!(*lazy, 7));
        begun.wait();
        let mut task = Task::queued(LazyLock::force_async(&lazy));
        assert!(forbidden(|| *LazyLock::force(&lazy)).0.contains("force_async"));
        let thread = scope.spawn(|| *LazyLock::force(&lazy));
        go.notify_one();
        until(|| task.is_woken());
        assert_eq!(task.poll(), Poll::Ready(&7));
        assert_eq!(thread.join().unwrap(), 7);
    });
}

#[test]
fn an_initialiser_that_has_panicked_is_not_run_again() {
    let mut lazy: Lazy = LazyLock::new(|| panic!("initialiser"));
    for _ in 0..2 {
        assert!(catch_unwind(AssertUnwindSafe(|| *LazyLock::force_mut(&mut lazy))).is_err());
    }
    assert_eq!(LazyLock::get(&lazy), None);
    for (way, force) in FORCES {
        assert!(catch_unwind(AssertUnwindSafe(|| *force(&lazy))).is_err(), "{way}");
    }
    assert!(matches!(LazyLock::into_inner(lazy), Err(None)));
}

#[test]
fn what_it_holds_comes_out() {
    let mut lazy: Lazy = LazyLock::new(|| 7);
    assert_eq!(format!("{lazy:?}"), "LazyLock(<uninit>)");
    assert_eq!(LazyLock::get_mut(&mut lazy), None);
    LazyLock::force(&lazy);
    *LazyLock::get_mut(&mut lazy).unwrap() = 8;
    assert_eq!(format!("{lazy:?}"), "LazyLock(8)");
    assert_eq!(LazyLock::into_inner(lazy).ok(), Some(8));
    let unmade: Lazy = LazyLock::new(|| 9);
    assert!(matches!(LazyLock::into_inner(unmade), Err(Some(make)) if make() == 9));
    assert_eq!(*LazyLock::<String>::default(), "");
}
