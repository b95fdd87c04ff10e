/*
 * The lock that scripts share (`crates/waitword/src/async_lock`), for spin: `cargo xtask promela`.
 *
 * Each access to the word and to the queue is a step of its own, and all orders of all steps are visited, for any cast of threads and
 * tasks that try once, wait, are dropped, run out of time, or are never polled. (loom checks the code, without rechecks.)
 *
 * What is checked:
 *   - never do two hold the lock;
 *   - nobody tries for ever (`attempts`);
 *   - who waits gets the lock: spin reports anything else as an invalid end state, except tasks that are not polled.
 *
 * Each MUTANT_... breaks a rule of the protocol. With any of them the model must fail, or the check is worth nothing.
 */

#define NEVER 0
#define LAST_RESORT 1   /* When nothing else happens any more, and as often, all in all, as there are tasks that are not polled. */
#define ANY_TIME 2
#ifndef RECHECKS
#define RECHECKS NEVER  /* When the waiters recheck on their own. */
#endif
#ifndef STUCK
#define STUCK 0         /* How many tasks are not polled, at least. */
#endif

/* What an actor may do besides waiting for the lock, taking it and releasing it. */
#define BARGER 0        /* Tries once. */
#define WAITER 1
#define DROPPABLE 2     /* May be dropped whenever it is queued. */
#define TIMED 3         /* May run out of time whenever it is queued. */
#define UNPOLLED 4      /* Is not polled any more once it is queued. */
#define HOLDER 5        /* Has the lock at the beginning. */
#define LAST_ROLE (RECHECKS == NEVER -> TIMED : UNPOLLED)

/* A holder, and any three beside those that are stuck. */
#define ACTORS (4 + STUCK)

#define FREE 0
#define LOCKED 1
#define CONTENDED 2
byte word = LOCKED;

chan queue = [ACTORS] of { byte };
/* Those that were notified and have not seen it yet. */
bool notified[ACTORS];
byte rechecks_left;
/* Only a check reads this. */
byte holders = 1;

inline take_or_mark() {
    took = (word == FREE);
    holders = holders + took;
    assert(holders <= 1);
#ifdef MUTANT_TAKE_WITHOUT_MARK
    word = (took -> LOCKED : CONTENDED)
#else
    word = CONTENDED
#endif
}

inline leave() {
    if
    :: queue ?? [eval(me)] -> queue ?? eval(me)
    :: else
    fi;
    was_notified = notified[me];
    notified[me] = false;
    gives_up = false
}

inline notify() {
    if
    :: queue ? first -> notified[first] = true; first = 0
    :: empty(queue)
    fi
}

proctype actor(byte me; byte role) {
    byte first, attempts;
    bool took, was_notified, gives_up;

    atomic {
        if
        :: role == HOLDER -> goto holding
        :: role != HOLDER && word == FREE -> word = LOCKED; holders++; goto holding
        :: word != FREE && role == BARGER -> goto gone
        :: else
        fi
    }
again:
    atomic { attempts++; assert(attempts < 20); take_or_mark();
        if
        :: took -> goto holding
        :: else
        fi
    };
    /* Check and enqueue, which the shard's lock makes one step. */
    atomic {
#ifndef MUTANT_ENTER_WITHOUT_CHECK
        if
        :: word != CONTENDED -> goto again
        :: else
        fi;
#endif
        queue ! me;
        attempts = 0;
        if
        :: role == UNPOLLED -> goto end_unpolled
        :: role == DROPPABLE || role == TIMED -> gives_up = true
        :: role != UNPOLLED -> gives_up = false
        fi
    }
queued:
    if
    :: atomic { notified[me] -> notified[me] = false; gives_up = false; goto again }
    :: atomic { gives_up && role == DROPPABLE -> leave() };
#ifndef MUTANT_NO_FORWARD
        if
        :: was_notified -> goto forward
        :: else
        fi;
#endif
        goto gone
    :: atomic { gives_up && role == TIMED ->
#ifndef MUTANT_LEAVE_AFTER_LAST_ATTEMPT
        leave()
#endif
        }
        goto last_attempt
#if RECHECKS == ANY_TIME
    :: atomic { !notified[me] && word != CONTENDED -> take_or_mark();
        if
        :: took -> goto rechecked
        :: else -> goto queued
        fi }
#elif RECHECKS == LAST_RESORT && !defined(MUTANT_NO_RECHECK)
    :: atomic { timeout && rechecks_left > 0 && !notified[me] && word != CONTENDED ->
        rechecks_left--; take_or_mark();
        if
        :: took -> goto rechecked
        :: else -> goto queued
        fi }
#endif
    fi;
last_attempt:
    atomic {
        take_or_mark();
        if
        :: took -> goto rechecked
        :: else
        fi
    };
    atomic { leave(); goto gone };
rechecked:
#ifndef MUTANT_RECHECK_STAYS_QUEUED
    atomic { leave() };
#endif
holding:
#ifdef MUTANT_NOTIFY_BEFORE_FREE
    atomic {
        if
        :: word == CONTENDED -> notify()
        :: else
        fi
    };
    atomic { holders--; word = FREE; goto gone };
#endif
    atomic {
        assert(word != FREE);
        holders--;
        took = false; was_notified = false; attempts = 0;
        if
        :: word == CONTENDED -> word = FREE
        :: else -> word = FREE; goto gone
        fi
    };
notifying:
    atomic { notify(); goto gone };
forward:
    atomic {
        if
        :: word == FREE -> goto notifying
#ifndef MUTANT_FORWARD_ONLY_IF_FREE
        :: word == LOCKED -> word = CONTENDED
#endif
        :: else
        fi;
        goto gone
    };
end_unpolled:
    false;
gone:
    skip
}

/* Every cast, each once: the roles ascend. */
init {
    byte me = 1, role;
    atomic {
        do
        :: me <= STUCK -> run actor(me, UNPOLLED); rechecks_left++; me++
        :: else -> break
        od;
        do
        :: me < ACTORS ->
            do
            :: role < LAST_ROLE -> role++
            :: break
            od;
            rechecks_left = rechecks_left + (role == UNPOLLED -> 1 : 0);
            run actor(me, role);
            me++
        :: else -> break
        od;
        run actor(0, HOLDER)
    }
}
