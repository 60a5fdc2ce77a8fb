/* Ways in which threads of a process receive messages whose lengths they do not know (Hoefler et al.,
 * EuroMPI 2010): matched probe, locks for pairs of source and tag (in one list, or in a sparse map) with a polled probe, and matching outside
 * of MPI by a thread that receives everything. Plain MPI only. */
#ifndef PROBE_H
#define PROBE_H

#include "../rma_src/threads.h"

#define TAG_OWN (1 << 20) /* from here on tags are the benchmark's; no receiver of messages asks for them */

struct message {
    int src, tag, bytes;
    void *data; /* the receiver frees it */
};

/* What a way did for the messages of one thread. */
struct counts {
    long probes, locks;
};

struct way {
    const char *name;
    /* Before and after all threads receive; the number of messages that this process will get. */
    void (*open)(long messages);
    void (*close)(void);
    /* Receives one message of `src` and `tag`, which may be MPI_ANY_SOURCE and MPI_ANY_TAG. */
    void (*receive)(int src, int tag, struct message *m, struct counts *c);
};

extern const struct way way_matched, way_locks, way_map, way_blocking, way_outside, way_wrong;

void *need(size_t bytes);                          /* memory, or the program ends */
void message_of(MPI_Status *s, struct message *m); /* source, tag and room for the data */

static inline bool accepts(int wanted, int any, int is)
{
    return wanted == any || wanted == is;
}

#endif
