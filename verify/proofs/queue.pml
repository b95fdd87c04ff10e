/*
 * The queue of one shard, for spin: `cargo xtask promela`.
 *
 * Threads wait on two words that share a lock, in loops as futexes are used; some of them may give up, by a deadline or
 * because their future is dropped. One notifier for each word stores to it and notifies all; one more notifies a few, on
 * one of the words, and stores nothing. Every interleaving of their steps is visited, and so is every delay of the stores
 * that a notify without the lock depends on (`Memory`).
 *
 * What is checked:
 *   - no waiter sleeps on a word that has changed: the only way to stop is that every process is through (spin reports
 *     anything else as an invalid end state);
 *   - a wait ends as notified if and only if exactly one notify counted it (`counted`), and the sums agree;
 *   - FIFO, per word;
 *   - a notify completes no waiter that enqueued after it;
 *   - a node is touched only while its owner keeps it (`alive`);
 *   - the ticket tells a detached waiter from a queued one.
 *
 * A step is what other processes can distinguish. What only the holder of the lock reaches (queues, detached lists, tickets) is
 * therefore done in one step; the words, the lock's word, the outcomes and the tokens are each a step of their own. Sleeping
 * until the lock is free is not modelled here: loom checks that.
 *
 * Each MUTANT_... weakens one step. With any of them the model must fail, or the check is worth nothing.
 */

#ifndef WAITERS
#define WAITERS 2       /* Two or three. */
#endif
#ifndef WORDS
#define WORDS 2         /* One or two. */
#endif
#ifndef BITS
#define BITS 1          /* How many occupancy bits: with one, two words share it. */
#endif
#ifndef BATCH
#define BATCH 1         /* How many are completed in one stay under the lock. */
#endif
#ifndef FEW
#define FEW 2           /* The last notifier asks for one up to so many. With 0 there is none. */
#endif

#define NOTIFIERS (WORDS + 1)
#define EVERYBODY WAITERS

#define IDLE 0
#define QUEUED 1
#define NOTIFIED 2

/* The words. All waiters expect 0. */
bool value[WORDS];
/* The same as the thread that stores to it sees it: it becomes `value` at a fence, or whenever the memory likes. */
bool stored[WORDS];

/* The shard's lock, and in the same word the occupancy bits: which words may have waiters. */
#define LOCKED 1
#define BIT(word) (2 << ((word) % BITS))
/* As the holder of the lock sees it, and as a load sees it: perhaps late. */
byte lock_word, seen;

chan queue[WORDS] = [WAITERS] of { byte };
byte next_ticket;

/* What each notifier has dequeued and not completed yet. */
chan detached[NOTIFIERS] = [WAITERS] of { byte };

/* The nodes: one for each waiter, which it uses for one wait after the other. */
byte state[WAITERS];
byte ticket[WAITERS];
/* The tokens of the threads. */
bool token[WAITERS];

/* Only the checks read these. */
bool alive[WAITERS];
byte counted[WAITERS];
/* What the notifies returned, less the waits that ended as notified or were given up after it. */
int owed;
/* In each queue: no ticket below this one may be taken any more. */
byte first_ticket[WORDS];
#ifdef MUTANT_NO_TOKEN
bool parked[WAITERS];
#endif

/* Operation W: after it, a load by any thread sees the lock taken. */
inline lock() {
    !(lock_word & LOCKED) -> lock_word = lock_word | LOCKED;
#ifndef MUTANT_LOCK_IS_NO_BARRIER
    seen = lock_word
#endif
}

/* Which queues are not empty, as the holder of the lock knows it. */
#define BIT_IF_ANY(word) (len(queue[word]) > 0 -> BIT(word) : 0)
#if defined(MUTANT_NO_OCCUPANCY)
#define OCCUPANCY 0
#elif defined(MUTANT_BIT_OF_THE_LAST_WORD)
#define OCCUPANCY ((lock_word & ~(LOCKED | BIT(word))) | BIT_IF_ANY(word))
#else
#define OCCUPANCY (BIT_IF_ANY(0) | BIT_IF_ANY(WORDS - 1))
#endif

/* Publishes the occupancy. It may be seen late; until then the lock seems to be taken. */
inline unlock() { lock_word = OCCUPANCY }

/* Stores that are delayed, until a barrier at the latest. Without a barrier a store arrives in the end. */
active proctype Memory() {
end:
    do
    :: atomic { seen != lock_word -> seen = lock_word }
    :: atomic { value[0] != stored[0] -> value[0] = stored[0] }
#if WORDS > 1
    :: atomic { value[1] != stored[1] -> value[1] = stored[1] }
#endif
    od
}

/* Tickets are compared among those in use only. When there are none, they start anew, so that histories meet again. */
inline forget_tickets() {
    if
    :: !alive[0] && !alive[1] && !alive[WAITERS - 1] -> next_ticket = 0; first_ticket[0] = 0; first_ticket[WORDS - 1] = 0
    :: else
    fi
}

/* ---------------------------------------------------------------------------------------------------- waiters */

proctype Waiter(byte me, word; bool may_give_up) {
    byte head;
    bool is_queued;

again:
    /* Check and enqueue, in one step against every notify. */
#ifdef MUTANT_COMPARE_BEFORE_THE_LOCK
    if
    :: value[word] -> goto through
    :: else
    fi;
    atomic { lock() };
#else
    atomic { lock() };
    if
    :: value[word] -> atomic { unlock() }; goto through
    :: else
    fi;
#endif
    d_step {
        alive[me] = true;
        state[me] = QUEUED;
        ticket[me] = next_ticket;
        next_ticket++;
#ifdef MUTANT_ENQUEUES_BEFORE_OTHERS
        queue[word]!!me;         /* Sorted by number, not in FIFO order. */
#else
        queue[word]!me;
#endif
        unlock()
    }

    /* Until the outcome is there: park, or give up. */
asleep:
    atomic {
        if
        :: state[me] == NOTIFIED -> goto notified
        :: else
        fi
    }
#ifdef MUTANT_NO_TOKEN
    parked[me] = true;
#endif
    if
    :: atomic { token[me] -> token[me] = false };
#ifdef MUTANT_WOKEN_IS_NOTIFIED
       goto notified
#else
       goto asleep
#endif
    :: may_give_up -> skip
    fi;

    /* Leave: queued still, or counted? A completed waiter need not ask. */
    atomic {
        if
        :: state[me] != QUEUED -> goto too_late
        :: else
        fi
    }
    atomic {
        lock();
        if
        :: state[me] != QUEUED -> unlock(); goto too_late
        :: else
        fi
    }
    d_step {
#ifdef MUTANT_NO_TICKET
        is_queued = true;
#else
        if
        :: len(queue[word]) == 0 -> is_queued = false
        :: len(queue[word]) > 0 -> queue[word]?<head>; is_queued = ticket[head] <= ticket[me]
        fi;
        assert(is_queued == (queue[word]??[eval(me)] > 0));
#endif
#ifndef MUTANT_STAYS_LINKED
        if
        :: queue[word]??[eval(me)] -> queue[word]??eval(me)
        :: detached[0]??[eval(me)] -> detached[0]??eval(me)
        :: detached[1]??[eval(me)] -> detached[1]??eval(me)
#if WORDS > 1
        :: detached[2]??[eval(me)] -> detached[2]??eval(me)
#endif
        fi;
#endif
        alive[me] = false;
        state[me] = IDLE;
        ticket[me] = 0;
        if
        :: is_queued -> assert(counted[me] == 0)
        :: else -> assert(counted[me] == 1); counted[me] = 0; owed--
        fi;
        forget_tickets();
        is_queued = false;
        head = 0;
        unlock()
    }
    goto through;

too_late:
    atomic {
        alive[me] = false;
        state[me] = IDLE;
        ticket[me] = 0;
        assert(counted[me] == 1);
        counted[me] = 0;
        owed--;
        forget_tickets()
    }
    goto through;

notified:
    /* The owner returns, and the node's memory is gone. */
    atomic {
        alive[me] = false;
        assert(counted[me] == 1);
        counted[me] = 0;
        state[me] = IDLE;
        ticket[me] = 0;
        owed--;
        forget_tickets()
    }
    goto again;

through:
    skip
}

/* -------------------------------------------------------------------------------------------------- notifiers */

#ifdef MUTANT_TAKES_A_BATCH_AT_A_TIME
#define AT_A_TIME BATCH
#else
#define AT_A_TIME WAITERS
#endif

/* The waker is taken out, and the outcome is the last access. */
inline complete(list) {
#ifdef MUTANT_COMPLETES_WITHOUT_THE_LOCK
    d_step { list?node; assert(ticket[node] < limit) };
    state[node] = NOTIFIED;
    d_step { assert(alive[node]); batch!node; completed++; node = 0 }
#else
#ifdef MUTANT_OUTCOME_BEFORE_THE_WAKER
    d_step { list?node; assert(ticket[node] < limit); state[node] = NOTIFIED };
    d_step { assert(alive[node]); batch!node; completed++; node = 0 }
#else
    d_step {
        list?node;
        assert(ticket[node] < limit);
        assert(alive[node]);
        state[node] = NOTIFIED;
        batch!node;
        completed++;
#ifdef MUTANT_COUNTS_WHEN_COMPLETED
        owed++;
#endif
        node = 0
    }
#endif
#endif
}

#ifdef MUTANT_MISS_IGNORES_LOCKED
#define MAY_WAIT BIT(word)
#else
#define MAY_WAIT (LOCKED | BIT(word))
#endif

/* What it stored has arrived. */
inline barrier() {
    if
    :: stores -> value[word] = stored[word]
    :: else
    fi
}

proctype Notifier(byte me, word, most; bool stores) {
    byte node, woken, completed, limit;
    chan batch = [BATCH] of { byte };

    if
    :: stores -> stored[word] = true
    :: else
    fi;
    /* A notifier that sees a waiter takes the lock. One that sees none rechecks after fence N. */
    if
    :: seen & MAY_WAIT -> goto found
    :: else
    fi;
#ifndef MUTANT_NO_FENCE_N
    atomic { barrier() };
#endif
    if
    :: seen & MAY_WAIT -> skip
    :: else -> goto through
    fi;

found:
    atomic { lock(); barrier(); limit = next_ticket }

take:
    skip;
    /* The waiters that are queued now are counted now. */
    d_step {
        do
        :: woken < most && len(queue[word]) > 0 && len(detached[me]) < AT_A_TIME ->
            queue[word]?node;
            detached[me]!node;
            assert(ticket[node] >= first_ticket[word]);
            first_ticket[word] = ticket[node] + 1;
            counted[node]++;
            woken++;
#ifndef MUTANT_COUNTS_WHEN_COMPLETED
            owed++
#endif
        :: else -> break
        od;
#ifndef MUTANT_TAKES_A_BATCH_AT_A_TIME
        woken = 0;
#endif
        node = 0
    }

complete_batch:
#ifdef MUTANT_COMPLETES_WITHOUT_THE_LOCK
    atomic { unlock() };
#endif
    do
    :: completed < BATCH && len(detached[me]) > 0 ->
        complete(detached[me])
    :: else -> break
    od;
#ifndef MUTANT_COMPLETES_WITHOUT_THE_LOCK
    atomic { unlock() };
#endif

    /* Woken without the lock. The name is the thread's: the node may be gone. */
    do
    :: len(batch) > 0 ->
        d_step {
            batch?node;
#ifdef MUTANT_NO_TOKEN
            if :: parked[node] -> token[node] = true; parked[node] = false :: else fi;
#else
            token[node] = true;
#endif
            node = 0
        }
    :: else -> break
    od;
    completed = 0;
    if
    :: len(detached[me]) > 0 -> atomic { lock() }; goto complete_batch
#ifdef MUTANT_TAKES_A_BATCH_AT_A_TIME
    :: len(queue[word]) > 0 -> atomic { lock() }; goto take
#endif
    :: else
    fi;

through:
    skip
}

/* ------------------------------------------------------------------------------------------------- everything */

init {
    byte waiter, word, most;
    bool may_give_up;
    atomic {
        /* Waiters are alike, so only their choices in order are tried: those that may give up last, and among each
           kind the second word last. */
        do
        :: waiter < WAITERS -> run Waiter(waiter, word, may_give_up); waiter++
        :: waiter < WAITERS && word < WORDS - 1 -> word++
        :: waiter < WAITERS && !may_give_up -> may_give_up = true; word = 0
        :: waiter == WAITERS -> break
        od;
        for (word : 0 .. WORDS - 1) {
            run Notifier(word, word, EVERYBODY, true)
        }
#if FEW > 0
        /* The words are alike, too. */
        select (most : 1 .. FEW);
        run Notifier(WORDS, 0, most, false);
#endif
        waiter = 0; word = 0; most = 0; may_give_up = false
    }

    /* Only this and the memory are left. */
    _nr_pr == 2;
    assert(owed == 0);
    assert(len(queue[0]) + len(queue[WORDS - 1]) + lock_word == 0)
}
