use super::*;
use waitword_quickjs::Doorbell;

fn message(ports: Vec<End>) -> Message {
    Message { serialized: SerializedMessage::default(), ports }
}

fn arrivals() -> Arc<Mailbox> {
    Arc::new(Mailbox::new(Arc::<Doorbell>::default()))
}

fn tokens(arrivals: &Mailbox) -> usize {
    std::iter::from_fn(|| arrivals.take()).count()
}

#[test]
fn messages_are_announced_once_each_and_only_to_listeners() {
    let (arrivals, (one, other)) = (arrivals(), channel());
    other.arrive(&arrivals, 7);
    one.post(message(Vec::new()));
    assert_eq!(tokens(&arrivals), 0, "nobody listens");
    for _ in 0..3 {
        other.receive(false);
        other.receive(true);
    }
    one.post(message(Vec::new()));
    assert_eq!(tokens(&arrivals), 2);
    assert!(other.take_announced().is_some() && other.take_announced().is_some());
    assert!(other.take_announced().is_none());
}

#[test]
fn the_end_comes_after_the_messages_and_also_without_a_listener() {
    let (arrivals, (one, other)) = (arrivals(), channel());
    other.arrive(&arrivals, 1);
    one.post(message(Vec::new()));
    drop(one);
    assert_eq!(tokens(&arrivals), 0);
    assert!(other.take_message().is_some() && other.take_message().is_none());
    assert_eq!(tokens(&arrivals), 1);
    assert!(matches!(other.take_announced(), Some(Delivery::Closed)));
}

#[test]
fn circles_of_messages_are_dropped() {
    for length in [1, 2, 3, 10] {
        let (ones, others): (Vec<_>, Vec<_>) = (0..length).map(|_| channel()).unzip();
        let sides: Vec<_> = ones.iter().chain(&others).map(|end| Arc::downgrade(end.own())).collect();
        // Each channel's far end is posted through the one before it, so the last one closes the circle.
        let mut others: VecDeque<_> = others.into();
        others.rotate_left(1);
        for (one, other) in ones.iter().zip(others) {
            one.post(message(vec![other]));
        }
        drop(ones);
        assert!(sides.iter().all(|side| side.upgrade().is_none()), "a circle of {length}");
    }
}

#[test]
fn an_end_that_was_taken_out_of_a_message_closes_no_circle() {
    let ((one, other), (three, four)) = (channel(), channel());
    one.post(message(vec![four]));
    let four = other.take_message().unwrap().ports.pop().unwrap();
    four.arrive(&arrivals(), 1);
    three.post(message(vec![other]));
    assert!(four.take_message().is_some());
}

#[test]
fn ends_in_messages_in_messages_are_dropped_without_a_stack() {
    let (outer, mut inner) = channel();
    for _ in 0..200_000 {
        let (one, other) = channel();
        other.post(message(vec![inner]));
        inner = one;
    }
    drop(inner);
    drop(outer);
}
