/* Leases, ways, slots, used bits, chains and flush of the pool of lanes, for Spin. See docs/PROOFS.md.
 *
 * A step is one access to what several threads look at: a lease's words, used[target], issued and done of ways, issued
 * and tail of lanes; what only the leaseholder touches moves with the access next to it. Taking a lease and the first
 * access under it are one step (nothing else can come between that would be seen), leaving is one of its own.
 * Waiting is blocking until something could move, so "somebody waits for ever" is an invalid end state. An operation
 * is at the target when its completion or acknowledgement is read: the latest moment there is. Threads use any lane,
 * any target, any kind, any order of calls.
 *
 * What makes the states few, and loses none that differ:
 * - Numbers only matter in relation: they are counted from `done` and `tail`, slots of a ring from its tail.
 * - Threads, lanes and targets are alike: of the states that differ by their names only, one is kept (canonise).
 * - No step depends on which operation is which: any one may carry the tag, and the promises are about that one. When
 *   it is over the next one may carry it.
 * - What is not in use any more is reset.
 *
 * Ghosts, known to the proof only: mine, tag, applied, owed, must, overtook.
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
#ifndef NAMES
#define NAMES 0 /* 1: states that differ by names only are all kept */
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
#define S(l, n) ((l) * RING + (n))
#define G(p, l) ((p) * LANES + (l))
#define ANY 2  /* in place of a target: flush_all */
#define NONE 3 /* no lane, no target */
#define NOT_NUMBERED 15
#define me _pid

/* Parts of a slot; CHAIN: records may still be appended. */
#define POST 1
#define ACK 2
#define CHAIN 4

mtype = {CALL, LOOK, ENTER, APPEND, ROOM, LEAVE, LATE, SNAP, WAIT, POLL, POLLED, SWEEP, SWEPT, OVER};

bit held[LANES];
byte wanted[LANES];
byte overtook[LANES];         /* set of those that entered while somebody waits */
byte taken[LANES];            /* issued - tail */
byte open[LANES * RING];      /* parts */
byte to[LANES * RING] = NONE; /* target */
byte seq[LANES * RING];       /* number in its way, from done; 0: done has passed it */
bit tag[LANES * RING];
byte left[LANES * TARGETS];   /* issued - done of a way */
byte chain[LANES * TARGETS];  /* its open chain: slot + 1 */
bit marked[LANES * TARGETS];
byte used[TARGETS];

/* Of threads; the receive thread has a place too. */
mtype phase[THREADS] = CALL;
byte more[THREADS] = OPS;
byte flushes[THREADS] = FLUSHES;
byte lane[THREADS + 1] = NONE;
byte target[THREADS] = NONE;
byte bits[THREADS];         /* lanes that a flush has not looked at yet */
byte goal[THREADS * LANES]; /* what a flush waits for: from done, or from tail when it waits for all targets */
bit must[THREADS];          /* the tag has to be at the target when it ends */
bit waits[THREADS], posted[THREADS], late[THREADS], small[THREADS];
bit mine[THREADS]; /* my operation carries the tag */
bit holds;         /* the receive thread, the lease of its lane */

bit applied;       /* the tag is at the target and its call has not returned */
bit owed[TARGETS]; /* its call has returned and it is not at the target */
bit over;

hidden byte i, j, k, n, slot, part, way, newest;

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
#if THREADS == 2
#define ALL_OVER (phase[0] == OVER && phase[1] == OVER)
#define TAGGED_CALL (mine[0] || mine[1])
#else
#define ALL_OVER (phase[0] == OVER && phase[1] == OVER && phase[2] == OVER)
#define TAGGED_CALL (mine[0] || mine[1] || mine[2])
#endif
#if RING == 2
#define TAGGED_SLOT (tag[0] || tag[1] || tag[2] || tag[3])
#else
#define TAGGED_SLOT (tag[0] || tag[1] || tag[2] || tag[3] || tag[4] || tag[5])
#endif
#define TAGGED (TAGGED_CALL || TAGGED_SLOT || applied || owed[0] || owed[1])

/* ---- ghosts ---- */

inline arrive(s)
{
    if
    :: tag[s] ->
        assert(!applied);
        applied = !owed[to[s]];
        owed[to[s]] = 0;
        i = 0;
        do
        :: i < THREADS -> must[i] = 0; i++
        :: else -> break
        od;
        tag[s] = 0
    :: else
    fi
}

/* n numbers were passed: flushes of target t (or ANY) on this lane wait for that many less. */
inline pass(l, t, n)
{
    i = 0;
    do
    :: i < THREADS ->
        goal[G(i, l)] = (target[i] != t -> goal[G(i, l)] : (goal[G(i, l)] > n -> goal[G(i, l)] - n : 0));
        i++
    :: else -> break
    od;
    i = 0
}

/* ---- the lease; the look at both words was the step before ---- */

#define WINS(l) (held[l] == 0 || MUTANT == LEASE_NO_EXCHANGE)

/* C: hl_lease_try (lib/lane/lease.h), hl_lease_try_wanted (lib/lane/lease.h) */
inline lease_exchange(l, who)
{
    assert(held[l] == 0);
    held[l] = 1;
    if
    :: wanted[l] != 0 && wanted[l] != who + 1 ->
        assert((overtook[l] & (1 << who)) == 0);
        overtook[l] = overtook[l] | (1 << who)
    :: else
    fi
}

/* C: hl_lease_want (lib/lane/lease.h) */
inline lease_want(l)
{
    wanted[l] = me + 1
}

/* C: hl_lease_unwant (lib/lane/lease.h) */
inline lease_unwant(l)
{
    wanted[l] = (MUTANT == WANTED_STAYS -> wanted[l] : 0);
    overtook[l] = 0
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
            to[S(l, k)] = (seq[S(l, k)] == 0 && open[S(l, k)] == 0 -> NONE : t)
        :: else
        fi;
        k++
    :: else -> break
    od;
    left[W(l, t)] = (left[W(l, t)] > n -> left[W(l, t)] - n : 0);
    pass(l, t, n)
}

/* The tail goes on: the slot at it becomes the last one. */
inline turn_ring(l)
{
    i = open[S(l, 0)];
    j = to[S(l, 0)];
    n = seq[S(l, 0)];
    newest = tag[S(l, 0)];
    k = 0;
    do
    :: k < RING - 1 ->
        open[S(l, k)] = open[S(l, k + 1)];
        to[S(l, k)] = to[S(l, k + 1)];
        seq[S(l, k)] = seq[S(l, k + 1)];
        tag[S(l, k)] = tag[S(l, k + 1)];
        k++
    :: else -> break
    od;
    open[S(l, k)] = i;
    to[S(l, k)] = j;
    seq[S(l, k)] = n;
    tag[S(l, k)] = newest;
    chain[W(l, 0)] = (chain[W(l, 0)] == 1 -> RING : (chain[W(l, 0)] == 0 -> 0 : chain[W(l, 0)] - 1));
    chain[W(l, 1)] = (chain[W(l, 1)] == 1 -> RING : (chain[W(l, 1)] == 0 -> 0 : chain[W(l, 1)] - 1));
    taken[l]--
}

/* C: hl_lane_slot_advance (lib/lane/slot.c) */
inline slot_advance(l)
{
    part = 0;
    do
    :: taken[l] > 0 && (open[S(l, 0)] == 0 || MUTANT == TAIL_PASSES) -> turn_ring(l); part++
    :: else -> break
    od;
    pass(l, ANY, part)
}

/* C: hl_lane_slot_close (lib/lane/slot.c) */
inline slot_close(l, s, closed)
{
    assert((open[s] & closed) != 0);
    open[s] = (MUTANT == SENT_IS_DELIVERED && closed == POST -> 0 : open[s] & ~closed);
    if
    :: open[s] == 0 -> advance_way(l, way, s)
    :: else
    fi
}

/* C: close_acknowledged (lib/lane/ack.c) -- cumulative: this message and all earlier ones of its way */
inline acknowledged(l, s)
{
    j = 0;
    newest = seq[s];
    do
    :: j < RING ->
        if
        :: to[S(l, j)] == way && S(l, j) != s && (open[S(l, j)] & ACK) != 0 && seq[S(l, j)] < newest ->
            arrive(S(l, j));
            open[S(l, j)] = open[S(l, j)] & ~ACK
        :: to[S(l, j)] == way && S(l, j) != s && (open[S(l, j)] & ACK) != 0 && seq[S(l, j)] > newest &&
           MUTANT == ACK_ENDS_ALL ->
            open[S(l, j)] = open[S(l, j)] & ~ACK
        :: else
        fi;
        j++
    :: else -> break
    od;
    arrive(s);
    slot_close(l, s, ACK);
    if
    :: open[s] != 0 -> advance_way(l, way, s)
    :: else
    fi
}

/* C: hl_lane_progress (lib/lane/poll.c), close_completed (lib/lane/poll.c) -- one of what may have ended, any */
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
            :: (open[slot] & ACK) == 0 -> arrive(slot)
            :: else
            fi;
            slot_close(l, slot, POST)
        :: else
        fi;
        slot_advance(l)
    }
}

/* ---- chains, under the lease ---- */

/* C: hl_chain_send (lib/lane/send.c), hl_chain_send_all (lib/lane/send.c) -- t: a target, or ANY. One operation that
 * has nothing unacknowledged before it may go as a direct one. */
inline chain_send(l, t)
{
    k = 0;
    do
    :: k < TARGETS ->
        if
        :: (t == ANY || t == k) && chain[W(l, k)] != 0 ->
            n = S(l, chain[W(l, k)] - 1);
            open[n] = POST | ACK;
            if
            :: MUTANT == NUMBER_AT_CLOSE -> left[W(l, k)]++; seq[n] = left[W(l, k)]
            :: else
            fi;
            chain[W(l, k)] = 0
        :: else
        fi;
        k++
    :: else -> break
    od;
    n = 0
}

/* ---- steps of issuing ---- */

/* C: hl_lane_slot_commit (lib/lane/slot.c) -- slot and number, then both words are published */
inline slot_commit(l, t, parts)
{
    slot = S(l, taken[l]);
    assert(open[slot] == 0 && seq[slot] == 0 && !tag[slot]);
    open[slot] = parts;
    to[slot] = t;
    tag[slot] = mine[me];
    if
    :: MUTANT == NUMBER_AT_CLOSE && parts == CHAIN -> seq[slot] = NOT_NUMBERED
    :: else -> left[W(l, t)]++; seq[slot] = left[W(l, t)]
    fi;
    taken[l]++;
    chain[W(l, t)] = (parts == CHAIN -> taken[l] : chain[W(l, t)])
}

/* C: hl_chain_append (lib/lane/chain.c), hl_lane_put_short (lib/lane/short.h) --
 * and perhaps it was the last that fits */
inline chain_append(l, t)
{
    d_step {
        slot = S(l, chain[W(l, t)] - 1);
        assert(chain[W(l, t)] != 0 && open[slot] == CHAIN);
        tag[slot] = tag[slot] || mine[me];
        posted[me] = 1;
        phase[me] = LEAVE
    }
    if
    :: d_step { chain_send(l, t) }
    :: true
    fi
}

/* C: hl_way_mark (lib/lane/way.c) -- sets the bit, before the first post */
inline way_mark(l, t)
{
    marked[W(l, t)] = 1;
    if
    :: MUTANT == BIT_AFTER_LEAVING -> late[me] = 1
    :: else -> used[t] = used[t] | (1 << l)
    fi
}

/* C: hl_lane_slot_take (lib/lane/slot.c) -- a slot, or one poll, or another lane; open chains would keep a ring full */
inline take_slot_or_leave(l)
{
    if
    :: FULL(l) ->
        if
        :: MUTANT != FULL_KEEPS_CHAIN -> d_step { chain_send(l, ANY) }
        :: else
        fi;
        lane_progress(l);
        d_step {
            assert(!FULL(l) || PENDING(l)); /* it will not stay full */
            phase[me] = (FULL(l) -> LEAVE : ROOM)
        }
    :: else ->
        d_step {
            if
            :: small[me] -> slot_commit(l, target[me], CHAIN)
            :: else -> slot_commit(l, target[me], POST)
            fi;
            posted[me] = 1;
            phase[me] = LEAVE
        }
    fi
}

#define MAY_LOOK (FREE(0) || FREE(1) || WANTABLE(0) || WANTABLE(1))

/* C: is_issue_over (lib/lane/issue.c), found_taken (lib/lane/issue.c) -- any lane that looks free, or a place in the queue
 * of any that is taken */
inline look_for_lane()
{
    if
    :: FREE(0) -> lane[me] = 0
    :: FREE(1) -> lane[me] = 1
    :: WANTABLE(0) -> lane[me] = 0; waits[me] = 1; lease_want(0)
    :: WANTABLE(1) -> lane[me] = 1; waits[me] = 1; lease_want(1)
    fi;
    phase[me] = ENTER
}

/* What the call was for matters from here on: chosen here, the same runs in fewer states. */
inline choose_call()
{
    if
    :: target[me] = 0
    :: target[me] = 1
    fi;
    if
    :: small[me] = 0
    :: small[me] = 1
    fi;
    if
    :: mine[me] = 0
    :: !TAGGED -> mine[me] = 1
    fi
}

inline forget_call()
{
    lane[me] = NONE;
    target[me] = NONE;
    small[me] = 0;
    mine[me] = 0;
    posted[me] = 0
}

#define MY_CHAIN (small[me] && chain[W(lane[me], target[me])] != 0)
#define MY_MARK marked[W(lane[me], target[me])]

/* C: hl_lane_post (lib/lane/post.c), transfer_at_once (lib/lane/post.c) */
inline enter()
{
    d_step {
        lease_exchange(lane[me], me);
        if
        :: waits[me] -> lease_unwant(lane[me])
        :: else
        fi;
        waits[me] = 0
    }
    choose_call();
    if
    :: MY_CHAIN -> phase[me] = APPEND
    :: !MY_CHAIN && !MY_MARK -> d_step { way_mark(lane[me], target[me]); phase[me] = ROOM }
    :: !MY_CHAIN && MY_MARK -> take_slot_or_leave(lane[me])
    fi
}

/* Its call returns. */
inline end_issue()
{
    if
    :: mine[me] ->
        owed[target[me]] = !applied;
        applied = 0
    :: else
    fi;
    forget_call();
    phase[me] = CALL
}

/* C: issue_op (lib/lane/post.c) */
inline leave()
{
    lease_leave(lane[me]);
    if
    :: posted[me] && late[me] -> phase[me] = LATE
    :: posted[me] && !late[me] -> end_issue()
    :: !posted[me] -> forget_call(); phase[me] = LOOK
    fi
}

/* ---- steps of flush ---- */

#define ISSUED(l) (target[me] == ANY -> taken[l] : left[W(l, target[me] % TARGETS)])
#define WAITED (goal[G(me, 0)] != 0 || goal[G(me, 1)] != 0)
#define IDLE(l, t) \
    (marked[W(l, t)] && (left[W(l, t)] == 0 || (MUTANT == BIT_CLEARED_CHAIN && chain[W(l, t)] != 0)))
#define ANY_IDLE(l) (IDLE(l, 0) || IDLE(l, 1))
/* Something the flusher could do there: a poll that reads nothing changes nothing. */
#define SENDABLE(l) \
    (MUTANT != CHAIN_STAYS_OPEN && (target[me] == ANY -> CHAINED(l) : chain[W(l, target[me] % TARGETS)] != 0))
#define MAY_POLL(l) (goal[G(me, l)] != 0 && FREE(l) && (PENDING(l) || SENDABLE(l)))

/* Nothing whose call had returned when the flush began is still not at the target. */
inline end_flush()
{
    assert(must[me] == 0);
    lane[me] = NONE;
    target[me] = NONE;
    phase[me] = CALL
}

/* C: hl_lane_flush (lib/lane/flush.c) -- which lanes */
inline begin_flush()
{
    if
    :: d_step { target[me] = 0; bits[me] = used[0]; must[me] = owed[0] }
    :: d_step { target[me] = 1; bits[me] = used[1]; must[me] = owed[1] }
    :: d_step { target[me] = ANY; bits[me] = (1 << LANES) - 1; must[me] = owed[0] || owed[1] }
    fi;
    d_step {
        if
        :: bits[me] == 0 -> end_flush()
        :: else -> phase[me] = SNAP
        fi;
        n = 0
    }
}

/* C: snapshot_goal (lib/lane/flush.c), sweep_if_due (lib/lane/flush.c) -- how far it has to get there; when nothing is
 * open anywhere, perhaps a sweep */
inline take_snapshot(l)
{
    d_step {
        bits[me] = bits[me] & ~(1 << l);
        goal[G(me, l)] = ISSUED(l)
    }
    if
    :: bits[me] != 0
    :: bits[me] == 0 && WAITED -> phase[me] = WAIT
    :: bits[me] == 0 && !WAITED -> d_step { end_flush() }
    :: bits[me] == 0 && !WAITED && FREE(0) && ANY_IDLE(0) -> lane[me] = 0; phase[me] = SWEEP
    :: bits[me] == 0 && !WAITED && FREE(1) && ANY_IDLE(1) -> lane[me] = 1; phase[me] = SWEEP
    fi
}

/* C: are_goals_reached (lib/lane/flush.c) -- a look at one lane, never for something issued after the snapshot */
inline look_at_lane(l)
{
    n = (MUTANT == GOAL_MOVES -> ISSUED(l) : goal[G(me, l)]);
    assert(n <= goal[G(me, l)]);
    lane[me] = l;
    phase[me] = POLL
}

/* C: push_goal (lib/lane/flush.c) -- sends the chain that is waited for, reads what has ended */
inline poll_lane()
{
    d_step {
        lease_exchange(lane[me], me);
        if
        :: MUTANT != CHAIN_STAYS_OPEN -> chain_send(lane[me], target[me])
        :: else
        fi;
        phase[me] = POLLED
    }
    lane_progress(lane[me])
}

/* C: hl_way_sweep (lib/lane/way.c) -- takes back the bits of ways with nothing open */
inline way_sweep()
{
    if
    :: MUTANT != SWEEP_NO_LEASE -> d_step { lease_exchange(lane[me], me) }
    :: else
    fi;
    if
    :: IDLE(lane[me], 0) -> d_step {
            marked[W(lane[me], 0)] = (MUTANT == MARK_STAYS);
            used[0] = used[0] & ~(1 << lane[me])
        }
    :: IDLE(lane[me], 1) -> d_step {
            marked[W(lane[me], 1)] = (MUTANT == MARK_STAYS);
            used[1] = used[1] & ~(1 << lane[me])
        }
    :: !ANY_IDLE(lane[me])
    fi;
    phase[me] = SWEPT
}

/* ---- of the states that differ by the names of threads, lanes and targets only, the least ---- */

c_code {
#include <stddef.h>
    enum { KEPT = offsetof(State, sv) };

#if THREADS == 2
    static const uchar orders[][THREADS] = {{0, 1}, {1, 0}};
#else
    static const uchar orders[][THREADS] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
#endif

    static uchar name_of(uchar x, int exchange) { return x < 2 ? x ^ exchange : x; }
    static uchar set_of(uchar x, int exchange) { return exchange ? x >> 1 | (x & 1) << 1 : x; }

    /* b = a with its threads in this order, lanes and targets exchanged or not. */
    static void rename_all(const State *a, State *b, const uchar *order, int lanes, int targets)
    {
        memcpy(b, a, KEPT);
        for (int l = 0; l < LANES; l++) {
            int m = l ^ lanes;
            b->held[m] = a->held[l];
            b->taken[m] = a->taken[l];
            b->wanted[m] = a->wanted[l] != 0 ? order[a->wanted[l] - 1] + 1 : 0;
            b->overtook[m] = a->overtook[l] & 1 << THREADS;
            for (int p = 0; p < THREADS; p++) {
                b->overtook[m] |= (a->overtook[l] >> p & 1) << order[p];
                b->goal[G(order[p], m)] = a->goal[G(p, l)];
            }
            for (int n = 0; n < RING; n++) {
                b->open[S(m, n)] = a->open[S(l, n)];
                b->to[S(m, n)] = name_of(a->to[S(l, n)], targets);
                b->seq[S(m, n)] = a->seq[S(l, n)];
                b->tag[S(m, n)] = a->tag[S(l, n)];
            }
            for (int t = 0; t < TARGETS; t++) {
                b->left[W(m, t ^ targets)] = a->left[W(l, t)];
                b->chain[W(m, t ^ targets)] = a->chain[W(l, t)];
                b->marked[W(m, t ^ targets)] = a->marked[W(l, t)];
            }
        }
        for (int t = 0; t < TARGETS; t++) {
            b->used[t ^ targets] = set_of(a->used[t], lanes);
            b->owed[t ^ targets] = a->owed[t];
        }
        for (int p = 0; p < THREADS; p++) {
            int q = order[p];
            b->phase[q] = a->phase[p];
            b->more[q] = a->more[p];
            b->flushes[q] = a->flushes[p];
            b->lane[q] = name_of(a->lane[p], lanes);
            b->target[q] = name_of(a->target[p], targets);
            b->bits[q] = set_of(a->bits[p], lanes);
            b->must[q] = a->must[p];
            b->waits[q] = a->waits[p];
            b->posted[q] = a->posted[p];
            b->late[q] = a->late[p];
            b->small[q] = a->small[p];
            b->mine[q] = a->mine[p];
        }
        b->lane[THREADS] = name_of(a->lane[THREADS], lanes);
    }

    static void canonise(void)
    {
        static State best, other;
        memcpy(&best, &now, KEPT);
        for (int i = 1; i < (int)(sizeof orders / sizeof orders[0]) * 4; i++) {
            rename_all(&now, &other, orders[i / 4], i & 1, i >> 1 & 1);
            if (memcmp(&other, &best, KEPT) < 0) {
                memcpy(&best, &other, KEPT);
            }
        }
        memcpy(&now, &best, KEPT);
    }
}

#if NAMES
#define CANONISE skip
#else
#define CANONISE c_code { canonise(); }
#endif

/* ---- who runs ---- */

/* A thread's state is in the arrays above, so that canonise can exchange threads. */
active [THREADS] proctype worker()
{
    do
    :: atomic { phase[me] == CALL && more[me] > 0 && MAY_LOOK -> more[me]--; look_for_lane(); CANONISE }
    :: atomic { phase[me] == LOOK && MAY_LOOK -> look_for_lane(); CANONISE }
    :: atomic { phase[me] == ENTER && WINS(lane[me]) -> enter(); CANONISE }
    :: atomic { phase[me] == ENTER && !WINS(lane[me]) && !waits[me] -> lane[me] = NONE; phase[me] = LOOK; CANONISE }
    :: atomic { phase[me] == APPEND -> chain_append(lane[me], target[me]); CANONISE }
    :: atomic { phase[me] == ROOM -> take_slot_or_leave(lane[me]); CANONISE }
    :: d_step { phase[me] == LEAVE -> leave(); CANONISE }
    :: d_step { phase[me] == LATE ->
            late[me] = 0;
            used[target[me]] = used[target[me]] | (1 << lane[me]);
            end_issue();
            CANONISE
        }

    :: atomic { phase[me] == CALL && flushes[me] > 0 -> flushes[me]--; begin_flush(); CANONISE }
    :: atomic { phase[me] == SNAP && (bits[me] & 1) -> take_snapshot(0); CANONISE }
    :: atomic { phase[me] == SNAP && (bits[me] & 2) -> take_snapshot(1); CANONISE }
    :: d_step { phase[me] == WAIT && MAY_POLL(0) -> look_at_lane(0); CANONISE }
    :: d_step { phase[me] == WAIT && MAY_POLL(1) -> look_at_lane(1); CANONISE }
    :: d_step { phase[me] == WAIT && !WAITED -> end_flush(); CANONISE }
    :: atomic { phase[me] == POLL && WINS(lane[me]) -> poll_lane(); CANONISE }
    :: d_step { phase[me] == POLL && !WINS(lane[me]) -> lane[me] = NONE; phase[me] = WAIT; CANONISE }
    :: d_step { phase[me] == POLLED -> lease_leave(lane[me]); lane[me] = NONE; phase[me] = WAIT; CANONISE }
    :: atomic { phase[me] == SWEEP && (WINS(lane[me]) || MUTANT == SWEEP_NO_LEASE) -> way_sweep(); CANONISE }
    :: d_step { phase[me] == SWEEP && !WINS(lane[me]) && MUTANT != SWEEP_NO_LEASE -> end_flush(); CANONISE }
    :: d_step { phase[me] == SWEPT -> lease_leave(lane[me]); end_flush(); CANONISE }

    :: d_step { phase[me] == CALL && more[me] == 0 && flushes[me] == 0 -> phase[me] = OVER; CANONISE }
    :: over -> break
    od
}

/* C: hl_pool_tick (lib/lane/send.c), look_after (lib/lane/send.c) -- the receive thread, by try-lock: what brings the
 * rest to the target when nobody calls any more
 * C: connect_lane (lib/lane/open_async.c), step_open_async (lib/lane/open_async.c) -- the helper that connects lanes, by try-lock too: a ping takes no
 * slot, so all that it does here is to read the queue */
#define TICKS(l) (FREE(l) && (((TICK || ALL_OVER) && CHAINED(l)) || (TICK && PENDING(l))))
#define LANE lane[THREADS]

active proctype receiver()
{
    do
    :: d_step { LANE == NONE && TICKS(0) -> LANE = 0; CANONISE }
    :: d_step { LANE == NONE && TICKS(1) -> LANE = 1; CANONISE }
    :: atomic { LANE != NONE && !holds && MUTANT != TICK_NO_LEASE && WINS(LANE) ->
            d_step { lease_exchange(LANE, THREADS); holds = 1 }
            if
            :: d_step { chain_send(LANE, ANY) }
            :: TICK -> lane_progress(LANE)
            fi;
            CANONISE
        }
    :: d_step { LANE != NONE && !holds && MUTANT != TICK_NO_LEASE && !WINS(LANE) -> LANE = NONE; CANONISE }
    :: d_step { LANE != NONE && MUTANT == TICK_NO_LEASE -> chain_send(LANE, ANY); LANE = NONE; CANONISE }
    :: d_step { holds -> holds = 0; lease_leave(LANE); LANE = NONE; CANONISE }
    :: ALL_OVER && LANE == NONE && !CHAINED(0) && !CHAINED(1) -> break
    od;
    atomic {
        do
        :: PENDING(0) -> lane_progress(0)
        :: !PENDING(0) && PENDING(1) -> lane_progress(1)
        :: else -> break
        od;
        /* Everything arrived, every place is free, nobody's id is left. */
        assert(!TAGGED);
        assert(taken[0] == 0 && taken[1] == 0);
        assert(wanted[0] == 0 && wanted[1] == 0);
        over = 1
    }
}
