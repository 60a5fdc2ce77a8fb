/* The watchdog's posts: waits in words, in which peers look for circles.
 *
 * A post may be read while its writer changes it. Its number is odd meanwhile and has changed afterwards; a
 * reader that sees this takes it for no post. */
#include "hang.h"

#include "atomic.h"
#include "lock.h"
#include "util.h"

#include <stdio.h>
#include <string.h>

#define POSTS 8 /* most threads of a rank whose waits are posted */
#define WORDS (sizeof(struct hl_wait_desc) / 8)
#define FAR_RANKS 16                  /* most ranks of other nodes whose answers are kept */
#define FAR_POSTS 4                   /* most posts of such a rank */
#define ASK_NS UINT64_C(400000000)    /* between two questions to one rank */
#define STALE_NS UINT64_C(1500000000) /* an older answer does not count */
#define DEPTH 128                     /* most ranks in a circle */
#define TOLD 8                        /* in a circle of more ranks only the lowest one tells */
#define FIRST 4                       /* of such a circle so many waits are told in words */
#define SEEN 256                      /* most ranks that a search looks at */

_Static_assert(sizeof(struct hl_wait_desc) % 8 == 0, "a post is words");

struct post {
    HL_ALIGNED_LINE hl_a64 number; /* atomic: odd while the post changes; 0 at first */
    hl_a64 words[WORDS];
};

struct circle_place {
    HL_ALIGNED_LINE hl_a64 fences; /* atomic: number of fences that this rank has entered */
    struct post posts[POSTS];
};

/* All these are written while opening. `places` NULL: not open, or closed. */
static struct circle_place *places;
static const int *node_world;
static int here, node_size, me;

static hl_a32 taken; /* atomic; bit i: post i of this rank is taken */

struct far {
    int world;
    uint64_t asked_ns, heard_ns; /* 0: never */
    uint64_t id;                 /* the window about whose lock it is asked, 0: none */
    int holder;                  /* the rank that holds this lock, or -1 */
    int n;
    struct hl_wait_desc posts[FAR_POSTS];
};
static struct hl_mutex far_lock = HL_MUTEX_INIT;
static struct far far[FAR_RANKS] HL_GUARDED_BY(far_lock);
static int n_far HL_GUARDED_BY(far_lock);

size_t hl_hang_board_bytes(int ranks)
{
    return (size_t)ranks * sizeof(struct circle_place);
}

void hl_hang_open(void *board, int world, int node_rank, int ranks, const int *world_of)
{
    places = board;
    me = world;
    here = node_rank;
    node_size = ranks;
    node_world = world_of;
}

/* ---- Posts of this node ---- */

static void write_post(struct post *p, const struct hl_wait_desc *t)
{
    uint64_t words[WORDS],
        number = hl_a64_load_relaxed(&p->number); /* relaxed: only this thread writes it. */
    memcpy(words, t, sizeof words);
    hl_a64_store_relaxed(&p->number, number + 1);
    hl_fence_release(); /* the odd number is seen before the words; pairs with the fence in read_post. */
    for (size_t i = 0; i < WORDS; i++) {
        hl_a64_store_relaxed(&p->words[i], words[i]); /* relaxed: the number orders them. */
    }
    /* release: publishes the words; pairs with the acquire in read_post. */
    hl_a64_store_release(&p->number, number + 2);
}

/* Reads a post; false: there is none, or it is being changed. */
static bool read_post(const struct post *p, struct hl_wait_desc *t)
{
    uint64_t words[WORDS];
    uint64_t number = hl_a64_load_acquire(&p->number); /* acquire: the words; pairs with write_post. */
    for (size_t i = 0; i < WORDS; i++) {
        words[i] = hl_a64_load_relaxed(&p->words[i]); /* relaxed: the number orders them. */
    }
    hl_fence_acquire(); /* the words are read before the second look; pairs with the fence in write_post. */
    bool sound = number % 2 == 0 && hl_a64_load_relaxed(&p->number) == number;
    memcpy(t, words, sizeof *t);
    t->call[sizeof t->call - 1] = t->text[sizeof t->text - 1] = '\0';
    return sound && t->n > 0;
}

static int take_circle_place(void)
{
    for (int i = 0; i < POSTS; i++) {
        /* full: it is rare; the thread that had the place before has left it. */
        if ((hl_a32_load_relaxed(&taken) >> i & 1) == 0 && (hl_a32_or_full(&taken, 1u << i) >> i & 1) == 0) {
            return i;
        }
    }
    return -1;
}

void hl_hang_post(int *place, const struct hl_wait_desc *t)
{
    if (places == NULL || (*place < 0 && (t == NULL || (*place = take_circle_place()) < 0))) {
        return;
    }
    struct post *p = &places[here].posts[*place];
    if (t != NULL) {
        write_post(p, t);
        return;
    }
    write_post(p, &(struct hl_wait_desc){0});
    hl_a32_and_full(&taken, ~(1u << *place)); /* full: the empty post is written before the place is free. */
    *place = -1;
}

static int read_place(const struct circle_place *from, struct hl_wait_desc *out, int room)
{
    int n = 0;
    for (int i = 0; i < POSTS && n < room; i++) {
        n += read_post(&from->posts[i], &out[n]);
    }
    return n;
}

/* ---- Posts of other nodes ---- */

void hl_hang_serve(void (*fn)(void *arg, const struct hl_wait_desc *post), void *arg)
{
    struct hl_wait_desc mine[POSTS], none = {0};
    int n = places != NULL ? read_place(&places[here], mine, POSTS) : 0;
    fn(arg, &none);
    for (int i = 0; i < n; i++) {
        fn(arg, &mine[i]);
    }
}

static struct far *far_of(int world) HL_REQUIRES(far_lock)
{
    for (int i = 0; i < n_far; i++) {
        if (far[i].world == world) {
            return &far[i];
        }
    }
    if (n_far == FAR_RANKS) {
        return NULL;
    }
    far[n_far] = (struct far){.world = world, .holder = -1};
    return &far[n_far++];
}

void hl_hang_heard(int world, const struct hl_wait_desc *post)
{
    hl_mutex_lock(&far_lock);
    struct far *f = far_of(world);
    if (f != NULL && post->n <= 0) {
        f->n = 0;
        f->heard_ns = hl_now_ns();
    } else if (f != NULL && f->n < FAR_POSTS) {
        struct hl_wait_desc *t = &f->posts[f->n++];
        *t = *post;
        t->call[sizeof t->call - 1] = t->text[sizeof t->text - 1] = '\0';
    }
    hl_mutex_unlock(&far_lock);
}

void hl_hang_heard_holder(int world, uint64_t id, int holder)
{
    hl_mutex_lock(&far_lock);
    struct far *f = far_of(world);
    if (f != NULL && f->id == id) {
        f->holder = holder;
    }
    hl_mutex_unlock(&far_lock);
}

/* Asks a rank of another node, unless it was asked a short time ago. */
static void ask_far(int world)
{
    uint64_t now = hl_now_ns(), id = 0;
    bool ask = false;
    hl_mutex_lock(&far_lock);
    struct far *f = far_of(world);
    if (f != NULL && now - f->asked_ns > ASK_NS) {
        f->asked_ns = now;
        id = f->id;
        ask = hl_hang_names.ask != NULL;
    }
    hl_mutex_unlock(&far_lock);
    if (ask) {
        hl_hang_names.ask(world, id);
    }
}

/* Reads post `i` of a rank of another node from its last answer; false: there is none, or it is old. */
static bool read_far(int world, int i, struct hl_wait_desc *out)
{
    ask_far(world);
    hl_mutex_lock(&far_lock);
    struct far *f = far_of(world);
    bool known = f != NULL && i < f->n && hl_now_ns() - f->heard_ns < STALE_NS;
    if (known) {
        *out = f->posts[i];
    }
    hl_mutex_unlock(&far_lock);
    return known;
}

int hl_hang_holder(int world, uint64_t id)
{
    int holder = -1;
    if (!hl_hang_is_on()) {
        return holder; /* without a watchdog nobody looks for circles */
    }
    hl_mutex_lock(&far_lock);
    struct far *f = far_of(world);
    if (f != NULL && f->id != id) {
        f->id = id;
        f->holder = -1;
        f->asked_ns = 0;
    }
    holder = f != NULL ? f->holder : -1;
    hl_mutex_unlock(&far_lock);
    ask_far(world);
    return holder;
}

/* ---- Circles ---- */

static bool read_rank(int world, int post, struct hl_wait_desc *out)
{
    for (int i = 0; i < node_size; i++) {
        if (node_world[i] == world) {
            return read_post(&places[i].posts[post], out);
        }
    }
    return read_far(world, post, out);
}

/* A search: the path of waits from this rank's wait on, and all ranks that it has seen. */
struct wait_way {
    int ranks[DEPTH]; /* the ranks that wait; the first is this rank */
    struct hl_wait_desc waits[DEPTH];
    int n;
    int seen[SEEN], n_seen;
};

static bool is_new(struct wait_way *w, int rank)
{
    for (int i = 0; i < w->n_seen; i++) {
        if (w->seen[i] == rank) {
            return false;
        }
    }
    if (w->n == DEPTH || w->n_seen == SEEN) {
        return false;
    }
    w->seen[w->n_seen++] = rank;
    return true;
}

static bool search_waits(struct wait_way *w);

/* Goes on from the wait of the last rank on the path. A wait that any of several ranks can end is part
 * of no circle. */
static bool follow_wait(struct wait_way *w)
{
    const struct hl_wait_desc *t = &w->waits[w->n - 1];
    for (int i = 0; (!t->any || t->n == 1) && i < t->n && i < HL_HANG_RANKS; i++) {
        if (t->ranks[i] == me) {
            return true;
        }
        if (is_new(w, t->ranks[i])) {
            w->ranks[w->n++] = t->ranks[i];
            if (search_waits(w)) {
                return true;
            }
            w->n--;
        }
    }
    return false;
}

static bool search_waits(struct wait_way *w)
{
    int at = w->n - 1;
    for (int i = 0; i < POSTS; i++) {
        if (read_rank(w->ranks[at], i, &w->waits[at]) && follow_wait(w)) {
            return true;
        }
    }
    return false;
}

static bool is_lowest(const struct wait_way *w)
{
    bool lowest = true;
    for (int i = 1; i < w->n; i++) {
        lowest = lowest && w->ranks[i] > me;
    }
    return lowest;
}

/* Puts a circle into words; of a large one the first waits and the last, and the ranks between them. */
static void tell_circle(const struct wait_way *w, char *out, size_t cap)
{
    bool whole = w->n <= TOLD;
    size_t used = 0;
    for (int i = 0; i < w->n && used < cap; i++) {
        const struct hl_wait_desc *wait = &w->waits[i];
        int next = i + 1 < w->n ? w->ranks[i + 1] : me;
        const char *comma = i > 0 ? ", " : "";
        if (whole || i < FIRST || i == w->n - 1) {
            used += (size_t)snprintf(out + used, cap - used, "%s%s %d waits for %s %d in %s (%s)", comma,
                                     hl_desc_unit(wait), w->ranks[i], hl_desc_unit(wait), next, wait->call,
                                     wait->text);
        } else if (i == FIRST) {
            used += (size_t)snprintf(out + used, cap - used, ", and so on by %d more: %d", w->n - FIRST - 1,
                                     w->ranks[i]);
        } else if (used < cap - cap / 4) {
            used += (size_t)snprintf(out + used, cap - used, " %d", w->ranks[i]);
        }
    }
    if (hl_hang_names.threads && used < cap) {
        snprintf(out + used, cap - used, "; unless other threads of theirs end it");
    }
}

bool hl_hang_circle(const struct hl_wait_desc *t, char *out, size_t cap)
{
    static struct hl_mutex lock = HL_MUTEX_INIT;
    static struct wait_way w HL_GUARDED_BY(lock); /* static: it is large, and stacks may be small */
    out[0] = '\0';
    if (places == NULL || !hl_mutex_try(&lock)) {
        return false; /* another thread searches; a later look of this thread will search, too */
    }
    w.ranks[0] = me;
    w.waits[0] = *t;
    w.n = 1;
    w.n_seen = 0;
    bool found = follow_wait(&w);
    if (found && (w.n <= TOLD || is_lowest(&w))) {
        tell_circle(&w, out, cap);
    }
    hl_mutex_unlock(&lock);
    return found;
}

/* ---- Fences of the job ---- */

void hl_hang_fence(void)
{
    if (places != NULL) {
        /* relaxed: only a count; it orders nothing. */
        hl_a64_store_relaxed(&places[here].fences, hl_a64_load_relaxed(&places[here].fences) + 1);
    }
}

void hl_hang_describe_fence(const void *absent, struct hl_wait_desc *t)
{
    const struct hl_wait_desc *said = absent;
    hl_desc_say(t, "all %ss of the job, which meet at the launcher", hl_desc_unit(t));
    if (said != NULL && said->n > 0) {
        t->n = said->n;
        memcpy(t->ranks, said->ranks, sizeof t->ranks);
        return;
    }
    if (places == NULL) {
        return;
    }
    uint64_t mine = hl_a64_load_relaxed(&places[here].fences); /* relaxed: only a count. */
    for (int i = 0; i < node_size; i++) {
        /* relaxed: only a count. */
        hl_desc_await(t, hl_a64_load_relaxed(&places[i].fences) < mine ? node_world[i] : -1);
    }
}
