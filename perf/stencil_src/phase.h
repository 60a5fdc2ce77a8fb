/*
 * Where a thread's time goes: phases, their sums, and a trace of them.
 */
#ifndef STENCIL_PHASE_H
#define STENCIL_PHASE_H

#include <stdbool.h>

/*
 * Communication is PACK, TRANSFER (issuing puts and gets), SIGNAL, FLUSH and UNPACK; WAIT is waiting for
 * flags; COPY moves ghost zones between patches of one rank; SYNC is the step's reduction and the threads'
 * barriers.
 */
enum phase {
    PHASE_COMPUTE,
    PHASE_PACK,
    PHASE_TRANSFER,
    PHASE_SIGNAL,
    PHASE_FLUSH,
    PHASE_WAIT,
    PHASE_UNPACK,
    PHASE_COPY,
    PHASE_SYNC,
    NPHASE
};

/* One entry of the trace; times in seconds of the monotonic clock. */
struct span {
    double begin, end;
    int phase, patch; /* patch -1: none */
};

/* The time sheet of one thread; only that thread writes it during the run. */
struct sheet {
    double sum[NPHASE]; /* seconds */
    double last;        /* when the phase in work began */
    struct span *spans; /* NULL: no trace */
    long count, room;
    char pad[64]; /* keeps the next thread's sheet off this one's cache lines */
};

const char *phase_name(enum phase p);

/* Starts a sheet that keeps the first `room` spans; without memory for them it keeps none. */
void sheet_start(struct sheet *s, long room);
void sheet_free(struct sheet *s);

/* Books the time since the last call under phase p. */
void sheet_book(struct sheet *s, enum phase p, int patch);

/* Share of communication in the thread time: sums of `sheets` in one NPHASE array; and with waiting. */
double phase_share(const double sum[NPHASE]);
double phase_share_with_wait(const double sum[NPHASE]);

#endif
