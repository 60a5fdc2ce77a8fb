/* Programs of many ranks played in LogGP time: no data moves, and no clock but the model's counts. */
#ifndef SCALE_PLAY_H
#define SCALE_PLAY_H

#include <stdbool.h>
#include <stdint.h>

/* Microseconds. Between ranks of a node, and between nodes, whose ranks share one card. */
struct cost {
    double o, l, g, per_byte; /* a message at either end, on its way, between two of a card, for each byte */
};
struct costs {
    struct cost near, far;
    double copy;  /* a byte within a rank */
    double start; /* what a call costs before its first message */
    double turns; /* ranks that share a core, at least 1: so many times as long takes what they do */
    int node;     /* ranks of one */
};

enum kind { SEND, RECV, WAIT, COPY, NOTE, READ, PAUSE };

struct step {
    uint32_t kind;
    int32_t peer;
    double amount; /* bytes; PAUSE: microseconds */
};

/* A rank's: steps of what it does, in order. At most 32 receives are open before it waits. */
struct program {
    struct step *steps;
    int64_t n;
};

struct played {
    double time; /* of the last rank */
    int64_t messages;
    bool ended; /* false: some rank waits for what nobody sends */
};

/* Plays `programs` of all ranks. With `fold` they are those of the first node, and every other node's are the same, shifted. */
struct played play(const struct program *programs, int64_t ranks, const struct costs *c, bool fold);

/* Says why, and ends the program. */
_Noreturn void die(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
