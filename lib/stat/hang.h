/* The watchdog: a thread that waits for longer than HOTLANE_WATCHDOG seconds tells itself, in the log, the
 * call, what it waits for in the user's words, the ranks that can end the wait, and the rank's counters; and
 * whether these ranks wait for this one in turn.
 *
 * A wait is a condition and its argument (prog.h). Beside a condition stands a row with a function that
 * puts it into words. Rows are found through a section of the program, so that a wait costs nothing
 * when the watchdog is off.
 *
 * The words are also posted: in memory of the node, where node peers look for circles, and to ranks of other
 * nodes that ask (hl_hang_serve, hl_hang_heard). */
#ifndef HL_HANG_H
#define HL_HANG_H

#include "attr.h"
#include "conf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HL_HANG_RANKS 6

/* A wait in words. It travels between ranks, so it has no pointers. */
struct hl_wait_desc {
    int32_t n;                    /* number of awaited ranks, with those that `ranks` has no room for */
    int32_t any;                  /* 1: one of these ranks is enough to end the wait */
    int32_t asked;                /* 1 + the rank whose receive thread owes an answer, 0: none */
    int32_t first;                /* index of the awaited rank in ranks[0]: set it to get others of them */
    int32_t ranks[HL_HANG_RANKS]; /* world ranks */
    char call[40];                /* the user's call */
    char text[128];               /* what is waited for */
};

/* Puts a wait into words; `arg` is its condition's argument. On the waiting thread, which holds no lock. It
 * may empty `call`: then the watchdog does not tell the wait, since another thread waits for the same. */
typedef void hl_hang_describe(const void *arg, struct hl_wait_desc *t);

struct hl_hang_row {
    bool (*cond)(void *arg);
    hl_hang_describe *tell;
};

/* Declares the row of a condition. Stands at file scope, behind both functions. */
#define HL_HANG_WORDS(cond, tell)                                                                            \
    static const struct hl_hang_row cond##_row __attribute__((used, section("hl_hangs"))) = {cond, tell}

/* Appends words to the text; what does not fit is cut off. */
void hl_desc_say(struct hl_wait_desc *t, const char *fmt, ...) HL_PRINTF(2, 3);

/* Adds a rank that is waited for, unless it is there already; -1 adds none. The second call adds those
 * of another wait. */
void hl_desc_await(struct hl_wait_desc *t, int world);
void hl_desc_await_all(struct hl_wait_desc *t, const struct hl_wait_desc *from);

/* Number of entries of `ranks` in use. */
int hl_desc_ranks(const struct hl_wait_desc *t);

/* What a call of OpenSHMEM without a name is called, and whether a name is of such a call. */
#define HL_HANG_SHMEM_CALL "an OpenSHMEM call"
bool hl_hang_is_shmem(const char *call);

/* Stands before a function of OpenSHMEM in which a thread may wait for an exported one that has left no
 * frame: its own tells that the call is one of OpenSHMEM. */
#define HL_HANG_SHMEM __attribute__((section("hl_shmem_code")))

/* "PE" in a call of OpenSHMEM, else "rank". */
const char *hl_desc_unit(const struct hl_wait_desc *t);

/* Appends the name of the communicator of a context. */
void hl_desc_comm(struct hl_wait_desc *t, uint64_t ctx);

/* Adds a rank of that communicator as waited for; MPI_ANY_SOURCE: any one of its members. */
void hl_desc_peer(struct hl_wait_desc *t, uint64_t ctx, int rank);

/* Functions of modules above, set while opening. */
struct hl_hang_names {
    void (*comm)(uint64_t ctx, char *out, size_t cap);       /* writes a communicator's name, or "" */
    int (*world)(uint64_t ctx, int rank);                    /* world rank of a member, or -1 */
    bool (*window)(const void *word, char *out, size_t cap); /* names an error word's window; false: none */
    int (*holder)(uint64_t id); /* holder of this rank's lock of a window, or -1 */
    /* Asks a rank of another node for its waits, and for the holder of its lock of window `id` (0: none). */
    void (*ask)(int world, uint64_t id);
    const char *(*unnamed)(void); /* what a call without a name is called */
    bool threads;                 /* MPI_THREAD_MULTIPLE was granted */
};
extern struct hl_hang_names hl_hang_names;

HL_INLINE bool hl_hang_is_on(void)
{
    return hl_conf.watchdog != 0;
}

/* One wait, kept by the waiting thread. */
struct hl_hang {
    uint64_t since_ns, said_ns; /* when it began; when it is to be told next */
    uint64_t look_ns;           /* when circles are to be looked for next */
    int post;                   /* the place of its post, or -1 */
    bool found;                 /* a circle was found since it was last told */
};

void hl_hang_begin(struct hl_hang *h);
void hl_hang_end(struct hl_hang *h);

/* Called at intervals while the wait lasts. After HOTLANE_WATCHDOG seconds it posts and tells the wait,
 * then tells it at twice that time, and so on, and looks for circles. `tell` NULL: the condition's row
 * is looked for. */
void hl_hang_look(struct hl_hang *h, bool (*cond)(void *arg), hl_hang_describe *tell, const void *arg);

/* Puts the wait of this condition into words, also without a watchdog; *t is unchanged when there are
 * no words. */
void hl_hang_words(bool (*cond)(void *arg), const void *arg, struct hl_wait_desc *t);

/* Writes the calling thread's call, such as "MPI_Recv": the outermost frame of this library that has a public
 * name. A call that goes on by a jump to another function has left no frame: then it is "an MPI call" or
 * "an OpenSHMEM call", by what is open, and "a call of MPI or OpenSHMEM" where both are. */
void hl_hang_call(char *out, size_t cap);

/* Milliseconds that a waiting system call may take until hl_hang_look and hl_stops_look; -1: for ever. */
int hl_hang_nap_ms(void);

/* ---- Posts ---- */

/* Bytes of node-shared memory for posts of `node_size` ranks. */
size_t hl_hang_board_bytes(int node_size);

/* Opens the posts in that memory, zeroed by then. `world`, `node_rank`: of this rank. The
 * caller keeps board and node_world. */
void hl_hang_open(void *board, int world, int node_rank, int node_size, const int *node_world);

/* Answers a rank that asks: calls `fn` with an empty post, whose n is 0, then with each post of this
 * rank. Any thread. */
void hl_hang_serve(void (*fn)(void *arg, const struct hl_wait_desc *post), void *arg);

/* Takes the posts of such an answer from a rank of another node, in this order. Any thread. */
void hl_hang_heard(int world, const struct hl_wait_desc *post);

/* Takes the answer which rank holds its lock of a window, -1: none. Any thread. */
void hl_hang_heard_holder(int world, uint64_t id, int holder);

/* The rank that holds the lock of that window at a rank of another node; -1: none, or not known, or no
 * watchdog. It asks for what it does not know. */
int hl_hang_holder(int world, uint64_t id);

/* Posts a wait at *place; -1: at a new one, which *place becomes (it stays -1 when all are taken). `t` NULL:
 * takes the post away. */
void hl_hang_post(int *place, const struct hl_wait_desc *t);

/* Looks for a circle that begins with this rank's wait `t`. Returns true and writes its words, or "" when
 * another rank tells it: of a large circle the lowest rank speaks for all. */
bool hl_hang_circle(const struct hl_wait_desc *t, char *out, size_t cap);

/* Counts a fence of the job; called before each one, so that absent ranks are known. */
void hl_hang_fence(void);

/* Puts the wait in a fence into words (a hl_hang_describe); `absent`: as hl_hang_watch_fence takes it. */
void hl_hang_describe_fence(const void *absent, struct hl_wait_desc *t);

/* Called at intervals while a fence waits, with or without a watchdog. `absent`: ranks that the launcher
 * waits for, of which n, any and ranks are used; NULL, or n 0: it does not say. */
void hl_hang_watch_fence(struct hl_hang *h, const struct hl_wait_desc *absent);

#endif
