/* Inside the module: the messages that ask for peers' segments, the lists of segments, and what tests
 * replace. */
#ifndef HL_NEAR_INTERNAL_H
#define HL_NEAR_INTERNAL_H

#include "atomic.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum near_kind {
    NEAR_ASK,    /* asks for the descriptor of segment seg_id */
    NEAR_GIVE,   /* brings it */
    NEAR_REFUSE, /* the segment cannot be shared: use the network */
};

/* The message of these files, on the node socket. */
struct near_msg {
    uint32_t magic; /* HL_NEAR_MAGIC */
    uint32_t kind;
    uint64_t seg_id;
    uint64_t len;   /* GIVE: the segment's bytes */
    uint64_t off;   /* GIVE: where they begin in the file */
    uint64_t base;  /* GIVE: its address at its owner */
    uint32_t arena; /* GIVE: 1: an arena, which lives as long as its owner */
    uint32_t unused;
};

/* Sends a message over the node socket: hl_boot_node_send, which tests replace. */
extern int (*hl_near_send)(int node_rank, const void *msg, size_t len, int fd);

/* A segment that peers may open by themselves (near_offers.c). Its owner writes it, ranks of the node read
 * it. */
struct hl_near_offer {
    HL_ALIGNED_LINE hl_a64 id; /* of the segment, 0: none; atomic, released after the other fields */
    int32_t pid, fd;           /* the owner's process, and the descriptor there */
    uint64_t dev, ino; /* device and number of the file: they prove that the descriptor still means it */
    uint64_t off, len; /* the segment's bytes in the file */
    uint64_t base;     /* its address at its owner */
    uint32_t arena;    /* 1: the segment is an arena and lives as long as its owner */
};

#define HL_NEAR_OFFERS 64 /* segments of a rank that are listed at a time */

/* A segment of a peer whose file was opened. */
struct near_opened {
    int fd; /* close-on-exec; the caller closes it */
    size_t off, len;
    uint64_t base;
    bool arena;
};

/* Opens the segment `id` of a node rank. Returns false when it is not listed, or cannot be opened by this
 * process. Any thread. */
bool hl_near_offers_take(int node_rank, uint64_t id, struct near_opened *out);

/* The list of a node rank: HL_NEAR_OFFERS places, in the board. */
struct hl_near_offer *hl_near_offers(int node_rank);

#endif
