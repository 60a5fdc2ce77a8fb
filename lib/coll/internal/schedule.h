/* Schedules: what one rank does in a collective operation, in order.
 *
 *   built: hl_sched_send, _recv, _copy, _combine, _wait append steps
 *   run:   hl_sched_try goes through the steps. Sends and receives are posted, and at most `window` of them
 *          are under way at a time; a wait lets nothing pass before all of them have ended; copies and
 *          reductions are done at once. It returns at the first step that has to wait.
 *
 * A schedule belongs to one thread at a time. The first message from one rank to another matches the first
 * receive, so both sides must list their messages in the same order. */
#ifndef HL_SCHEDULE_H
#define HL_SCHEDULE_H

#include "coll.h"
#include "reducer.h"

/* A typed buffer. */
struct hl_data {
    void *buf;
    int64_t count;
    struct hl_type *type;
};

/* From one buffer of this rank to another. HL_ERR_TRUNCATE, and what fits, when it does not fit. */
int hl_data_copy(struct hl_data to, struct hl_data from);

/* HL_ERR_TRUNCATE: `rank` of the communicator sent more, or where sizes must agree a different number. */
int hl_coll_say_long(int64_t bytes, int rank, int64_t room) HL_COLD;

struct hl_coll_msg {
    const struct hl_comm *comm;
    uint64_t ctx; /* context, plane included */
    int tag;
    int peer; /* rank in comm */
    struct hl_data data;
    bool lost; /* sent without data, because a rank that had it has died: its receive gets an error, too */
};

/* The functions that carry messages: of matching in the library, of a model in the unit test. Requests are
 * never NULL. */
struct hl_coll_net {
    int (*send)(const struct hl_coll_msg *m, void **request);
    int (*recv)(const struct hl_coll_msg *m, void **request);
    /* True when the request has ended; then it is gone, and *err is its result. */
    bool (*test)(void *request, int *err);
    /* Adds the ranks that the request waits for, for the watchdog. NULL: nobody knows them. */
    void (*await)(const void *request, struct hl_wait_desc *t);
};
extern const struct hl_coll_net hl_coll_net_match;

enum hl_step_kind { HL_STEP_SEND, HL_STEP_RECV, HL_STEP_WAIT, HL_STEP_COPY, HL_STEP_RUNS, HL_STEP_REDUCE };

/* A copy that is repeated `n` times, each time so many bytes behind the last one. */
struct hl_runs {
    int64_t n, to_stride, from_stride;
};

struct hl_step {
    enum hl_step_kind kind;
    int peer; /* SEND, RECV: a rank in `comm` */
    union {
        const struct hl_comm *comm;   /* SEND, RECV */
        const struct hl_runs *repeat; /* RUNS */
    };
    struct hl_data a; /* SEND, RECV: the data; COPY, RUNS: to; REDUCE: left operand */
    struct hl_data b; /* COPY, RUNS: from; REDUCE: right operand, with a's count and type */
};

#define HL_SCHED_WINDOW 32 /* messages under way, unless hl_sched_widen allows more */
#define HL_SCHED_STEPS 24  /* steps that need no allocation */
#define HL_SCHED_SCRATCH 512

struct hl_sched_temp;

struct hl_sched {
    const struct hl_coll_net *net;
    const struct hl_comm *comm; /* communicator of the steps that are appended now */
    enum hl_plane plane;
    int tag;
    int err;   /* the first error */
    bool held; /* hl_sched_hold was called */
    struct hl_reducer reducer;
    struct hl_step *steps; /* `few`, or allocated */
    int64_t n, room, next;
    struct hl_sched_temp *temps;
    size_t scratch_used;
    int flying;
    int window;             /* most messages under way */
    void **air;             /* requests of messages under way, the first `flying` */
    struct hl_sched *below; /* next one in the list of hl_sched_give */
    void *few_air[HL_SCHED_WINDOW];
    struct hl_step few[HL_SCHED_STEPS];
    _Alignas(64) char scratch[HL_SCHED_SCRATCH];
};

/* Makes an empty schedule over `comm`, and takes the communicator's next tag. `comm` and `net` must outlive
 * it. */
void hl_sched_init(struct hl_sched *s, const struct hl_coll_net *net, struct hl_comm *comm,
                   enum hl_plane plane);

/* hl_sched_init with the caller's tag: for operations in which not all members of `comm` take part. */
void hl_sched_init_tagged(struct hl_sched *s, const struct hl_coll_net *net, const struct hl_comm *comm,
                          enum hl_plane plane, int tag);

/* Memory of a schedule for a blocking call, since it is too large for threads' stacks: one given back, or a
 * new one; the caller initialises it. NULL: no memory, an error was recorded. */
struct hl_sched *hl_sched_take(void);

/* Calls hl_sched_fini, and keeps the memory for the next call: as many as ever ran at once. */
void hl_sched_give(struct hl_sched *s);

/* Takes references to all datatypes and the operation that a built schedule uses, so that the user may free
 * them; hl_sched_fini gives them back. */
void hl_sched_hold(struct hl_sched *s);

/* Makes a schedule that has ended ready to run again. */
void hl_sched_rewind(struct hl_sched *s);

/* Frees what building allocated. No message may be under way. */
void hl_sched_fini(struct hl_sched *s);

/* Goes on as far as possible. True when the schedule has ended, with its result in s->err, or when building
 * it had failed. */
bool hl_sched_try(struct hl_sched *s);

/* Describes a schedule that waits in words. */
void hl_sched_describe(const struct hl_sched *s, struct hl_wait_desc *t);

/* Runs to the end, waiting with progress; returns s->err. It does nothing when building failed. */
int hl_sched_run(struct hl_sched *s);

/* ---- Building. Errors are kept in s->err (HL_ERR_NO_MEM): builders need not look. ---- */

/* Allows n messages under way at once, if that is more than now. */
void hl_sched_widen(struct hl_sched *s, int64_t n);

/* Append a send to rank `peer` of s->comm, a receive from it, and a wait for all messages under way. */
void hl_sched_send(struct hl_sched *s, int peer, struct hl_data data);
void hl_sched_recv(struct hl_sched *s, int peer, struct hl_data data);
void hl_sched_wait(struct hl_sched *s);

/* Append a send or a receive as hl_sched_send and hl_sched_recv do, but no message goes for no data: both
 * sides must know how much it is. */
HL_INLINE void hl_sched_send_some(struct hl_sched *s, int peer, struct hl_data data)
{
    if (data.count * data.type->size > 0) {
        hl_sched_send(s, peer, data);
    }
}

HL_INLINE void hl_sched_recv_some(struct hl_sched *s, int peer, struct hl_data data)
{
    if (data.count * data.type->size > 0) {
        hl_sched_recv(s, peer, data);
    }
}

/* Copies as many bytes as both have. No step if both are the same buffer. */
void hl_sched_copy(struct hl_sched *s, struct hl_data to, struct hl_data from);

/* Repeats a copy: one step, however many times. */
void hl_sched_copy_runs(struct hl_sched *s, struct hl_data to, struct hl_data from, struct hl_runs runs);

/* Memory that lives as long as the schedule: raw bytes, or room for `count` elements of `type`; the address
 * returned is the one to use with the type, which may lie outside the memory when its lower bound is not 0.
 */
void *hl_sched_bytes(struct hl_sched *s, size_t n);
void *hl_sched_room(struct hl_sched *s, int64_t count, struct hl_type *type);

HL_INLINE struct hl_data hl_data(const void *buf, int64_t count, struct hl_type *type)
{
    return (struct hl_data){(void *)(uintptr_t)buf, count, type};
}

/* The block of a side that has only one. */
HL_INLINE struct hl_data hl_data_side(const struct hl_coll_side *side)
{
    return hl_data(side->buf, side->count, side->type);
}

HL_INLINE struct hl_data hl_data_bytes(const void *buf, size_t n)
{
    return hl_data(buf, (int64_t)n, hl_type_of(MPI_BYTE));
}

/* `count` elements that begin `at` elements behind `buf`. */
HL_INLINE struct hl_data hl_data_slice(const void *buf, int64_t at, int64_t count, struct hl_type *type)
{
    return hl_data((const char *)buf + at * hl_type_extent(type), count, type);
}

/* The operand of a reduction: the result so far, and the room for operands that arrive. */
struct hl_operand {
    void *mine, *other;
};

/* Combines `count` elements of both, `mine` being the left operand or the right one; then the result is at
 * `mine`, and `other` is free. The result's bits depend on which operand is left, not on where it is. */
void hl_sched_combine(struct hl_sched *s, struct hl_operand *o, int64_t count, bool mine_is_left);

/* into = into op from, in whichever order keeps the result in `into`. Commuting operations only. */
void hl_sched_combine_into(struct hl_sched *s, void *into, const void *from, int64_t count);

#endif
