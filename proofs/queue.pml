/*
 * The queue of one shard, for spin: `cargo xtask promela`.
 *
 * Threads wait on two words that share a lock, in loops as futexes are used; some of them may give up, by a deadline or
 * because their future is dropped. One notifier for each word stores to it and notifies all; one more notifies a few, on
 * one of the words, and stores nothing. Every interleaving of their steps is visited, and so is every delay of the two kinds
 * of store that a notify without a lock depends on (`Memory`).
 *
 * What is checked:
 *   - nobody sleeps on a word that has changed: the only way to stop is that every process is through (spin reports
 *     anything else as an invalid end state);
 *   - a wait is told of a notify if and only if exactly one notify counted it (`counted`), and the sums agree;
 *   - first come, first served, per word;
 *   - a notify tells nobody who came after it;
 *   - a node is touched only while its owner keeps it (`alive`);
 *   - the ticket tells a waiter in limbo from one in line.
 *
 * A step is what other processes can tell apart. What only the holder of the lock reaches (lines, limbo, tickets) is
 * therefore done in one step; the words, the count, the verdicts, the tokens and the lock itself are each a step of their
 * own. The announcement is one too, although a lock word may carry it along: it comes only earlier then.
 *
 * Each MUTANT_... weakens one step. With any of them the model must fail, or the check is worth nothing.
 */

#ifndef WAITERS
#define WAITERS 2       /* Two or three. */
#endif
#ifndef WORDS
#define WORDS 2         /* One or two. */
#endif
#ifndef BATCH
#define BATCH 1         /* How many are settled in one stay under the lock. */
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
/* The same as the one who stores to it sees it: it becomes `value` at a fence, or whenever the memory likes. */
bool stored[WORDS];

/* The shard. */
bool locked;
chan line[WORDS] = [WAITERS] of { byte };
byte next_ticket;
/* How many are announced: as the holder of the lock has it, and as those without the lock see it. */
byte count_held, count;

/* What each notifier has taken off and not told yet. */
chan limbo[NOTIFIERS] = [WAITERS] of { byte };

/* The nodes: one for each waiter, which it uses for one wait after the other. */
byte state[WAITERS];
byte ticket[WAITERS];
/* The tokens of the threads. */
bool token[WAITERS];

/* What nobody but the checks looks at. */
bool alive[WAITERS];
byte counted[WAITERS];
/* What the notifies returned, less the waits that ended as notified or were given up after it. */
int owed;
/* In each line: no ticket below this one may be taken any more. */
byte first_ticket[WORDS];
#ifdef MUTANT_NO_TOKEN
bool parked[WAITERS];
#endif

inline lock() { !locked -> locked = true }

/* An unlock is seen after all that came before it. */
inline unlock() { count = count_held; locked = false }

/* Stores that are delayed, until a fence at the latest. One that nobody hurries arrives in the end. */
active proctype Memory() {
end:
    do
    :: atomic { count != count_held -> count = count_held }
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
    bool in_line;

again:
    if
    :: value[word] -> goto through
    :: else
    fi;

    /* Check and enqueue, in one step against every notify. (A look before the announcement may only answer "not equal";
       the one that this loop begins with stands for it.) */
#ifdef MUTANT_NO_SECOND_LOOK
    atomic { lock() }
    if
    :: value[word] -> atomic { unlock() }; goto through
    :: else
    fi;
    count_held++;
#else
    atomic { lock(); count_held++ }
#endif
#ifndef MUTANT_NO_FENCE_W
    count = count_held;
#endif
#if !defined(MUTANT_COMPARE_BEFORE_THE_LOCK) && !defined(MUTANT_NO_SECOND_LOOK)
    if
    :: value[word] -> atomic { count_held--; unlock() }; goto through
    :: else
    fi;
#endif
    d_step {
        alive[me] = true;
        state[me] = QUEUED;
        ticket[me] = next_ticket;
        next_ticket++;
#ifdef MUTANT_ENTERS_BEFORE_OTHERS
        line[word]!!me;         /* Sorted by number, whoever came first. */
#else
        line[word]!me;
#endif
        unlock()
    }

    /* Until the verdict is there: park, or give up. */
asleep:
    atomic {
        if
        :: state[me] == NOTIFIED -> goto told
        :: else
        fi
    }
#ifdef MUTANT_NO_TOKEN
    parked[me] = true;
#endif
    if
    :: atomic { token[me] -> token[me] = false };
#ifdef MUTANT_WOKEN_IS_NOTIFIED
       goto told
#else
       goto asleep
#endif
    :: may_give_up -> skip
    fi;

    /* Leave: in line still, or counted? Whoever was told already need not ask. */
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
        in_line = true;
#else
        if
        :: len(line[word]) == 0 -> in_line = false
        :: len(line[word]) > 0 -> line[word]?<head>; in_line = ticket[head] <= ticket[me]
        fi;
        assert(in_line == (line[word]??[eval(me)] > 0));
#endif
#ifndef MUTANT_STAYS_LINKED
        if
        :: line[word]??[eval(me)] -> line[word]??eval(me)
        :: limbo[0]??[eval(me)] -> limbo[0]??eval(me)
        :: limbo[1]??[eval(me)] -> limbo[1]??eval(me)
#if WORDS > 1
        :: limbo[2]??[eval(me)] -> limbo[2]??eval(me)
#endif
        fi;
#endif
        if
        :: in_line -> count_held--
        :: else
        fi;
        alive[me] = false;
        state[me] = IDLE;
        ticket[me] = 0;
        if
        :: in_line -> assert(counted[me] == 0)
        :: else -> assert(counted[me] == 1); counted[me] = 0; owed--
        fi;
        forget_tickets();
        in_line = false;
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

told:
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

/* The waker is taken out, and the verdict is the last access. */
inline tell(list) {
#ifdef MUTANT_SETTLES_WITHOUT_THE_LOCK
    d_step { list?node; assert(ticket[node] < limit) };
    state[node] = NOTIFIED;
    d_step { assert(alive[node]); batch!node; settled++; node = 0 }
#else
#ifdef MUTANT_VERDICT_BEFORE_THE_WAKER
    d_step { list?node; assert(ticket[node] < limit); state[node] = NOTIFIED };
    d_step { assert(alive[node]); batch!node; settled++; node = 0 }
#else
    d_step {
        list?node;
        assert(ticket[node] < limit);
        assert(alive[node]);
        state[node] = NOTIFIED;
        batch!node;
        settled++;
#ifdef MUTANT_COUNTS_WHO_IS_TOLD
        owed++;
#endif
        node = 0
    }
#endif
#endif
}

proctype Notifier(byte me, word, most; bool stores) {
    byte node, woken, settled, limit;
    chan batch = [BATCH] of { byte };

    if
    :: stores -> stored[word] = true
    :: else
    fi;
#ifndef MUTANT_NO_FENCE_N
    value[word] = stored[word];
#endif
    if
    :: count == 0 -> goto through
    :: else
    fi;
    atomic { lock(); limit = next_ticket }

take:
    skip;
    /* Those who are there now are counted now. */
    d_step {
        do
        :: woken < most && len(line[word]) > 0 && len(limbo[me]) < AT_A_TIME ->
            line[word]?node;
            limbo[me]!node;
            assert(ticket[node] >= first_ticket[word]);
            first_ticket[word] = ticket[node] + 1;
            counted[node]++;
            count_held--;
            woken++;
#ifndef MUTANT_COUNTS_WHO_IS_TOLD
            owed++
#endif
        :: else -> break
        od;
#ifndef MUTANT_TAKES_A_BATCH_AT_A_TIME
        woken = 0;
#endif
        node = 0
    }

settle:
#ifdef MUTANT_SETTLES_WITHOUT_THE_LOCK
    atomic { unlock() };
#endif
    do
    :: settled < BATCH && len(limbo[me]) > 0 ->
        tell(limbo[me])
    :: else -> break
    od;
#ifndef MUTANT_SETTLES_WITHOUT_THE_LOCK
    atomic { unlock() };
#endif

    /* Rung without the lock. The name is the thread's: the node may be gone. */
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
    settled = 0;
    if
    :: len(limbo[me]) > 0 -> atomic { lock() }; goto settle
#ifdef MUTANT_TAKES_A_BATCH_AT_A_TIME
    :: len(line[word]) > 0 -> atomic { lock() }; goto take
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
        /* Waiters are alike, so only their choices in order are tried: those who may give up last, and among each
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
    assert(len(line[0]) + len(line[WORDS - 1]) + count_held == 0)
}
