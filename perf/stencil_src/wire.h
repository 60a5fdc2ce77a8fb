/*
 * What the stencil needs of a library for one-sided communication, and the two that have it: MPI (wire_mpi.c)
 * and OpenSHMEM (wire_shmem.c). A run uses one of them; its functions are called by any thread where nothing
 * else is said.
 *
 * Places in a window are counted in words of 8 bytes from its begin, on all ranks alike.
 */
#ifndef STENCIL_WIRE_H
#define STENCIL_WIRE_H

#include "options.h"

#include <stddef.h>
#include <stdint.h>

struct world {
    int rank, ranks;
    bool any_thread; /* all threads may communicate at once */
};

/* Where the window of a rank lives, in the words of its library; "" when it does not say. */
struct dwelling {
    char page[16];   /* size of a page */
    char nodes[112]; /* memory node:bytes,... */
};

/* A block of doubles here, and its place in the window of a rank. */
struct block {
    double *here;
    long count;
    int rank;
    long at;
};

/* A flag in the window of a rank, and the value it shall have; `value` and `old` stay until the next flush.
 */
struct flag {
    enum signal_by by;
    int rank;
    long at;
    const uint64_t *value;
    uint64_t *old; /* room for what fetch_op returns */
};

/* A file of `head`, then doubles in the order of a whole grid of four axes, of which this rank has blocks of
 * the size `part` that begin at at[0 … count - 1]. */
enum { STORE_HEAD = 8, STORE_TIME = 5, STORE_ERROR = 600 }; /* the entries before the time must agree */
struct store {
    double head[STORE_HEAD];
    int whole[4], part[4];
    int count;
    long block;     /* doubles of a block */
    int (*at)[4];   /* [count] */
    double *blocks; /* [count × block] */
};

struct wire {
    /* Whether this library writes flags that way. */
    bool (*has)(enum signal_by by);

    /* Begins and ends communication; by one thread. `die` ends the job in the middle. */
    struct world (*start)(void);
    void (*finish)(void);
    void (*die)(void);

    /* Collective, one thread of each rank: the largest, or the sum, of a number of each rank; a barrier; all
     * bytes of all ranks, one rank after the other, in *all of rank 0 (to be freed). gather returns 0, or -1
     * on all ranks when rank 0 has no memory. */
    double (*max)(double mine);
    double (*sum)(double mine);
    void (*barrier)(void);
    int (*gather)(const void *mine, size_t bytes, void **all, size_t *all_bytes);

    /* Writes the file or reads it; the same callers. 0, or -1 on all ranks with the reason in `error`
     * (STORE_ERROR bytes) of rank 0. NULL: this library has no files. */
    int (*store)(const char *file, struct store *s, bool write, char *error);

    /* A window of zeros on each rank, of at most `words` words; collective, one thread. NULL without memory.
     */
    double *(*open)(long words);
    void (*close)(void);
    struct dwelling (*dwelling)(void);

    /* Issue a transfer; the block here stays as it is, or is not read, until the next flush. put_flag writes
     * the flag once the block is there; it may be empty. */
    void (*put)(struct block b);
    void (*put_flag)(struct block b, struct flag f);
    void (*get)(struct block b);
    void (*signal)(struct flag f);

    /* What this thread has issued to the ranks is done there; count -1: to all ranks. */
    void (*flush)(const int *ranks, int count);

    /* Begins such a flush, of `count` ranks, and goes on; flush_ended looks, or waits, whether all of it is
     * done, and gives its memory back then. can_begin: whether this library has it (NULL: no). */
    bool (*can_begin)(void);
    void *(*flush_begin)(const int *ranks, int count);
    bool (*flush_ended)(void *begun, bool wait);

    /* Stores of this thread to the window of its own rank are there for whoever sees a later signal. */
    void (*publish)(void);

    /* Waits until a flag in the window of this rank has the value. */
    void (*wait)(enum signal_by by, long at, uint64_t value);
};

/* The wires; wire_shmem returns NULL in a build without OpenSHMEM. */
const struct wire *wire_mpi(void);
const struct wire *wire_shmem(void);

/* The wire of this run; set before all else. */
extern const struct wire *wire;

#endif
