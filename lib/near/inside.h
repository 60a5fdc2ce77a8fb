/* Inside the module: its messages, its list of segments, and what tests replace. */
#ifndef HL_NEAR_INSIDE_H
#define HL_NEAR_INSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum near_kind {
    NEAR_ASK,    /* asks for the descriptor of segment seg_id */
    NEAR_GIVE,   /* brings it */
    NEAR_REFUSE, /* the segment cannot be shared: use the network */
    NEAR_PING,   /* asks nothing: it is sent to learn whether the receiver's process lives */
};

/* The one message of the module, on the node socket. */
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

/* Lists all segments of this rank in the board from now on. Returns 0 or an error of hl_mem_watch. */
int hl_near_offers_open(void);

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

struct hl_near_lock;

/* Takes the lock and returns true if rows are updated under it; else returns false without it. `l` may be
 * NULL: memory without rows. Any thread; may wait as hl_near_lock_take does. */
bool hl_near_rows_take(struct hl_near_lock *l);

/* Nanoseconds after which a rank that waits for a lock asks whether the holder lives; tests shorten it. */
extern uint64_t hl_near_holder_timeout_ns;

#endif
