/* Leases, ways, slots, used bits, chains and flush of the pool of lanes, for Spin. See docs/PROOFS.md.
 *
 * A step is one access to what several threads look at: a lease's words, used[target], issued and done of ways, issued
 * and tail of lanes; what only the leaseholder touches moves with the access next to it. Taking a lease and the first
 * access under it are one step (nothing else can come between that would be seen), leaving is one of its own.
 * Waiting is blocking until something could move, so "somebody waits for ever" is an invalid end state. An operation
 * is at the target when its completion or acknowledgement is read: the latest moment there is. Threads use any lane,
 * any target, any kind, any order of calls. Numbers only matter in relation: they are counted from `done` and `tail`.
 *
 * Ghosts, known to the proof only: applied, owed, must, snap, overtaken.
 * MUTANT plants one fault; model.py asserts that each is found. */

#ifndef THREADS
#define THREADS 2
#endif
#ifndef RING
#define RING 2
#endif
#ifndef OPS
#define OPS 2 /* of each thread */
#endif
#ifndef FLUSHES
#define FLUSHES 1
#endif
#ifndef TICK
#define TICK 0 /* 1: the receive thread sends chains at any time; 0: only when nobody calls any more */
#endif
#ifndef FIRST
#define FIRST 2 /* 0, 1: halves of the states, the first operation of all is a direct one, or goes into a chain */
#endif
#ifndef MUTANT
#define MUTANT 0
#endif
#define LANES 2
#define TARGETS 2

#define COUNTING_DONE 1      /* done counts what has ended instead of passing over it in order */
#define BIT_AFTER_LEAVING 2  /* the bit is set after the lease was left */
#define BIT_CLEARED_CHAIN 3  /* a way with an open chain counts as empty */
#define DONE_PASSES 4        /* done passes to the slot that ended last */
#define WANTED_IGNORED 5     /* threads enter although one waits */
#define CHAIN_STAYS_OPEN 6   /* flush leaves the way's chain open */
#define NUMBER_AT_CLOSE 7    /* a chain takes its number in the way when it is sent */
#define TAIL_PASSES 8        /* the tail passes an open slot */
#define SENT_IS_DELIVERED 9  /* the completion of a message ends it */
#define WANTED_STAYS 10      /* the thread that waited does not take its id out */
#define GOAL_MOVES 11        /* flush waits until nothing is open */
#define SWEEP_NO_LEASE 12    /* bits are taken back without the lease */
#define MARK_STAYS 13        /* the way believes that its bit is still set */
#define ACK_ENDS_ALL 14      /* an acknowledgement ends later messages too */
#define TICK_NO_LEASE 15     /* the receive thread sends chains without the lease */
#define FULL_KEEPS_CHAIN 16  /* a full ring does not send its chains */
#define LEASE_NO_EXCHANGE 17 /* the lease is taken by look and store */

#define W(l, t) ((l) * TARGETS + (t))
#define S(l, n) ((l) * RING + (n) % RING)
#define G(p, l) ((p) * LANES + (l))
#define ANY 2 /* in place of a target: flush_all */
#define NOT_NUMBERED 15

/* Parts of a slot; CHAIN: records may still be appended. */
#define POST 1
#define ACK 2
#define CHAIN 4

mtype = {CALL, LOOK, ENTER, APPEND, ROOM, LEAVE, LATE, SNAP, WAIT, POLL, POLLED, SWEEP, SWEPT};

bit held[LANES];
byte wanted[LANES];
byte tail[LANES];             /* modulo RING */
byte taken[LANES];            /* issued - tail */
byte open[LANES * RING];      /* parts */
byte to[LANES * RING];        /* target */
byte seq[LANES * RING];       /* number in its way, from done; 0: done has passed it */
byte ops[LANES * RING];       /* set of operations, of a chain several */
byte left[LANES * TARGETS];   /* issued - done of a way */
byte chain[LANES * TARGETS];  /* its open chain: slot + 1 */
bit marked[LANES * TARGETS];
byte used[TARGETS];

byte goal[THREADS * LANES]; /* what a flush waits for: from done, or from tail when it waits for all targets */
byte snap[THREADS * LANES];
byte whose[THREADS];        /* target of that flush */
byte must[THREADS];         /* operations it has to see ended */

byte applied;       /* operations at the target whose call has not returned */
byte owed[TARGETS]; /* operations whose call has returned that are not at the target */
byte overtaken[THREADS * (THREADS + 1)];
byte finished;
bit begun, chosen;

#if MUTANT == WANTED_IGNORED
#define FREE(l) (held[l] == 0)
#else
#define FREE(l) (held[l] == 0 && wanted[l] == 0)
#endif
#define WANTABLE(l) (held[l] != 0 && wanted[l] == 0)
#define FULL(l) (taken[l] == RING)
#define CHAINED(l) (chain[W(l, 0)] != 0 || chain[W(l, 1)] != 0)
#define SENT(s) ((open[s] & (POST | ACK)) != 0)
#if RING == 2
#define PENDING(l) (SENT(S(l, 0)) || SENT(S(l, 1)))
#else
#define PENDING(l) (SENT(S(l, 0)) || SENT(S(l, 1)) || SENT(S(l, 2)))
#endif

/* ---- ghosts ---- */

inline arrive(s)
{
    assert((applied & ops[s]) == 0);
    applied = applied | (ops[s] & ~owed[to[s]]);
    owed[to[s]] = owed[to[s]] & ~ops[s];
    i = 0;
    do
    :: i < THREADS -> must[i] = must[i] & ~ops[s]; i++
    :: else -> break
    od;
    i = 0;
    ops[s] = 0
}

inline return_from(op, t)
{
    if
    :: applied & op -> applied = applied & ~op
    :: else -> owed[t] = owed[t] | op
    fi
}

/* n numbers were passed: flushes of target t (or ANY) on this lane wait for that many less. */
inline pass(l, t, n)
{
    i = 0;
    do
    :: i < THREADS ->
        if
        :: whose[i] == t ->
            goal[G(i, l)] = (goal[G(i, l)] > n -> goal[G(i, l)] - n : 0);
            snap[G(i, l)] = (snap[G(i, l)] > n -> snap[G(i, l)] - n : 0)
        :: else
        fi;
        i++
    :: else -> break
    od;
    i = 0
}

/* ---- the lease; the look at both words was the step before ---- */

/* C: hl_lease_try (lib/lane/lease.h), hl_lease_try_now (lib/lane/lease.h), hl_lease_try_wanted (lib/lane/lease.h) */
inline lease_exchange(l, me)
{
    d_step {
        won = (held[l] == 0 || MUTANT == LEASE_NO_EXCHANGE);
        if
        :: won ->
            assert(held[l] == 0);
            held[l] = 1;
            if
            :: wanted[l] != 0 && wanted[l] != me + 1 ->
                overtaken[(wanted[l] - 1) * (THREADS + 1) + me]++;
                assert(overtaken[(wanted[l] - 1) * (THREADS + 1) + me] <= 1)
            :: else
            fi
        :: else
        fi
    }
}

/* C: hl_lease_want (lib/lane/lease.h) */
inline lease_want(l, me)
{
    wanted[l] = me + 1
}

/* C: hl_lease_unwant (lib/lane/lease.h) */
inline lease_unwant(l, me)
{
    d_step {
        if
        :: MUTANT != WANTED_STAYS -> wanted[l] = 0
        :: else
        fi;
        i = 0;
        do
        :: i <= THREADS -> overtaken[me * (THREADS + 1) + i] = 0; i++
        :: else -> break
        od;
        i = 0
    }
}

/* C: hl_lease_leave (lib/lane/lease.h) */
inline lease_leave(l)
{
    held[l] = 0
}

/* ---- slots, under the lease ---- */

/* C: advance_way (lib/lane/slot.c) */
inline advance_way(l, t, closed)
{
    n = (MUTANT == COUNTING_DONE -> 1 : (MUTANT == DONE_PASSES -> seq[closed] : 0));
    k = 0;
    do
    :: k < RING && MUTANT != COUNTING_DONE && MUTANT != DONE_PASSES ->
        if
        :: seq[S(l, k)] == n + 1 && to[S(l, k)] == t && open[S(l, k)] == 0 -> n++; k = 0
        :: else -> k++
        fi
    :: else -> break
    od;
    k = 0;
    do
    :: k < RING ->
        if
        :: seq[S(l, k)] != 0 && to[S(l, k)] == t ->
            seq[S(l, k)] = (seq[S(l, k)] > n -> seq[S(l, k)] - n : 0);
            to[S(l, k)] = (seq[S(l, k)] == 0 && open[S(l, k)] == 0 -> 0 : t)
        :: else
        fi;
        k++
    :: else -> break
    od;
    left[W(l, t)] = (left[W(l, t)] > n -> left[W(l, t)] - n : 0);
    pass(l, t, n);
    k = 0;
    n = 0
}

/* C: hl_slot_advance (lib/lane/slot.c) */
inline slot_advance(l)
{
    n = 0;
    do
    :: taken[l] > 0 && (open[S(l, tail[l])] == 0 || MUTANT == TAIL_PASSES) ->
        tail[l] = (tail[l] + 1) % RING;
        taken[l]--;
        n++
    :: else -> break
    od;
    pass(l, ANY, n);
    n = 0
}

/* C: hl_slot_close (lib/lane/slot.c) */
inline slot_close(l, s, closed)
{
    assert((open[s] & closed) != 0);
    open[s] = (MUTANT == SENT_IS_DELIVERED && closed == POST -> 0 : open[s] & ~closed);
    if
    :: open[s] == 0 -> advance_way(l, way, s)
    :: else
    fi
}

/* C: acknowledged (lib/lane/mail.c) -- cumulative: this message and all earlier ones of its way */
inline acknowledged(l, s)
{
    j = 0;
    upto = seq[s];
    do
    :: j < RING ->
        if
        :: to[S(l, j)] == way && S(l, j) != s && (open[S(l, j)] & ACK) != 0 && seq[S(l, j)] < upto ->
            arrive(S(l, j));
            open[S(l, j)] = open[S(l, j)] & ~ACK
        :: to[S(l, j)] == way && S(l, j) != s && (open[S(l, j)] & ACK) != 0 && seq[S(l, j)] > upto &&
           MUTANT == ACK_ENDS_ALL ->
            open[S(l, j)] = open[S(l, j)] & ~ACK
        :: else
        fi;
        j++
    :: else -> break
    od;
    j = 0;
    upto = 0;
    arrive(s);
    slot_close(l, s, ACK);
    if
    :: open[s] != 0 -> advance_way(l, way, s)
    :: else
    fi
}

/* C: hl_lane_progress (lib/lane/poll.c), completed (lib/lane/poll.c) -- one of what may have ended, any */
inline lane_progress(l)
{
    if
    :: open[S(l, 0)] & POST -> slot = S(l, 0); part = POST
    :: open[S(l, 0)] & ACK -> slot = S(l, 0); part = ACK
    :: open[S(l, 1)] & POST -> slot = S(l, 1); part = POST
    :: open[S(l, 1)] & ACK -> slot = S(l, 1); part = ACK
#if RING == 3
    :: open[S(l, 2)] & POST -> slot = S(l, 2); part = POST
    :: open[S(l, 2)] & ACK -> slot = S(l, 2); part = ACK
#endif
    :: !PENDING(l) -> part = 0
    fi;
    d_step {
        way = to[slot];
        if
        :: part == ACK -> acknowledged(l, slot)
        :: part == POST ->
            if
            :: (open[slot] & ACK) == 0 && ops[slot] != 0 -> arrive(slot)
            :: else
            fi;
            slot_close(l, slot, POST)
        :: else
        fi;
        slot_advance(l);
        way = 0;
        slot = 0;
        part = 0
    }
}

/* ---- chains, under the lease ---- */

/* C: hl_chain_send (lib/lane/send.c), hl_chain_send_all (lib/lane/send.c) -- t: a target, or ANY. One operation that
 * has nothing unacknowledged before it may go as a direct one. */
inline chain_send(l, t)
{
    d_step {
        k = 0;
        do
        :: k < TARGETS ->
            if
            :: (t == ANY || t == k) && chain[W(l, k)] != 0 ->
                open[chain[W(l, k)] - 1] = POST | ACK;
                if
                :: MUTANT == NUMBER_AT_CLOSE ->
                    left[W(l, k)]++;
                    seq[chain[W(l, k)] - 1] = left[W(l, k)]
                :: else
                fi;
                chain[W(l, k)] = 0
            :: else
            fi;
            k++
        :: else -> break
        od;
        k = 0
    }
}

/* ---- steps of issuing ---- */

/* C: hl_slot_commit (lib/lane/slot.c) -- slot and number, then both words are published */
inline slot_commit(l, t, parts)
{
    d_step {
        slot = S(l, tail[l] + taken[l]);
        assert(open[slot] == 0 && seq[slot] == 0);
        open[slot] = parts;
        to[slot] = t;
        ops[slot] = op;
        if
        :: MUTANT == NUMBER_AT_CLOSE && parts == CHAIN -> seq[slot] = NOT_NUMBERED
        :: else -> left[W(l, t)]++; seq[slot] = left[W(l, t)]
        fi;
        chain[W(l, t)] = (parts == CHAIN -> slot + 1 : chain[W(l, t)]);
        taken[l]++;
        slot = 0
    }
}

/* C: hl_chain_append (lib/lane/chain.c), hl_lane_put_again (lib/lane/short.h) -- and perhaps it was the last that fits */
inline chain_append(l, t)
{
    assert(chain[W(l, t)] != 0 && open[chain[W(l, t)] - 1] == CHAIN);
    ops[chain[W(l, t)] - 1] = ops[chain[W(l, t)] - 1] | op;
    if
    :: chain_send(l, t)
    :: true
    fi
}

/* C: hl_way_mark (lib/lane/way.c) -- sets the bit, before the first post */
inline way_mark(l, t)
{
    marked[W(l, t)] = 1;
    if
    :: MUTANT == BIT_AFTER_LEAVING -> late = 1
    :: else -> used[t] = used[t] | (1 << l)
    fi
}

/* C: hl_slot_take (lib/lane/post.c) -- a slot, or one poll, or another lane; open chains would keep a ring full */
inline take_slot_or_leave()
{
    if
    :: FULL(lane) ->
        if
        :: MUTANT != FULL_KEEPS_CHAIN -> chain_send(lane, ANY)
        :: else
        fi;
        lane_progress(lane);
        assert(!FULL(lane) || PENDING(lane)); /* it will not stay full */
        phase = (FULL(lane) -> LEAVE : ROOM)
    :: else ->
        if
        :: small -> slot_commit(lane, target, CHAIN)
        :: else -> slot_commit(lane, target, POST)
        fi;
        posted = 1;
        phase = LEAVE
    fi
}

#define MAY_LOOK (FREE(0) || FREE(1) || WANTABLE(0) || WANTABLE(1))

/* C: pursue (lib/lane/issue.c), found_taken (lib/lane/issue.c) -- any lane that looks free, or a place in the queue
 * of any that is taken */
inline look_for_lane(me)
{
    if
    :: FREE(0) -> lane = 0
    :: FREE(1) && begun -> lane = 1
    :: WANTABLE(0) -> lane = 0; waits = 1; lease_want(0, me)
    :: WANTABLE(1) -> lane = 1; waits = 1; lease_want(1, me)
    fi;
    begun = 1;
    phase = ENTER
}

/* What the call was for matters from here on: chosen here, the same runs in fewer states. */
inline choose_call(me)
{
    op = 1 << (me * OPS + more);
    if
    :: target = 0
    :: chosen -> target = 1
    fi;
    if
    :: FIRST != 1 || chosen -> small = 0
    :: FIRST != 0 || chosen -> small = 1
    fi;
    chosen = 1
}

inline forget_call()
{
    op = 0;
    target = 0;
    small = 0
}

/* C: hl_lane_post (lib/lane/post.c), transfer_at_once (lib/lane/post.c) */
inline enter(me)
{
    lease_exchange(lane, me);
    if
    :: !won && !waits -> lane = 0; phase = LOOK
    :: !won && waits
    :: won ->
        won = 0;
        if
        :: waits -> waits = 0; lease_unwant(lane, me)
        :: else
        fi;
        choose_call(me);
        if
        :: small && chain[W(lane, target)] != 0 -> phase = APPEND
        :: !(small && chain[W(lane, target)] != 0) && !marked[W(lane, target)] ->
            way_mark(lane, target);
            phase = ROOM
        :: !(small && chain[W(lane, target)] != 0) && marked[W(lane, target)] -> take_slot_or_leave()
        fi
    fi
}

inline end_issue()
{
    d_step {
        return_from(op, target);
        lane = 0;
        posted = 0;
        forget_call();
        phase = CALL
    }
}

/* C: issue (lib/lane/post.c) */
inline leave()
{
    lease_leave(lane);
    if
    :: posted && late -> phase = LATE
    :: posted && !late -> end_issue()
    :: !posted -> lane = 0; forget_call(); phase = LOOK
    fi
}

/* ---- steps of flush ---- */

#define ISSUED(l) (target == ANY -> taken[l] : left[W(l, target % TARGETS)])
#define WAITED(me) (goal[G(me, 0)] != 0 || goal[G(me, 1)] != 0)
#define IDLE(l, t) \
    (marked[W(l, t)] && (left[W(l, t)] == 0 || (MUTANT == BIT_CLEARED_CHAIN && chain[W(l, t)] != 0)))
#define ANY_IDLE(l) (IDLE(l, 0) || IDLE(l, 1))
/* Something the flusher could do there: a poll that reads nothing changes nothing. */
#define SENDABLE(l) \
    (MUTANT != CHAIN_STAYS_OPEN && (target == ANY -> CHAINED(l) : chain[W(l, target % TARGETS)] != 0))
#define MAY_POLL(me, l) (goal[G(me, l)] != 0 && FREE(l) && (PENDING(l) || SENDABLE(l)))

/* Nothing whose call had returned when the flush began is still not at the target. */
inline end_flush(me)
{
    d_step {
        assert(must[me] == 0);
        must[me] = 0;
        lane = 0;
        target = 0;
        whose[me] = 0;
        goal[G(me, 0)] = 0;
        goal[G(me, 1)] = 0;
        snap[G(me, 0)] = 0;
        snap[G(me, 1)] = 0;
        phase = CALL
    }
}

/* C: hl_pool_flush (lib/lane/flush.c), hl_pool_flush_all (lib/lane/flush.c) -- which lanes */
inline begin_flush(me)
{
    if
    :: target = 0; bits = used[0]; must[me] = owed[0]
    :: chosen -> target = 1; bits = used[1]; must[me] = owed[1]
    :: target = ANY; bits = (1 << LANES) - 1; must[me] = owed[0] | owed[1]
    fi;
    whose[me] = target;
    phase = SNAP;
    if
    :: bits == 0 -> end_flush(me)
    :: else
    fi
}

/* C: snapshot (lib/lane/flush.c), sweep_if_due (lib/lane/flush.c) -- how far it has to get there; when nothing is
 * open anywhere, perhaps a sweep */
inline take_snapshot(me, l)
{
    bits = bits & ~(1 << l);
    goal[G(me, l)] = ISSUED(l);
    snap[G(me, l)] = ISSUED(l);
    if
    :: bits != 0
    :: bits == 0 && WAITED(me) -> phase = WAIT
    :: bits == 0 && !WAITED(me) -> end_flush(me)
    :: bits == 0 && !WAITED(me) && FREE(0) && ANY_IDLE(0) -> lane = 0; phase = SWEEP
    :: bits == 0 && !WAITED(me) && FREE(1) && ANY_IDLE(1) -> lane = 1; phase = SWEEP
    fi
}

/* C: all_reached (lib/lane/flush.c) -- a look at one lane, never for something issued after the snapshot */
inline look_at_lane(me, l)
{
    d_step {
        if
        :: MUTANT == GOAL_MOVES -> goal[G(me, l)] = ISSUED(l)
        :: else
        fi;
        assert(goal[G(me, l)] <= snap[G(me, l)]);
        lane = l;
        phase = POLL
    }
}

/* C: push (lib/lane/flush.c) -- sends the chain that is waited for, reads what has ended */
inline poll_lane(me)
{
    lease_exchange(lane, me);
    if
    :: won ->
        won = 0;
        if
        :: MUTANT != CHAIN_STAYS_OPEN -> chain_send(lane, target)
        :: else
        fi;
        lane_progress(lane);
        phase = POLLED
    :: else -> lane = 0; phase = WAIT
    fi
}

/* C: hl_way_sweep (lib/lane/way.c) -- takes back the bits of ways with nothing open */
inline way_sweep(me)
{
    if
    :: MUTANT == SWEEP_NO_LEASE -> won = 1
    :: else -> lease_exchange(lane, me)
    fi;
    if
    :: won ->
        if
        :: IDLE(lane, 0) -> marked[W(lane, 0)] = (MUTANT == MARK_STAYS); used[0] = used[0] & ~(1 << lane)
        :: IDLE(lane, 1) -> marked[W(lane, 1)] = (MUTANT == MARK_STAYS); used[1] = used[1] & ~(1 << lane)
        :: !ANY_IDLE(lane)
        fi;
        won = 0;
        phase = SWEPT
    :: else -> end_flush(me)
    fi
}

/* ---- who runs ---- */

/* Targets, lanes and threads are alike: the first call is thread 0's, looks at lane 0, and the first target is 0. */
proctype worker(byte me)
{
    byte more = OPS, flushes = FLUSHES;
    mtype phase = CALL;
    byte lane, slot, part, i, j, k, n, way, upto, target, op, bits;
    bit won, waits, posted, late, small;
    do
    :: atomic {
            phase == CALL && more > 0 && MAY_LOOK && (begun || me == 0) ->
            more--;
            look_for_lane(me)
        }
    :: atomic { phase == LOOK && MAY_LOOK -> look_for_lane(me) }
    :: atomic { phase == ENTER && (!waits || held[lane] == 0) -> enter(me) }
    :: atomic { phase == APPEND -> chain_append(lane, target); posted = 1; phase = LEAVE }
    :: atomic { phase == ROOM -> take_slot_or_leave() }
    :: atomic { phase == LEAVE -> leave() }
    :: atomic { phase == LATE -> late = 0; used[target] = used[target] | (1 << lane); end_issue() }

    :: atomic { phase == CALL && flushes > 0 && begun -> flushes--; begin_flush(me) }
    :: atomic { phase == SNAP && (bits & 1) -> take_snapshot(me, 0) }
    :: atomic { phase == SNAP && (bits & 2) -> take_snapshot(me, 1) }
    :: atomic { phase == WAIT && MAY_POLL(me, 0) -> look_at_lane(me, 0) }
    :: atomic { phase == WAIT && MAY_POLL(me, 1) -> look_at_lane(me, 1) }
    :: atomic { phase == WAIT && !WAITED(me) -> end_flush(me) }
    :: atomic { phase == POLL -> poll_lane(me) }
    :: atomic { phase == POLLED -> lease_leave(lane); lane = 0; phase = WAIT }
    :: atomic { phase == SWEEP -> way_sweep(me) }
    :: atomic { phase == SWEPT -> lease_leave(lane); end_flush(me) }

    :: atomic { phase == CALL && more == 0 && (flushes == 0 || !begun) -> finished++; break }
    od
}

/* C: hl_pool_tick (lib/lane/send.c), look_after (lib/lane/send.c) -- the receive thread, by try-lock: what brings the
 * rest to the target when nobody calls any more */
#define TICKS(l) ((TICK || finished == THREADS) && FREE(l) && CHAINED(l))

proctype receiver()
{
    byte lane, slot, part, i, j, k, n, way, upto;
    bit won, looked;
    do
    :: atomic { !looked && !won && TICKS(0) -> lane = 0; looked = 1 }
    :: atomic { !looked && !won && TICKS(1) -> lane = 1; looked = 1 }
    :: atomic { looked && MUTANT != TICK_NO_LEASE ->
            looked = 0;
            lease_exchange(lane, THREADS);
            if
            :: won -> chain_send(lane, ANY)
            :: else -> lane = 0
            fi
        }
    :: atomic { looked && MUTANT == TICK_NO_LEASE -> looked = 0; chain_send(lane, ANY); lane = 0 }
    :: atomic { won -> won = 0; lease_leave(lane); lane = 0 }
    :: atomic { finished == THREADS && !looked && !won && !CHAINED(0) && !CHAINED(1) -> break }
    od;
    atomic {
        do
        :: PENDING(0) -> lane_progress(0)
        :: !PENDING(0) && PENDING(1) -> lane_progress(1)
        :: else -> break
        od;
        /* Everything arrived, every place is free, nobody's id is left. */
        assert(applied == 0 && owed[0] == 0 && owed[1] == 0);
        assert(taken[0] == 0 && taken[1] == 0);
        assert(wanted[0] == 0 && wanted[1] == 0)
    }
}

init
{
    atomic {
        run worker(0);
        run worker(1);
#if THREADS == 3
        run worker(2);
#endif
        run receiver()
    }
}
