/* Calls of which perf/coherence counts the cache lines that travel. */
#ifndef COHERENCE_H
#define COHERENCE_H

#include <stdbool.h>

struct coherence_call {
    const char *name;
    double of;                    /* operations of one `run` */
    void (*prepare)(int threads); /* NULL: nothing is to be prepared; by the thread that starts the others */
    void (*run)(int thread);
    const char *setting; /* NAME=VALUE of the environment, or NULL */
};

/* Designs that this library is compared with. */
#define GLOBAL "HOTLANE_RMA_MODE=global"
#define ENQUEUE "HOTLANE_RMA_MODE=enqueue"
#define OBJECT "HOTLANE_CS=object"

/* Each ends with a row without a name. */
extern const struct coherence_call coherence_truth[], coherence_near[], coherence_far[], coherence_alltoall[];

/* Ends the program with an error's words; 0: does nothing. */
void coherence_must(int rc);

/* What the caller does from now on counts (true) or does not, as at the begin. */
void coherence_count(bool counts);

#endif
