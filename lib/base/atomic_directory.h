/* Build variant "directory": counts which cache lines travel between cores, without those cores. The
 * compiler's hooks for ThreadSanitizer tell of every access of the library; a directory says, for each line,
 * which caches hold it. Threads under it run one at a time, so that two runs are the same. Lines have 64
 * bytes, and caches room for all. Included at the end of atomic.h. */
#ifndef HL_ATOMIC_DIRECTORY_H
#define HL_ATOMIC_DIRECTORY_H

#include <stddef.h>

/* By turns (false), a thread runs until its operation is over, then the next one. By time, the thread with
 * the smallest clock runs, and each atomic access is a place where another one may go on: only that shows
 * what happens inside a batch of operations. */
struct hl_directory_machine {
    int threads;
    int per_core; /* threads of a core, neighbours by number, which share its cache */
    bool by_time;
    double transfer_ns; /* a line that another cache has changed, or holds and is to lose */
    double rmw_ns;      /* a read-modify-write or full fence, beside the transfer */
    double block_ns;    /* a basic block of code; twice that, where four threads share a core, and so on */
};

/* Sums over all threads since hl_directory_begin. */
struct hl_directory_counts {
    uint64_t operations;
    uint64_t reads, writes; /* transfers: for reading, and for changing what is to be had alone */
    uint64_t rmws, fences;
    uint64_t blocks;
    uint64_t sleeps; /* waits for a mutex or a futex, and naps */
    double ns;       /* on the clock of the thread that took longest */
};

/* One line, and one place in the code that had it brought. */
struct hl_directory_place {
    uintptr_t line; /* address of its first byte */
    uintptr_t pc;   /* behind the access */
    uint64_t reads, writes;
};

/* Runs fn(arg, 0) .. fn(arg, threads - 1), each as a thread; returns when all have returned, 0 or an errno.
 * Not reentrant. */
int hl_directory_run(const struct hl_directory_machine *machine, void (*fn)(void *arg, int thread),
                     void *arg);
/* Called by a thread there: its operation is over. */
void hl_directory_step(void);
/* Called by all of them: goes on when all are here, with clocks alike and counters at 0. */
void hl_directory_begin(void);

/* Whether what the calling thread does from now on counts; its clock goes on all the same. */
void hl_directory_count(bool counts);

struct hl_directory_counts hl_directory_sum(void);
void hl_directory_each(void (*fn)(const struct hl_directory_place *place));

/* For what stands in place of the C library's functions, which have no hooks. Outside a run, and within the
 * directory itself, there is no thread: hl_directory_is_on says so, and the others do nothing then. */
bool hl_directory_is_on(void);
enum hl_directory_access { HL_DIRECTORY_READ, HL_DIRECTORY_WRITE, HL_DIRECTORY_RMW };
void hl_directory_touch(const void *p, size_t n, enum hl_directory_access how, const void *pc);
/* A place where another thread may go on, as before each atomic access. */
void hl_directory_look(void);
/* The thread works or sleeps so long; another one may go on. */
void hl_directory_spend(double ns);
/* Sleeps until hl_directory_wake(on), for `most_ns` at most (HUGE_VAL: for ever); false: that has passed. */
bool hl_directory_sleep(const void *on, double most_ns);
/* Wakes at most so many; returns how many. */
int hl_directory_wake(const void *on, int most);
double hl_directory_now_ns(void);

void hl_directory_pause(void);
#define hl_pause() (hl_directory_pause(), (hl_pause)())

#endif
