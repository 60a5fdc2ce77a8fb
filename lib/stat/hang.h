/* The watchdog (HOTLANE_WATCHDOG): who waits for longer than that says so, from its own thread: the call,
 * what it waits for in the user's words, the ranks that can end it, the rank's counters; and whether these
 * ranks wait for it in turn.
 *
 * A wait is a condition and its argument (prog.h). Beside a condition stands a row that can put it into
 * words; rows are found through a section of the program, so that a wait carries nothing for a watchdog that
 * is off.
 *
 * What a thread said is also posted: in memory of the node, where its peers look for circles, or to ranks of
 * other nodes that ask (hl_hang_serve, hl_hang_heard). */
#ifndef HL_HANG_H
#define HL_HANG_H

#include "attr.h"
#include "conf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HL_HANG_RANKS 6

/* A wait in words. Travels between ranks: no pointers. */
struct hl_told {
    int32_t n;                    /* ranks that are waited for; also those beyond the room of `ranks` */
    int32_t any;                  /* 1: one of them is enough */
    int32_t asked;                /* 1 + the rank whose receive thread owes an answer, 0: none */
    int32_t first;                /* of them that is in `ranks`: who asks again may ask for others */
    int32_t ranks[HL_HANG_RANKS]; /* world ranks */
    char call[40];                /* of the user; "" when it is not known */
    char text[128];
};

/* Puts the wait whose condition's argument this is into words. On the waiting thread, which holds nothing. */
typedef void hl_hang_tell(const void *arg, struct hl_told *t);

struct hl_hang_row {
    bool (*cond)(void *arg);
    hl_hang_tell *tell;
};

/* At file scope, behind both functions. */
#define HL_HANG_TELLS(cond, tell)                                                                            \
    static const struct hl_hang_row cond##_row __attribute__((used, section("hl_hangs"))) = {cond, tell}

/* Appends words; what does not fit is cut. */
void hl_told_say(struct hl_told *t, const char *fmt, ...) HL_PRINTF(2, 3);

/* Adds a rank that is waited for, once; -1: none. And those of another wait. */
void hl_told_await(struct hl_told *t, int world);
void hl_told_await_all(struct hl_told *t, const struct hl_told *from);

/* How many of them are in `ranks`. */
int hl_told_ranks(const struct hl_told *t);

/* "PE" in a call of OpenSHMEM, else "rank". */
const char *hl_told_unit(const struct hl_told *t);

/* "communicator NAME" of a context, and then a rank of it; MPI_ANY_SOURCE: any of its members. */
void hl_told_comm(struct hl_told *t, uint64_t ctx);
void hl_told_peer(struct hl_told *t, uint64_t ctx, int rank);

/* What modules above know, set while opening. */
struct hl_hang_names {
    void (*comm)(uint64_t ctx, char *out, size_t cap);       /* its name, or "" */
    int (*world)(uint64_t ctx, int rank);                    /* world rank of a member, or -1 */
    bool (*window)(const void *word, char *out, size_t cap); /* whose error word it is; false: nobody's */
    int (*holder)(uint64_t id);                              /* who holds my lock of this window, or -1 */
    /* Asks a rank of another node what it waits for, and who holds its lock of that window (0: none). */
    void (*ask)(int world, uint64_t id);
    bool threads; /* MPI_THREAD_MULTIPLE was granted */
};
extern struct hl_hang_names hl_hang_names;

HL_INLINE bool hl_hang_is_on(void)
{
    return hl_conf.watchdog != 0;
}

/* One wait. */
struct hl_hang {
    uint64_t since_ns, said_ns; /* its begin; when it is told next */
    uint64_t look_ns;           /* when circles are looked for next */
    int post;                   /* where it is posted, or -1 */
    bool found;                 /* a circle was, since said_ns */
};

void hl_hang_begin(struct hl_hang *h);
void hl_hang_end(struct hl_hang *h);

/* Now and then while it lasts. Says and posts it when it has lasted for so long, then at twice that time, and
 * so on. `tell` NULL: the condition's row is looked for. */
void hl_hang_look(struct hl_hang *h, bool (*cond)(void *arg), hl_hang_tell *tell, const void *arg);

/* What the wait of this condition says, without a watchdog; *t is left as it is where it has no words. */
void hl_hang_words(bool (*cond)(void *arg), const void *arg, struct hl_told *t);

/* Milliseconds that a waiting system call may take until hl_hang_look and hl_stops_look; -1: for ever. */
int hl_hang_nap_ms(void);

/* ---- Posts ---- */

/* Node-shared memory for posts of `node_size` ranks; zeroed, and mine among `node_world`. */
size_t hl_hang_board_bytes(int node_size);
void hl_hang_open(void *board, int world, int node_rank, int node_size, const int *node_world);

/* For another rank that asks: calls `fn` with an empty post, whose n is 0, then with each post of this rank.
 * Any thread. */
void hl_hang_serve(void (*fn)(void *arg, const struct hl_told *post), void *arg);

/* These came from a rank of another node, in this order. Any thread. */
void hl_hang_heard(int world, const struct hl_told *post);

/* And this: who holds its lock of a window, -1: nobody. */
void hl_hang_heard_holder(int world, uint64_t id, int holder);

/* Who holds the lock of that window at a rank of another node, as far as is known, or -1; asks it otherwise,
 * with a watchdog. */
int hl_hang_holder(int world, uint64_t id);

/* Posts a wait at *place (-1: at a new one; -1 still: all are taken), or takes it away (NULL). */
void hl_hang_post(int *place, const struct hl_told *t);

/* Looks for a circle that begins with my wait `t`: true, and its words; "" when they are another rank's to
 * say: of many ranks the lowest speaks for all. */
bool hl_hang_circle(const struct hl_told *t, char *out, size_t cap);

/* Before each fence of the job: how often, to tell who is missing. */
void hl_hang_fence(void);
void hl_hang_tell_fence(const void *absent, struct hl_told *t);

/* Now and then while a fence waits, watchdog or not. `absent`: whom the launcher says it waits for, of which
 * n, any and ranks are used; NULL, or n 0: it does not say. */
void hl_hang_watch_fence(struct hl_hang *h, const struct hl_told *absent);

#endif
