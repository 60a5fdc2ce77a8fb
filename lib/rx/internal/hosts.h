/* Inside the module: which hosts answer, judged by the provider's connections with them. No system calls:
 * alive.c makes them. */
#ifndef HL_RX_HOSTS_H
#define HL_RX_HOSTS_H

#include "links.h"

/* A host with which this process has, or had, a connection. States:
 *
 *   answers (since_ns 0) --asked in vain--> silent --an answer--> answers
 *                                           silent --for the timeout--> dead --an answer--> dead and back */
struct hl_rx_host {
    struct hl_fab_host at;
    uint64_t since_ns; /* time of the look that found it silent, 0: it answers */
    uint64_t asked_ns; /* time of the last look that found a question without answer */
    uint64_t died_ns;  /* valid when dead */
    bool heard;        /* it has answered at some time */
    bool dead, back;
    bool lost;   /* a used connection that the last look saw is gone: a process may have ended */
    int first;   /* a rank of it, probed to see whether it is back; valid when dead */
    int told_to; /* when it is back: ranks before this one were told that they count as dead */
    int check;   /* the next rank to probe, -1: none */
};

/* All zero: empty. One thread. */
struct hl_rx_hosts {
    struct hl_rx_host *host;
    size_t count, room;
    uint64_t *now, *before; /* connections of this look and of the last one, sorted */
    size_t n_now, n_before, room_now, room_before;
};

/* The host's record, made if it is new; valid until the next call. NULL: no memory. */
struct hl_rx_host *hl_rx_hosts_get(struct hl_rx_hosts *h, const struct hl_fab_host *at);

/* True when the host has a record. */
bool hl_rx_hosts_know(const struct hl_rx_hosts *h, const struct hl_fab_host *at);

/* Notes a connection that the look at `now_ns` found. Returns false to have it shut down. */
bool hl_rx_hosts_see(struct hl_rx_hosts *h, const struct hl_fab_link *link, uint64_t now_ns);

/* Ends the look. Returns how many hosts count as dead from now on, because they were silent for timeout_ns
 * (0: none ever does). */
int hl_rx_hosts_judge(struct hl_rx_hosts *h, uint64_t now_ns, uint64_t timeout_ns);

void hl_rx_hosts_free(struct hl_rx_hosts *h);

#endif
