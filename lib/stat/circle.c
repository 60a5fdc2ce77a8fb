/* The watchdog: what waits were said is posted for peers, who look for circles in it.
 *
 * A post is read while its writer may change it: the number before it is odd meanwhile, and other than before
 * afterwards. A reader that meets this takes it for no post. */
#include "hang.h"

#include "atomic.h"
#include "lock.h"
#include "util.h"

#include <stdio.h>
#include <string.h>

#define POSTS 8 /* threads of a rank whose waits are posted */
#define WORDS (sizeof(struct hl_told) / 8)
#define FAR_RANKS 16 /* of other nodes, whose answers are kept */
#define FAR_POSTS 4
#define ASK_NS UINT64_C(400000000)    /* between two questions to one of them */
#define STALE_NS UINT64_C(1500000000) /* after which an answer says nothing */
#define DEPTH 16                      /* ranks in a circle */
#define SEEN 256                      /* ranks that are looked at for it */

_Static_assert(sizeof(struct hl_told) % 8 == 0, "a post is words");

struct post {
    HL_ALIGNED_LINE hl_a64 number; /* atomic: see above; 0 at first */
    hl_a64 words[WORDS];
};

struct place {
    HL_ALIGNED_LINE hl_a64 fences; /* atomic: entered by this rank */
    struct post posts[POSTS];
};

/* Written while opening. `places` NULL: not open, or closed. */
static struct place *places;
static const int *node_world;
static int here, node_size, me;

static hl_a32 taken; /* atomic: a bit for each post of mine */

struct far {
    int world;
    uint64_t asked_ns, heard_ns; /* 0: never */
    uint64_t id;                 /* the window whose lock is of interest, 0: none */
    int holder;
    int n;
    struct hl_told posts[FAR_POSTS];
};
static struct hl_mutex far_lock = HL_MUTEX_INIT;
static struct far far[FAR_RANKS] HL_GUARDED_BY(far_lock);
static int n_far HL_GUARDED_BY(far_lock);

size_t hl_hang_board_bytes(int ranks)
{
    return (size_t)ranks * sizeof(struct place);
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

static void write_post(struct post *p, const struct hl_told *t)
{
    uint64_t words[WORDS], number = hl_a64_load_relaxed(&p->number); /* relaxed: mine */
    memcpy(words, t, sizeof words);
    hl_a64_store_relaxed(&p->number, number + 1);
    hl_fence_release(); /* the odd number comes before the words; pairs with the acquire fence in read_post.
                         */
    for (size_t i = 0; i < WORDS; i++) {
        hl_a64_store_relaxed(&p->words[i], words[i]); /* relaxed: the number orders them. */
    }
    /* release: the words come first; pairs with the acquire in read_post. */
    hl_a64_store_release(&p->number, number + 2);
}

/* False: nothing is posted there, or it is just changing. */
static bool read_post(const struct post *p, struct hl_told *t)
{
    uint64_t words[WORDS];
    uint64_t number = hl_a64_load_acquire(&p->number); /* acquire: see write_post. */
    for (size_t i = 0; i < WORDS; i++) {
        words[i] = hl_a64_load_relaxed(&p->words[i]); /* relaxed: the number orders them. */
    }
    hl_fence_acquire(); /* the words come before the second look; pairs with the release fence there. */
    bool sound = number % 2 == 0 && hl_a64_load_relaxed(&p->number) == number;
    memcpy(t, words, sizeof *t);
    t->call[sizeof t->call - 1] = t->text[sizeof t->text - 1] = '\0';
    return sound && t->n > 0;
}

static int take_place(void)
{
    for (int i = 0; i < POSTS; i++) {
        /* full: rare; who had it before has left. */
        if ((hl_a32_load_relaxed(&taken) >> i & 1) == 0 && (hl_a32_or_full(&taken, 1u << i) >> i & 1) == 0) {
            return i;
        }
    }
    return -1;
}

void hl_hang_post(int *place, const struct hl_told *t)
{
    if (places == NULL || (*place < 0 && (t == NULL || (*place = take_place()) < 0))) {
        return;
    }
    struct post *p = &places[here].posts[*place];
    if (t != NULL) {
        write_post(p, t);
        return;
    }
    write_post(p, &(struct hl_told){0});
    hl_a32_and_full(&taken, ~(1u << *place)); /* full: the last words come before. */
    *place = -1;
}

static int read_place(const struct place *from, struct hl_told *out, int room)
{
    int n = 0;
    for (int i = 0; i < POSTS && n < room; i++) {
        n += read_post(&from->posts[i], &out[n]);
    }
    return n;
}

/* ---- Posts of other nodes ---- */

void hl_hang_serve(void (*fn)(void *arg, const struct hl_told *post), void *arg)
{
    struct hl_told mine[POSTS], none = {0};
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

void hl_hang_heard(int world, const struct hl_told *post)
{
    hl_mutex_lock(&far_lock);
    struct far *f = far_of(world);
    if (f != NULL && post->n <= 0) {
        f->n = 0;
        f->heard_ns = hl_now_ns();
    } else if (f != NULL && f->n < FAR_POSTS) {
        struct hl_told *t = &f->posts[f->n++];
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

/* Asks it when the last question is old. */
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

/* What is known of it. */
static int read_far(int world, struct hl_told *out, int room)
{
    int n = 0;
    ask_far(world);
    hl_mutex_lock(&far_lock);
    struct far *f = far_of(world);
    while (f != NULL && n < f->n && n < room && hl_now_ns() - f->heard_ns < STALE_NS) {
        out[n] = f->posts[n];
        n++;
    }
    hl_mutex_unlock(&far_lock);
    return n;
}

int hl_hang_holder(int world, uint64_t id)
{
    int holder = -1;
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

static int read_rank(int world, struct hl_told *out, int room)
{
    for (int i = 0; i < node_size; i++) {
        if (node_world[i] == world) {
            return read_place(&places[i], out, room);
        }
    }
    return read_far(world, out, room);
}

/* The way from my wait to where the search stands, and all ranks that it came to. */
struct way {
    int ranks[DEPTH]; /* who waits; the first is me */
    struct hl_told waits[DEPTH];
    int n;
    int seen[SEEN], n_seen;
};

static bool is_new(struct way *w, int rank)
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

static bool search(struct way *w);

/* Goes on with a wait of the last rank on the way. A wait that any of several ranks can end closes nothing.
 */
static bool follow(struct way *w, const struct hl_told *t)
{
    w->waits[w->n - 1] = *t;
    for (int i = 0; (!t->any || t->n == 1) && i < t->n && i < HL_HANG_RANKS; i++) {
        if (t->ranks[i] == me) {
            return true;
        }
        if (is_new(w, t->ranks[i])) {
            w->ranks[w->n++] = t->ranks[i];
            if (search(w)) {
                return true;
            }
            w->n--;
        }
    }
    return false;
}

static bool search(struct way *w)
{
    struct hl_told posts[POSTS];
    int n = read_rank(w->ranks[w->n - 1], posts, POSTS);
    for (int i = 0; i < n; i++) {
        if (follow(w, &posts[i])) {
            return true;
        }
    }
    return false;
}

bool hl_hang_circle(const struct hl_told *t, char *out, size_t cap)
{
    struct way w = {.ranks = {me}, .n = 1};
    if (places == NULL || !follow(&w, t)) {
        return false;
    }
    int used = 0;
    for (int i = 0; i < w.n && (size_t)used < cap; i++) {
        const struct hl_told *wait = &w.waits[i];
        used +=
            snprintf(out + used, cap - (size_t)used, "%s%s %d waits for %s %d in %s (%s)", i > 0 ? ", " : "",
                     hl_told_unit(wait), w.ranks[i], hl_told_unit(wait), i + 1 < w.n ? w.ranks[i + 1] : me,
                     wait->call[0] != '\0' ? wait->call : "a call", wait->text);
    }
    if (hl_hang_names.threads && (size_t)used < cap) {
        snprintf(out + used, cap - (size_t)used, "; unless other threads of theirs end it");
    }
    return true;
}

/* ---- Fences of the job ---- */

void hl_hang_fence(void)
{
    if (places != NULL) {
        /* relaxed: a count that orders nothing. */
        hl_a64_store_relaxed(&places[here].fences, hl_a64_load_relaxed(&places[here].fences) + 1);
    }
}

void hl_hang_tell_fence(const void *unused, struct hl_told *t)
{
    hl_told_say(t, "all ranks of the job, which meet at the launcher");
    if (places == NULL) {
        return;
    }
    uint64_t mine = hl_a64_load_relaxed(&places[here].fences); /* relaxed: as above. */
    for (int i = 0; i < node_size; i++) {
        /* relaxed: as above. */
        hl_told_await(t, hl_a64_load_relaxed(&places[i].fences) < mine ? node_world[i] : -1);
    }
}
