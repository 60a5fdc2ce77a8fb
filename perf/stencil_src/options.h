/*
 * The command line of the stencil.
 */
#ifndef STENCIL_OPTIONS_H
#define STENCIL_OPTIONS_H

#include "problems.h"

#include <stdbool.h>

enum transfer { TRANSFER_PUT, TRANSFER_GET };
enum api { API_MPI, API_SHMEM };
enum signal_by {
    SIGNAL_PUT,
    SIGNAL_ACCUMULATE,
    SIGNAL_FETCH_OP,
    SIGNAL_NOTIFY,
    SIGNAL_ATOMIC,
    SIGNAL_PUT_SIGNAL
};
enum flush_per { FLUSH_PATCH, FLUSH_BATCH, FLUSH_ALL, FLUSH_NONBLOCKING };

/* Faults that the tests plant to prove that the hash sees them. */
enum plant { PLANT_NONE, PLANT_PACK, PLANT_PARITY };

struct options {
    const struct problem *problem;
    int n[3]; /* zones along the axes; n[2] 1: two dimensions */
    int patch;
    enum boundary boundary;
    int threads;     /* 0: what OpenMP says */
    long steps;      /* 0: run to end_time */
    double end_time; /* infinite when steps is given */
    enum api api;
    enum transfer transfer;
    enum signal_by signal;
    enum flush_per flush;
    enum plant plant;
    bool overlap, serial, quiet, help;
    const char *picture, *profile, *json; /* file names, NULL: none */
    const char *checkpoint, *restart;     /* the same: of the state at the end, and to begin from */
};

/* Size of the text that options_parse leaves for an error. */
enum { OPTIONS_ERROR = 400 };

/*
 * Reads the command line into *o. Returns 0, or -1 with one line in `error` (OPTIONS_ERROR bytes) that names
 * what was asked and what would do. File names point into argv.
 */
int options_parse(struct options *o, int argc, char **argv, char *error);

/* Writes the help text to standard output. */
void options_help(void);

/* The words of the command line for the chosen variants. */
const char *options_api(const struct options *o);
const char *options_transfer(const struct options *o);
const char *options_signal(const struct options *o);
const char *options_flush(const struct options *o);

#endif
