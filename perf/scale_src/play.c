/* The discrete simulation: events are messages that arrive, in order of time. */
#include "play.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { BUCKETS = 1 << 16 };

struct event {
    double at;
    int32_t from, to;
};
struct list {
    struct event *all;
    int64_t n, room;
};

/* What a rank waits for, or what has come before it waits; by sender, in order. */
struct entry {
    double at;
    int32_t from, next; /* next: its place + 1 */
};
struct rank {
    double clock;
    int64_t next;
    int32_t open; /* receives that have not come */
    int32_t posted, arrived;
    bool over;
};

static struct {
    const struct program *programs;
    const struct costs *c;
    int64_t ranks, here; /* of the job; played */
    struct rank *rank;
    double *card; /* when each node's is free again */
    struct list bucket[BUCKETS], now;
    double width;
    int64_t first; /* the bucket that `now` holds, counted from 0 without end */
    int64_t left, flying, messages;
    struct entry *entries;
    int32_t n_entries, room_entries, free_entry;
} s;

void die(int code, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fputs("scale-play: ", stderr);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    exit(code);
}

static void *more(void *old, size_t bytes)
{
    void *p = realloc(old, bytes);
    if (p == NULL) {
        die(1, "no memory for %zu bytes", bytes);
    }
    return p;
}

static void push(struct list *l, struct event e)
{
    if (l->n == l->room) {
        l->room = l->room != 0 ? 2 * l->room : 16;
        l->all = more(l->all, (size_t)l->room * sizeof *l->all);
    }
    l->all[l->n++] = e;
}

/* ---- events of the bucket that is played: a heap ---- */

static void heap_push(struct list *l, struct event e)
{
    push(l, e);
    int64_t i = l->n - 1;
    while (i > 0 && l->all[(i - 1) / 2].at > e.at) {
        l->all[i] = l->all[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    l->all[i] = e;
}

static struct event heap_pop(struct list *l)
{
    struct event top = l->all[0], e = l->all[--l->n];
    int64_t i = 0;
    for (int64_t child; (child = 2 * i + 1) < l->n; i = child) {
        child += child + 1 < l->n && l->all[child + 1].at < l->all[child].at;
        if (l->all[child].at >= e.at) {
            break;
        }
        l->all[i] = l->all[child];
    }
    l->all[i] = e;
    return top;
}

/* An event beyond the wheel's reach waits in its bucket for more than one round. */
static void later(struct event e)
{
    int64_t bucket = (int64_t)(e.at / s.width);
    s.flying++;
    if (bucket <= s.first) {
        heap_push(&s.now, e);
    } else {
        push(&s.bucket[bucket % BUCKETS], e);
    }
}

static struct event next_event(void)
{
    while (s.now.n == 0) {
        struct list *l = &s.bucket[++s.first % BUCKETS];
        int64_t kept = 0;
        for (int64_t i = 0; i < l->n; i++) {
            if ((int64_t)(l->all[i].at / s.width) <= s.first) {
                heap_push(&s.now, l->all[i]);
            } else {
                l->all[kept++] = l->all[i];
            }
        }
        l->n = kept;
    }
    s.flying--;
    return heap_pop(&s.now);
}

/* ---- what is waited for ---- */

static void append(int32_t *head, int32_t from, double at)
{
    int32_t e = s.free_entry;
    if (e != 0) {
        s.free_entry = s.entries[e - 1].next;
    } else {
        if (s.n_entries == s.room_entries) {
            s.room_entries = s.room_entries != 0 ? 2 * s.room_entries : 1024;
            s.entries = more(s.entries, (size_t)s.room_entries * sizeof *s.entries);
        }
        e = ++s.n_entries;
    }
    s.entries[e - 1] = (struct entry){at, from, 0};
    while (*head != 0) {
        head = &s.entries[*head - 1].next;
    }
    *head = e;
}

/* Takes the first one of that sender: false when there is none. */
static bool take(int32_t *head, int32_t from, double *at)
{
    while (*head != 0 && s.entries[*head - 1].from != from) {
        head = &s.entries[*head - 1].next;
    }
    int32_t e = *head;
    if (e == 0) {
        return false;
    }
    *at = s.entries[e - 1].at;
    *head = s.entries[e - 1].next;
    s.entries[e - 1].next = s.free_entry;
    s.free_entry = e;
    return true;
}

/* ---- ranks ---- */

/* A message from a rank that is played. A folded one arrives where its like arrives, from that one's sender. */
static void leave(int32_t me, const struct step *step)
{
    struct rank *r = &s.rank[me];
    int node = s.c->node;
    int64_t there = step->peer, shift = there / node * node;
    bool near = me / node == there / node;
    const struct cost *c = near ? &s.c->near : &s.c->far;
    double left;

    s.messages++;
    if (step->kind == NOTE) { /* written once: readers fetch it */
        left = r->clock;
    } else {
        r->clock += c->o * s.c->turns;
        left = r->clock;
        if (near) {
            left += step->amount * c->per_byte;
        } else {
            double *card = &s.card[me / node];
            left = (left > *card ? left : *card) + c->g + step->amount * c->per_byte;
            *card = left;
        }
    }
    bool folded = s.here < s.ranks;
    int64_t from = folded ? ((me - shift) % s.ranks + s.ranks) % s.ranks : me;
    later((struct event){left + c->l, (int32_t)from, (int32_t)(folded ? there % node : there)});
}

static void arrived(struct rank *r, int32_t from, int32_t me, double at)
{
    const struct cost *c = from / s.c->node == me / s.c->node ? &s.c->near : &s.c->far;
    r->clock = (r->clock > at ? r->clock : at) + c->o * s.c->turns;
}

static void go_on(int32_t me)
{
    struct rank *r = &s.rank[me];
    const struct program *p = &s.programs[me];
    double at;

    for (; r->next < p->n; r->next++) {
        const struct step *step = &p->steps[r->next];
        switch (step->kind) {
        case SEND:
        case NOTE:
            leave(me, step);
            break;
        case RECV:
        case READ:
            if (r->open == 32) {
                return;
            }
            if (take(&r->arrived, step->peer, &at)) {
                arrived(r, step->peer, me, at);
            } else {
                append(&r->posted, step->peer, 0);
                r->open++;
            }
            break;
        case WAIT:
            if (r->open > 0) {
                return;
            }
            break;
        case COPY:
            r->clock += step->amount * s.c->copy * s.c->turns;
            break;
        case PAUSE:
            r->clock += step->amount * s.c->turns;
            break;
        }
    }
    if (r->open == 0 && !r->over) {
        r->over = true;
        s.left--;
    }
}

static void play_one(struct event e)
{
    struct rank *r = &s.rank[e.to];
    double at;

    if (!take(&r->posted, e.from, &at)) {
        append(&r->arrived, e.from, e.at);
        return;
    }
    arrived(r, e.from, e.to, e.at);
    if (r->open-- == 1 || r->open == 31) {
        go_on(e.to);
    }
}

struct played play(const struct program *programs, int64_t ranks, const struct costs *c, bool fold)
{
    s.programs = programs, s.c = c, s.ranks = ranks, s.here = fold ? c->node : ranks;
    s.rank = calloc((size_t)s.here, sizeof *s.rank);
    s.card = calloc((size_t)(s.here / c->node + 1), sizeof *s.card);
    if (s.rank == NULL || s.card == NULL) {
        die(1, "no memory for %lld ranks", (long long)s.here);
    }
    s.width = c->near.l > 0 ? c->near.l / 2 : 0.01;
    s.left = s.here;
    for (int32_t i = 0; i < s.here; i++) {
        s.rank[i].clock = c->start;
        go_on(i);
    }
    while (s.left > 0 && s.flying > 0) {
        play_one(next_event());
    }
    struct played result = {.messages = s.messages, .ended = s.left == 0};
    for (int64_t i = 0; i < s.here; i++) {
        result.time = s.rank[i].clock > result.time ? s.rank[i].clock : result.time;
    }
    return result;
}
