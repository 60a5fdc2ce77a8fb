/* Which hosts answer, judged by the provider's connections with them. No system calls here: see alive.c. */
#ifndef HL_RX_HOSTS_H
#define HL_RX_HOSTS_H

#include "links.h"

/* A host that some process of ours is, or was, connected with.
 *
 *   answers (since_ns 0) --asked in vain--> silent --an answer--> answers
 *                                           silent --for the timeout--> dead --an answer--> dead and back */
struct hl_rx_host {
    struct hl_fab_host at;
    uint64_t since_ns; /* of the look that found it silent, 0: it answers */
    uint64_t asked_ns; /* of the last look that found a question without answer */
    uint64_t died_ns;  /* valid when dead */
    bool heard;        /* of it there was an answer at some time */
    bool dead, back;
    bool lost;   /* this look misses a used connection that the one before saw: perhaps a process has ended */
    int first;   /* a rank of it, probed to see whether it is back; valid when dead */
    int told_to; /* ranks before this have been told that they count as dead, once it is back */
    int check;   /* the next rank that may be asked whether it lives, -1: none is to be */
};

/* Zeroed: empty. One thread. */
struct hl_rx_hosts {
    struct hl_rx_host *host;
    size_t count, room;
    uint64_t *now, *before; /* connections of this look and of the last one, sorted */
    size_t n_now, n_before, room_now, room_before;
};

/* The host's record, made if it is new; valid until the next call. NULL: no memory. */
struct hl_rx_host *hl_rx_hosts_get(struct hl_rx_hosts *h, const struct hl_fab_host *at);

/* Is there one? */
bool hl_rx_hosts_know(const struct hl_rx_hosts *h, const struct hl_fab_host *at);

/* A connection that the look at `now_ns` found; false: it shall be ended. */
bool hl_rx_hosts_see(struct hl_rx_hosts *h, const struct hl_fab_link *link, uint64_t now_ns);

/* The look is over. Returns how many hosts have died of their silence (timeout_ns; 0: none ever does). */
int hl_rx_hosts_judge(struct hl_rx_hosts *h, uint64_t now_ns, uint64_t timeout_ns);

void hl_rx_hosts_free(struct hl_rx_hosts *h);

#endif
