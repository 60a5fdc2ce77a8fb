/* hotlane-info --prove: a job tries whether the network does its operations right, and reports. */
#ifndef HL_INFO_PROOF_H
#define HL_INFO_PROOF_H

#include "info.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The result of a step on one rank: its text says what was done, or the first thing that was wrong. */
struct finding {
    bool failed;
    char text[400];
};

void proof_fail(struct finding *f, const char *fmt, ...) HL_PRINTF(2, 3);

/* Did the call succeed? If not, it is noted with the text of MPI's error. */
bool proof_went(struct finding *f, int rc, const char *call);

/* Where a rank runs. */
struct proof_host {
    char name[64], system[128], provider[64], device[64], fabric[64];
    uint32_t libfabric, version; /* FI_VERSION of the library and of the provider */
};

/* Figures between rank 0 and the last rank. 0: not measured. */
struct proof_figures {
    double put_rate;  /* puts of 8 bytes per second */
    double put_flush; /* seconds of one put with its flush */
    double latency;   /* seconds of a message of 0 bytes in one direction */
    double bandwidth; /* bytes per second, puts of 1 MiB */
};

#define PROOF_STEPS 8

struct proof {
    const struct facts *facts;
    double seconds; /* of random operations */
    bool json;
    int me, ranks;
    uint64_t seed;
    struct proof_host here, *hosts; /* hosts: [ranks], rank 0 only */
    int count, failed;              /* number of steps, and of those that failed */
    struct proof_step {
        const char *name;
        struct finding found;
    } steps[PROOF_STEPS];
    struct proof_figures figures;
};

/* Runs all steps under a launcher, or starts a job of two ranks if there is none. Returns the exit code: 1
 * when something failed. */
int info_prove(const struct facts *f, double seconds, bool json, char **argv);

/* The steps; all ranks call each of them. */
void proof_random(struct proof *p, struct finding *f);
void proof_order(struct proof *p, struct finding *f);
void proof_lost(struct proof *p, struct finding *f);
void proof_measure(struct proof *p, struct finding *f);

/* Starts the process that proof_lost will kill, before this one has threads. False: it cannot be started. */
bool proof_lost_start(void);
void proof_lost_end(void);

/* Prints the report; called by rank 0, or by a rank that could not start. */
void proof_report(const struct proof *p);

/* The next number of a pseudorandom stream. */
uint64_t proof_draw(uint64_t *state);

#endif
