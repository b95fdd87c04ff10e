use std::thread;

use super::*;
use crate::mailbox::{Arrival, Mailbox, WorkerEvent};
use crate::members::Standstill;

#[test]
fn sleepers_are_dismissed_youngest_first_and_the_main_agent_last() {
    let cluster = Cluster::new(Arc::default(), true, None);
    let workers = [(); 2].map(|()| cluster.enlist(Arc::default()));
    let (sender, dismissed) = std::sync::mpsc::channel();
    thread::scope(|scope| {
        for id in workers {
            let (cluster, sender) = (&cluster, sender.clone());
            scope.spawn(move || {
                assert_eq!(cluster.sleep(id, None, Reason::WaitsOnly), Woken::Dismissed);
                sender.send(id).unwrap();
                cluster.leave(id);
            });
        }
        assert_eq!(cluster.sleep(MAIN, None, Reason::Messages), Woken::Dismissed);
    });
    assert_eq!(dismissed.try_iter().collect::<Vec<_>>(), [2, 1]);
    assert_eq!(cluster.lock().standstill, Some(Standstill { is_deadlock: false }));
    cluster.leave(MAIN);
    cluster.close();
}

#[test]
fn a_rung_bell_keeps_its_sleeper() {
    let bells = [(); 2].map(|()| Arc::<Doorbell>::default());
    let cluster = Cluster::new(Arc::clone(&bells[0]), true, None);
    let worker = cluster.enlist(Arc::clone(&bells[1]));
    bells[1].ring();
    assert_eq!(cluster.sleep(worker, None, Reason::WaitsOnly), Woken::Rung);
    cluster.leave(worker);
    bells[0].ring();
    assert_eq!(cluster.sleep(MAIN, None, Reason::WaitsOnly), Woken::Rung);
    bells[0].clear();
    assert_eq!(cluster.sleep(MAIN, None, Reason::WaitsOnly), Woken::Dismissed);
}

#[test]
fn nobody_is_dismissed_while_outsiders_may_notify() {
    let bell = Arc::<Doorbell>::default();
    let cluster = Cluster::new(Arc::clone(&bell), false, None);
    thread::scope(|scope| {
        let sleeper = scope.spawn(|| cluster.sleep(MAIN, None, Reason::WaitsOnly));
        bell.ring();
        assert_eq!(sleeper.join().unwrap(), Woken::Rung);
    });
}

#[test]
fn an_agent_is_terminated_although_it_was_not_there_yet() {
    let cluster = Cluster::new(Arc::default(), true, None);
    let id = cluster.enlist(Arc::default());
    cluster.terminate(id);
    let agent = waitword_agents::Agent::new(true, || {});
    cluster.attach(id, agent.handle());
    assert!(agent.is_terminated());
}

#[test]
fn the_others_go_on_without_workers_that_do_not_end_and_those_below_them_first() {
    let cluster = Cluster::new(Arc::default(), true, None);
    let enlist = |parent, events: &Arc<Mailbox>| {
        let links = Arc::new(AgentLinks::new(&Arc::default(), Some(Arc::clone(events))));
        let id = cluster.enlist_within(2, parent, Arc::default(), Arc::clone(&links));
        id.map(|id| (id, links))
    };
    let events = Arc::new(Mailbox::new(Arc::default()));
    let (worker, links) = enlist(MAIN, &events).unwrap();
    // Its events go to the same box here, for their order.
    let (below, _) = enlist(worker, &events).unwrap();
    cluster.end(&[worker]);
    assert!(links.is_gone());
    let exits = std::iter::from_fn(|| events.take()).map(|event| match event {
        Arrival::OfWorker(id, WorkerEvent::Exited(code)) => (id, code),
        _ => panic!("nothing but their ends"),
    });
    assert_eq!(exits.collect::<Vec<_>>(), [(below, 1), (worker, 1)]);
    assert!(enlist(MAIN, &events).is_none(), "their threads have not come back");
    cluster.end_worker(below, &links, None, 5);
    assert!(events.take().is_none(), "its end was brought about already");
    assert!(enlist(worker, &events).is_none(), "its parent is gone");
    let (last, links) = enlist(MAIN, &events).unwrap();
    cluster.end_worker(last, &links, None, 3);
    assert!(
        matches!(events.take(), Some(Arrival::OfWorker(_, WorkerEvent::Exited(3)))),
        "it comes to its end itself"
    );
    cluster.leave(MAIN);
    cluster.close();
}

/// The script goes on until the engine asks, and nobody would terminate what it makes: the others would wait for both.
#[test]
fn a_worker_that_was_terminated_makes_no_workers() {
    let cluster = Cluster::new(Arc::default(), true, None);
    let enlist = |parent| {
        let links = Arc::new(AgentLinks::new(&Arc::default(), None));
        cluster.enlist_within(9, parent, Arc::default(), links)
    };
    let worker = enlist(MAIN).unwrap();
    let below = enlist(worker).unwrap();
    cluster.terminate(worker);
    assert_eq!([worker, below, MAIN].map(|parent| enlist(parent).is_some()), [false, false, true]);
}
