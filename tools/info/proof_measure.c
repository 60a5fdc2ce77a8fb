/* A step: measures a few figures of the network between the first rank and the last, to be compared with what
 * it should reach. The other ranks wait. */
#include "proof.h"

#include "util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENOUGH_S 0.4 /* seconds of each measurement */
#define LARGE ((size_t)1 << 20)
#define AT_ONCE 16

struct pair {
    struct proof *p;
    struct finding *f;
    int last;
    MPI_Win win;
    char *base;
    unsigned char *from;
};

static double now(void)
{
    return (double)hl_now_ns() / 1e9;
}

static void flush(struct pair *m)
{
    (void)proof_went(m->f, MPI_Win_flush(m->last, m->win), "MPI_Win_flush");
}

/* Times repeated batches of `n` puts of `len` bytes with one flush; returns the seconds of one put. */
static double time_puts(struct pair *m, int n, int len)
{
    double begin, took = 0;
    long times = 0;
    for (int warm = 1; warm >= 0; warm--) {
        begin = now();
        times = 0;
        do {
            for (int i = 0; i < n; i++) {
                int rc = MPI_Put(m->from, len, MPI_BYTE, m->last, 0, len, MPI_BYTE, m->win);
                (void)proof_went(m->f, rc, "MPI_Put");
            }
            flush(m);
            times += n;
            took = now() - begin;
        } while (took < (warm ? ENOUGH_S / 8 : ENOUGH_S) && !m->f->failed);
    }
    return took / (double)times;
}

/* Times messages without data there and back; returns half of a round trip in seconds. */
static double time_messages(struct pair *m)
{
    enum { TURNS = 2000 };
    int other = m->p->me == 0 ? m->last : 0;
    double begin = 0;
    for (int i = -TURNS / 10; i < TURNS; i++) {
        begin = i == 0 ? now() : begin;
        if (m->p->me == 0) {
            MPI_Send(NULL, 0, MPI_BYTE, other, 6, MPI_COMM_WORLD);
        }
        MPI_Recv(NULL, 0, MPI_BYTE, other, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (m->p->me != 0) {
            MPI_Send(NULL, 0, MPI_BYTE, other, 6, MPI_COMM_WORLD);
        }
    }
    return (now() - begin) / (2.0 * TURNS);
}

static void measure(struct pair *m)
{
    struct proof_figures *figures = &m->p->figures;
    if (m->p->me == 0) {
        figures->put_flush = time_puts(m, 1, 8);
        figures->put_rate = 1 / time_puts(m, 1000, 8);
        figures->bandwidth = (double)LARGE / time_puts(m, AT_ONCE, (int)LARGE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (m->p->me == 0 || m->p->me == m->last) {
        figures->latency = time_messages(m);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

void proof_measure(struct proof *p, struct finding *f)
{
    struct pair m = {.p = p, .f = f, .last = p->ranks - 1, .from = malloc(LARGE)};
    int lacks = m.from == NULL;
    MPI_Allreduce(MPI_IN_PLACE, &lacks, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (lacks) {
        proof_fail(f, "no memory on some rank");
    } else if (proof_went(f,
                          MPI_Win_allocate(p->me == m.last ? (MPI_Aint)LARGE : 0, 1, MPI_INFO_NULL,
                                           MPI_COMM_WORLD, &m.base, &m.win),
                          "MPI_Win_allocate")) {
        MPI_Win_set_errhandler(m.win, MPI_ERRORS_RETURN);
        memset(m.from, 1, LARGE);
        MPI_Win_lock_all(0, m.win);
        MPI_Barrier(MPI_COMM_WORLD);
        measure(&m);
        MPI_Win_unlock_all(m.win);
        MPI_Win_free(&m.win);
    }
    if (!f->failed) {
        snprintf(f->text, sizeof f->text,
                 "between ranks 0 and %d: %.0f puts of 8 bytes per second; %.1f us for one and its flush; "
                 "%.1f us for "
                 "a message of 0 bytes; %.0f MB/s in puts of 1 MiB",
                 m.last, p->figures.put_rate, p->figures.put_flush * 1e6, p->figures.latency * 1e6,
                 p->figures.bandwidth / 1e6);
    }
    free(m.from);
}
