/* Build variant "directory": counts which cache lines would travel between cores, on a machine that need not
 * have these cores. The compiler's hooks for ThreadSanitizer tell of every access of the library; a directory
 * has, for each line, which caches hold it. Threads under it run one at a time, so that two runs are the
 * same. Lines have 64 bytes, and caches are never full. atomic.h includes this at its end. */
#ifndef HL_ATOMIC_DIRECTORY_H
#define HL_ATOMIC_DIRECTORY_H

#include <stddef.h>

/* by_time false, "by turns": a thread runs until its operation is over, then the next one runs. by_time true:
 * the thread with the smallest clock runs, and at each atomic access another thread may go on; only that
 * shows what happens within a batch of operations. */
struct hl_directory_machine {
    int threads;
    int per_core; /* threads with neighbouring numbers that share a core and its cache */
    bool by_time;
    double transfer_ns; /* time to transfer a line that another cache has changed, or must give up */
    double rmw_ns;      /* time of a read-modify-write or full fence, without the transfer */
    double block_ns;    /* time of a basic block; twice that where four threads share a core, and so on */
};

/* Sums over all threads since hl_directory_begin. */
struct hl_directory_counts {
    uint64_t operations;
    uint64_t reads, writes; /* transfers of lines to read them, and to change them */
    uint64_t rmws, fences;
    uint64_t blocks;
    uint64_t sleeps; /* waits for a mutex or a futex, and naps */
    double ns;       /* time of the slowest thread, by its clock */
};

/* One line, and one place in the code whose accesses transferred it. */
struct hl_directory_place {
    uintptr_t line; /* address of the line's first byte */
    uintptr_t pc;   /* address behind the access */
    uint64_t reads, writes;
};

/* Runs fn(arg, 0) .. fn(arg, threads - 1), each in a thread, until all have returned. Returns 0 or an errno.
 * It is not reentrant. */
int hl_directory_run(const struct hl_directory_machine *machine, void (*fn)(void *arg, int thread),
                     void *arg);
/* Called by a thread of a run when its operation is over. */
void hl_directory_step(void);
/* Called by all threads of a run: returns when all have called it, with equal clocks and counters at 0. */
void hl_directory_begin(void);

/* Sets whether accesses of the calling thread are counted from now on; its clock goes on in any case. */
void hl_directory_count(bool counts);

struct hl_directory_counts hl_directory_sum(void);
void hl_directory_each(void (*fn)(const struct hl_directory_place *place));

/* These are for functions that replace those of the C library, which have no hooks. hl_directory_is_on is
 * false outside a run and within the directory itself; the others do nothing then. */
bool hl_directory_is_on(void);
enum hl_directory_access { HL_DIRECTORY_READ, HL_DIRECTORY_WRITE, HL_DIRECTORY_RMW };
void hl_directory_touch(const void *p, size_t n, enum hl_directory_access how, const void *pc);
/* Lets another thread go on, as before each atomic access. */
void hl_directory_look(void);
/* Adds the time for which the thread works or sleeps to its clock; another thread may go on. */
void hl_directory_spend(double ns);
/* Sleeps until hl_directory_wake(on), for at most `most_ns` (HUGE_VAL: for ever). False: that time has
 * passed. */
bool hl_directory_sleep(const void *on, double most_ns);
/* Wakes at most `most` threads that sleep on this address; returns how many. */
int hl_directory_wake(const void *on, int most);
double hl_directory_now_ns(void);

void hl_directory_pause(void);
#define hl_pause() (hl_directory_pause(), (hl_pause)())

#endif
