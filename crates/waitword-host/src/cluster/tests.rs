use std::thread;

use super::*;

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
    assert_eq!(cluster.standstill(), Some(Standstill { is_deadlock: false }));
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
