/* Inside the module: how messages leave, so that tests can put other sockets in. */
#ifndef HL_NEAR_INSIDE_H
#define HL_NEAR_INSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum near_kind {
    NEAR_ASK,    /* give me the descriptor of segment seg_id */
    NEAR_GIVE,   /* here it is */
    NEAR_REFUSE, /* use the network */
    NEAR_PING,   /* are you alive: only that it can be sent matters */
};

/* The one message of the module, on the node socket. */
struct near_msg {
    uint32_t magic; /* HL_NEAR_MAGIC */
    uint32_t kind;
    uint64_t seg_id;
    uint64_t len;   /* GIVE: the segment's bytes */
    uint64_t off;   /* GIVE: where they begin in the file */
    uint64_t base;  /* GIVE: its address at its owner */
    uint32_t arena; /* GIVE: it never dies */
    uint32_t unused;
};

/* Like hl_boot_node_send, which it is but in tests. */
extern int (*hl_near_send)(int node_rank, const void *msg, size_t len, int fd);

/* Lists all my segments in the board from now on. Errors as hl_mem_watch. */
int hl_near_offers_open(void);

/* What opening a listed segment brings. */
struct near_opened {
    int fd; /* close-on-exec and the caller's */
    size_t off, len;
    uint64_t base;
    bool arena;
};

/* Opens the segment `id` of a node rank. False: it is not listed, or cannot be opened from here. Any thread.
 */
bool hl_near_offers_take(int node_rank, uint64_t id, struct near_opened *out);

struct hl_near_lock;

/* Takes the lock if rows are updated under it; false: they are not, and it is not held. */
bool hl_near_rows_take(struct hl_near_lock *l);

/* Nanoseconds until a waiter for a lock asks whether its holder lives. */
extern uint64_t hl_near_patience_ns;

#endif
