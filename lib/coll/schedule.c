/* The engine of schedules: storage of steps and temporaries, and the run through them. */
#include "schedule.h"

#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "job.h"
#include "lock.h"
#include "prog.h"
#include "repeat.h"
#include "util.h"

struct hl_sched_temp {
    struct hl_sched_temp *next;
    size_t mapped; /* its own mapping has so many bytes; 0: it is malloc's */
    _Alignas(64) char bytes[];
};

/* From here on temporaries of windows and communicators that are made are mappings: of a million ranks' they
 * are large, and malloc would keep them below the small things that stay. Users' go on as malloc likes,
 * because pages that come again cost time. */
#define MAPPED ((size_t)1 << 20)

void hl_sched_init_tagged(struct hl_sched *s, const struct hl_coll_net *net, const struct hl_comm *comm,
                          enum hl_plane plane, int tag)
{
    memset(s, 0, offsetof(struct hl_sched, few_air));
    s->net = net;
    s->comm = comm;
    s->plane = plane;
    s->tag = tag;
    s->air = s->few_air;
    s->window = HL_SCHED_WINDOW;
    s->steps = s->few;
    s->room = HL_SCHED_STEPS;
}

void hl_sched_init(struct hl_sched *s, const struct hl_coll_net *net, struct hl_comm *comm,
                   enum hl_plane plane)
{
    hl_sched_init_tagged(s, net, comm, plane, hl_comm_coll_tag(comm));
}

static void each_type(struct hl_sched *s, void (*visit)(struct hl_type *t))
{
    for (int64_t i = 0; i < s->n; i++) {
        if (s->steps[i].a.type != NULL) {
            visit(s->steps[i].a.type);
        }
        if (s->steps[i].b.type != NULL) {
            visit(s->steps[i].b.type);
        }
    }
}

static void ref_type(struct hl_type *t)
{
    hl_type_ref(t);
}

void hl_sched_hold(struct hl_sched *s)
{
    s->held = true;
    each_type(s, s->reducer.user != NULL ? hl_type_ref_shown : ref_type);
    if (s->reducer.user != NULL) {
        hl_op_user_ref(s->reducer.user);
    }
}

static void let_go_schedule(struct hl_sched *s)
{
    s->held = false;
    each_type(s, hl_type_unref);
    if (s->reducer.user != NULL) {
        hl_op_user_unref(s->reducer.user);
    }
}

void hl_sched_rewind(struct hl_sched *s)
{
    s->next = 0;
    s->err = 0;
}

void hl_sched_fini(struct hl_sched *s)
{
    if (s->held) {
        let_go_schedule(s);
    }
    while (s->temps != NULL) {
        struct hl_sched_temp *t = s->temps;
        s->temps = t->next;
        if (t->mapped != 0) {
            hl_mem_repeat_free(t, t->mapped, 1);
        } else {
            free(t);
        }
    }
    if (s->steps != s->few) {
        free(s->steps);
    }
}

static struct hl_mutex lock = HL_MUTEX_INIT;
static struct hl_sched *kept HL_GUARDED_BY(lock);

struct hl_sched *hl_sched_take(void)
{
    hl_mutex_lock(&lock);
    struct hl_sched *s = kept;
    kept = s != NULL ? s->below : NULL;
    hl_mutex_unlock(&lock);
    s = s != NULL ? s : aligned_alloc(_Alignof(struct hl_sched), sizeof *s);
    if (s == NULL) {
        hl_err_say(HL_ERR_NO_MEM, "no memory for the steps of a collective operation");
    }
    return s;
}

void hl_sched_give(struct hl_sched *s)
{
    hl_sched_fini(s);
    hl_mutex_lock(&lock);
    s->below = kept;
    kept = s;
    hl_mutex_unlock(&lock);
}

static void fail_schedule(struct hl_sched *s, int err)
{
    if (s->err == 0) {
        s->err = err;
    }
}

static bool grow_schedule(struct hl_sched *s)
{
    int64_t room = 4 * s->room;
    struct hl_step *old = s->steps == s->few ? NULL : s->steps;
    struct hl_step *more = realloc(old, (size_t)room * sizeof *more);

    if (more == NULL) {
        fail_schedule(s,
                      hl_err_say(HL_ERR_NO_MEM, "no memory for a schedule of %lld steps", (long long)room));
        return false;
    }
    if (old == NULL) {
        memcpy(more, s->few, sizeof s->few);
    }
    s->steps = more;
    s->room = room;
    return true;
}

static void push_step(struct hl_sched *s, struct hl_step step)
{
    if (s->n < s->room || grow_schedule(s)) {
        s->steps[s->n++] = step;
    }
}

void hl_sched_send(struct hl_sched *s, int peer, struct hl_data data)
{
    push_step(s, (struct hl_step){.kind = HL_STEP_SEND, .peer = peer, .comm = s->comm, .a = data});
}

void hl_sched_recv(struct hl_sched *s, int peer, struct hl_data data)
{
    push_step(s, (struct hl_step){.kind = HL_STEP_RECV, .peer = peer, .comm = s->comm, .a = data});
}

void hl_sched_wait(struct hl_sched *s)
{
    push_step(s, (struct hl_step){.kind = HL_STEP_WAIT});
}

void hl_sched_copy(struct hl_sched *s, struct hl_data to, struct hl_data from)
{
    /* equal addresses may be MPI_BOTTOM with different types */
    if (to.buf != from.buf || to.type != from.type) {
        push_step(s, (struct hl_step){.kind = HL_STEP_COPY, .a = to, .b = from});
    }
}

void hl_sched_copy_runs(struct hl_sched *s, struct hl_data to, struct hl_data from, struct hl_runs runs)
{
    if (runs.n > 0) {
        struct hl_runs *repeat = hl_sched_bytes(s, sizeof *repeat);
        *repeat = runs;
        push_step(s, (struct hl_step){.kind = HL_STEP_RUNS, .repeat = repeat, .a = to, .b = from});
    }
}

static void push_reduce(struct hl_sched *s, void *left, void *right, int64_t count)
{
    struct hl_type *type = s->reducer.type;

    push_step(s, (struct hl_step){.kind = HL_STEP_REDUCE,
                                  .a = hl_data(left, count, type),
                                  .b = hl_data(right, count, type)});
}

void hl_sched_combine(struct hl_sched *s, struct hl_operand *o, int64_t count, bool mine_is_left)
{
    void *left = mine_is_left ? o->mine : o->other;
    void *right = mine_is_left ? o->other : o->mine;
    bool to_left = hl_reducer_writes_left(&s->reducer);

    push_reduce(s, left, right, count);
    o->mine = to_left ? left : right;
    o->other = to_left ? right : left;
}

void hl_sched_combine_into(struct hl_sched *s, void *into, const void *from, int64_t count)
{
    void *source = (void *)(uintptr_t)from;

    if (hl_reducer_writes_left(&s->reducer)) {
        push_reduce(s, into, source, count);
    } else {
        push_reduce(s, source, into, count);
    }
}

void *hl_sched_bytes(struct hl_sched *s, size_t n)
{
    n = hl_round_up(n, 64);
    if (n <= sizeof s->scratch - s->scratch_used) {
        char *small = s->scratch + s->scratch_used;
        s->scratch_used += n;
        return small;
    }
    size_t mapped = s->plane == HL_PLANE_MAKE && n >= MAPPED ? sizeof(struct hl_sched_temp) + n : 0;
    struct hl_sched_temp *t = mapped != 0 ? hl_mem_repeat(&(struct hl_repeat){mapped, 1, NULL}, -1)
                                          : aligned_alloc(64, sizeof *t + n);
    if (t == NULL) {
        fail_schedule(s, hl_err_say(HL_ERR_NO_MEM, "no memory for %zu bytes of a collective's temporary", n));
        return s->scratch; /* never used: a schedule with an error does not run */
    }
    t->next = s->temps;
    t->mapped = mapped;
    s->temps = t;
    return t->bytes;
}

void *hl_sched_room(struct hl_sched *s, int64_t count, struct hl_type *type)
{
    if (count == 0) {
        return s->scratch;
    }
    int64_t low, bytes = hl_type_reach(type, count, &low);
    return hl_type_at(hl_sched_bytes(s, (size_t)bytes), -low);
}

void hl_sched_widen(struct hl_sched *s, int64_t n)
{
    if (n > s->window) {
        void **air = hl_sched_bytes(s, (size_t)n * sizeof *air);
        if (s->err == 0) {
            s->air = air;
            s->window = (int)n;
        }
    }
}

/* Removes requests that have ended. */
static void reap_requests(struct hl_sched *s)
{
    int left = 0;

    for (int i = 0; i < s->flying; i++) {
        int err = 0;
        if (s->net->test(s->air[i], &err)) {
            fail_schedule(s, err);
        } else {
            s->air[left++] = s->air[i];
        }
    }
    s->flying = left;
}

static void post_step(struct hl_sched *s, const struct hl_step *step)
{
    struct hl_coll_msg m = {step->comm, step->comm->ctx + s->plane,   s->tag, step->peer,
                            step->a,    s->err == HL_ERR_PROC_ABORTED};
    int err = step->kind == HL_STEP_SEND ? s->net->send(&m, &s->air[s->flying])
                                         : s->net->recv(&m, &s->air[s->flying]);

    if (err != 0) {
        fail_schedule(s, err);
    } else {
        s->flying++;
    }
}

int hl_coll_say_long(int64_t bytes, int rank, int64_t room)
{
    return hl_err_say(HL_ERR_TRUNCATE, "rank %d sent %lld bytes, for which the buffer has room for %lld",
                      rank, (long long)bytes, (long long)room);
}

static HL_COLD int say_own_long(int64_t bytes, int64_t room)
{
    return hl_err_say(HL_ERR_TRUNCATE, "%lld bytes are sent, and the receive buffer has room for %lld",
                      (long long)bytes, (long long)room);
}

int hl_data_copy(struct hl_data to, struct hl_data from)
{
    int64_t bytes = from.count * from.type->size, room = to.count * to.type->size;
    int err = hl_type_copy(to.type, to.count, to.buf, from.type, from.count, from.buf);

    return HL_UNLIKELY(bytes > room) && err == 0 ? say_own_long(bytes, room) : err;
}

static void copy_runs(struct hl_sched *s, const struct hl_step *step)
{
    struct hl_data to = step->a, from = step->b;

    for (int64_t i = 0; i < step->repeat->n; i++) {
        fail_schedule(s, hl_data_copy(to, from));
        to.buf = hl_type_at(to.buf, step->repeat->to_stride);
        from.buf = hl_type_at(from.buf, step->repeat->from_stride);
    }
}

/* Does one step, or returns false when it has to wait. */
static bool do_step(struct hl_sched *s, const struct hl_step *step)
{
    switch (step->kind) {
    case HL_STEP_SEND:
    case HL_STEP_RECV:
        if (s->flying == s->window) {
            return false;
        }
        post_step(s, step);
        return true;
    case HL_STEP_WAIT:
        return s->flying == 0;
    case HL_STEP_COPY:
        fail_schedule(s, hl_data_copy(step->a, step->b));
        return true;
    case HL_STEP_RUNS:
        copy_runs(s, step);
        return true;
    case HL_STEP_REDUCE:
        hl_reducer_apply(&s->reducer, step->a.buf, step->b.buf, step->a.count);
        return true;
    }
    return true;
}

/* True if building failed. A schedule that fails on its way goes on to its end: others wait for what it
 * sends, and its messages need their memory. */
static bool is_unbuilt(const struct hl_sched *s)
{
    return HL_UNLIKELY(s->err != 0) && s->next == 0 && s->flying == 0;
}

bool hl_sched_try(struct hl_sched *s)
{
    bool reaped = false;

    if (is_unbuilt(s)) {
        return true;
    }
    for (;;) {
        if (s->next < s->n && do_step(s, &s->steps[s->next])) {
            s->next++;
            reaped = false;
        } else if (s->next == s->n && s->flying == 0) {
            return true;
        } else if (reaped) {
            return false;
        } else {
            reap_requests(s);
            reaped = true;
        }
    }
}

static bool poll_schedule(void *schedule)
{
    return hl_sched_try(schedule);
}

/* Describes ranks that make a new communicator: no request knows who they are. */
static void describe_meeting(const struct hl_sched *s, struct hl_wait_desc *t)
{
    if (s->comm->size == hl_job.size) {
        hl_desc_say(t, "all %ss of the job", hl_desc_unit(t));
    } else {
        hl_desc_say(t, "%d %ss that make a communicator", s->comm->size, hl_desc_unit(t));
    }
    for (int64_t i = s->next - 1; i >= 0 && s->steps[i].kind == HL_STEP_RECV; i--) {
        hl_desc_await(t, hl_comm_world(s->comm, s->steps[i].peer));
    }
}

void hl_sched_describe(const struct hl_sched *s, struct hl_wait_desc *t)
{
    /* relaxed: it stays 0 for communicators that were not made by hl_comm_make. */
    if (hl_a32_load_relaxed(&s->comm->refs) == 0) {
        describe_meeting(s, t);
        return;
    }
    hl_desc_comm(t, s->comm->ctx);
    for (int i = 0; s->net->await != NULL && i < s->flying; i++) {
        s->net->await(s->air[i], t);
    }
}

static void describe_schedule(const void *schedule, struct hl_wait_desc *t)
{
    hl_sched_describe(schedule, t);
}
HL_HANG_WORDS(poll_schedule, describe_schedule);

int hl_sched_run(struct hl_sched *s)
{
    hl_prog_wait_rung(poll_schedule, s);
    return s->err;
}
