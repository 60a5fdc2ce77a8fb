/* hotlane-info --prove: a job tries what the network does with its operations, and reports. */
#ifndef HL_INFO_PROOF_H
#define HL_INFO_PROOF_H

#include "info.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What a step found on one rank: its text says what was done, or the first thing that was wrong. */
struct finding {
    bool failed;
    char text[400];
};

void proof_fail(struct finding *f, const char *fmt, ...) HL_PRINTF(2, 3);

/* Did the call go well? If not, it is noted with MPI's words. */
bool proof_went(struct finding *f, int rc, const char *call);

/* Where a rank runs. */
struct proof_host {
    char name[64], system[128], provider[64], device[64], fabric[64];
    uint32_t libfabric, version; /* FI_VERSION of the library and of the provider */
};

/* Between rank 0 and the last one. 0: not measured. */
struct proof_figures {
    double put_rate;  /* puts of 8 bytes per second */
    double put_flush; /* seconds of one with its flush */
    double latency;   /* seconds of a message of 0 bytes, one way */
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
    int count, failed;              /* steps, and those that failed */
    struct proof_step {
        const char *name;
        struct finding found;
    } steps[PROOF_STEPS];
    struct proof_figures figures;
};

/* Runs the whole under a launcher, or starts a job of two ranks if there is none. The exit code: 1 when
 * something failed. */
int info_prove(const struct facts *f, double seconds, bool json, char **argv);

/* The steps: all ranks call them. */
void proof_random(struct proof *p, struct finding *f);
void proof_order(struct proof *p, struct finding *f);
void proof_lost(struct proof *p, struct finding *f);
void proof_measure(struct proof *p, struct finding *f);

/* Starts the process that will be lost, before this one has threads. False: it cannot be started. */
bool proof_lost_start(void);
void proof_lost_end(void);

/* Rank 0, or a rank that could not start: prints the report. */
void proof_report(const struct proof *p);

/* A stream of numbers. */
uint64_t proof_draw(uint64_t *state);

#endif
