/* Inside the module: what its files share. */
#ifndef HL_RX_INTERNAL_H
#define HL_RX_INTERNAL_H

#include "fab.h"
#include "lock.h"
#include "ring.h"
#include "rx.h"
#include "window.h"

#include <pthread.h>
#include <time.h>

/* How a rank died. */
enum hl_rx_death {
    HL_RX_TOLD = 1, /* the launcher or the rank's host says so */
    HL_RX_LOST,     /* a node peer has seen that its process is gone */
};

/* A record that waits to be sent to another receive thread (out.c). */
struct hl_rx_out {
    struct hl_rx_out *next;
    int peer;          /* world rank */
    uint64_t since_ns; /* time of the first try, 0: none yet */
    struct hl_wire_rec rec;
    uint8_t payload[HL_WIRE_NEAR_MAX - sizeof(struct hl_wire_rec)];
};

/* The rank's receive side. Fields belong to the receive thread unless they say otherwise. */
struct hl_rx {
    struct hl_rx_ring *rings;        /* [node_size] rings of all ranks of the node; read-only after open */
    struct hl_rx_ring *mine;         /* the ring of this rank */
    hl_a32 *bells;                   /* [node_size] atomic: 1 + eventfd of a peer, 0: not known yet */
    int epoll, bell;                 /* read-only after open */
    int timer;                       /* for ticks; read-only after the network opened; -1: there is none */
    hl_rx_fn *handlers[HL_WIRE_OPS]; /* read-only after start */
    hl_a32 stop;                     /* atomic: set by hl_rx_stop */
    hl_a32 has_network;              /* atomic: set with release when the endpoint is ready */
    hl_a32 has_cards;                /* atomic: set with release when the ranks have exchanged their cards */
    hl_a8 *dead;                     /* [size] atomic: 0, or enum hl_rx_death */
    hl_a32 lost;                     /* atomic; 1: there are HL_RX_LOST ranks whose death was not told yet */
    bool deaths;                     /* ranks of the job have died */
    pthread_t thread;
    bool started;
};
extern struct hl_rx hl_rx;

/* True on the receive thread. */
bool hl_rx_on_thread(void);

/* Nanoseconds that the calling thread has run on a processor. */
HL_INLINE uint64_t hl_rx_thread_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/* Decides whether the thread keeps polling instead of going to sleep. When two messages come within
 * HL_RX_QUICK_NS, they are questions and answers, and the next one will come sooner than the kernel wakes a
 * thread; after a single message the thread sleeps. It sleeps at least every HL_RX_AWAKE_NS, since only epoll
 * tells of some descriptors. */
#define HL_RX_QUICK_NS UINT64_C(50000)
#define HL_RX_AWAKE_NS UINT64_C(1000000)
struct hl_rx_pace {
    uint64_t came_ns, until_ns; /* time of the last message; time when polling ends */
    uint64_t slept_ns;          /* when the thread last went to sleep */
};

/* True: poll again; `came`: the last pass brought a message. */
HL_INLINE bool hl_rx_pace_is_quick(struct hl_rx_pace *p, bool came, uint64_t now)
{
    if (came) {
        p->until_ns = now - p->came_ns < HL_RX_QUICK_NS ? now + HL_RX_QUICK_NS : 0;
        p->came_ns = now;
    }
    if (now < p->until_ns && now - p->slept_ns < HL_RX_AWAKE_NS) {
        return true;
    }
    p->slept_ns = now;
    return false;
}

void hl_rx_kick(void); /* wakes the thread; any thread */

/* Counts the rank as dead from now on and tells those that have asked for deaths. On the receive thread. */
void hl_rx_mark_dead(int rank);

/* True when the cards of all ranks are there. */
bool hl_rx_has_cards(void);

/* Runs the handler of a record. */
int hl_rx_run(const struct hl_rx_msg *msg);

/* ---- records of a message (records.c) ---- */

/* An acknowledgement under construction. */
struct hl_rx_answers {
    uint8_t *bytes;              /* hl_fab.eager bytes, the head first; NULL: the sender takes no answers */
    uint32_t len, count;         /* bytes in use, with the head; number of answers */
    uint32_t message, record;    /* the record that is being handled */
    struct hl_wire_ans *current; /* the answer to that record, or NULL */
    bool refuses;                /* an answer is an error */
};

/* Handles the records of a checked message in order; answers and errors go to *a. */
void hl_rx_apply_records(const struct hl_wire_head *head, struct hl_rx_answers *a);

/* ---- network side (net.c) ---- */
int hl_rx_net_open(void);       /* opens libfabric, endpoint, buffers, registrations, card */
int hl_rx_net_poll(void);       /* reads the queue, sends waiting messages; returns how many moved */
bool hl_rx_net_may_sleep(void); /* true when the queue's descriptor will wake the thread, or there is none */
bool hl_rx_net_waits(void);     /* true: poll again soon: messages wait, or there is no descriptor */
int hl_rx_net_fd(void);         /* the queue's descriptor, or -1 */
void hl_rx_net_close(void);
int hl_rx_net_insert(const void *name, size_t len, fi_addr_t *addr); /* as hl_fab_ep_insert */

/* ---- numbers of records between receive endpoints (streams.c) ---- */
int hl_rx_streams_open(void);
void hl_rx_streams_close(void);
/* It is held while a record gets its number and is posted, so that records leave in the order of their
 * numbers. The receive thread waits for it no longer than a buffer and a post take; other threads only try
 * it. */
extern struct hl_mutex hl_rx_numbers;
/* The number of the next record to this peer. */
uint64_t hl_rx_streams_number(int peer, unsigned op) HL_REQUIRES(hl_rx_numbers);
/* Says that the record of that number has left. The first one to a peer is the receive thread's. */
void hl_rx_streams_left(int peer, uint64_t number) HL_REQUIRES(hl_rx_numbers);
bool hl_rx_streams_spoken_to(int peer); /* true: a record has left for this peer */
enum hl_rx_turn hl_rx_streams_take(const struct hl_wire_head *head);
/* After HL_RX_NEXT: a message from that rank whose turn it is now, which the caller frees, or NULL. */
struct hl_rx_parked *hl_rx_streams_next(int from);
/* Called once a second: tells last numbers, asks about gaps. Returns how many streams it looked at. */
int hl_rx_streams_look(void);
bool hl_rx_streams_ask(int peer); /* asks its receive thread for an answer; false: that cannot leave now */

/* A rank's card, as hl_rx_card_of, for the receive thread, which does not wait for the launcher while another
 * thread is in a fence: HL_ERR_AGAIN without a text when the card is not to be had now. */
const struct hl_rx_card *hl_rx_card_now(int peer, int *rc);

/* False: a rank of another node cannot be spoken to now, because its card is not to be had; its silence says
 * nothing. */
bool hl_rx_may_ask(int peer);

/* Sends a record to a peer's receive endpoint. Returns 0, HL_ERR_AGAIN without a text, or another error. The
 * receive thread. */
int hl_rx_net_send(int peer, const struct hl_wire_rec *rec, const void *payload);

/* The same for any thread, where it needs no new connection and no wait; false: nothing was done, and the
 * receive thread has to send it. */
bool hl_rx_net_send_at_once(int peer, const struct hl_wire_rec *rec, const void *payload);

/* Reads a rank's heartbeat to *word; hl_rx_doubts_read hears of its end, until which word and op are the
 * provider's. False: nothing was sent to the rank yet, it has no heartbeat, or the provider refuses. */
struct hl_rx_op;
bool hl_rx_net_read_heartbeat(int rank, uint64_t *word, struct hl_rx_op *op);

/* ---- near side (near_side.c) ---- */
int hl_rx_near_poll(void);                          /* handles records in the ring; returns how many */
int hl_rx_near_limit(enum hl_rx_sleep how, int ms); /* how long the thread may sleep then; 0: not */
void hl_rx_node_socket(void);                       /* called when the node socket is readable */
/* Puts a record into a peer's ring; false: the ring is full. Any thread. */
bool hl_rx_near_send(int node_rank, const struct hl_wire_rec *rec, const void *payload);

/* ---- outgoing records (out.c) ---- */
int hl_rx_out_poll(void);   /* sends queued records; returns how many are done with */
bool hl_rx_out_waits(void); /* true when records are queued */
void hl_rx_out_close(void);
/* True when something has waited so long for the rank that it shall be dropped. False while connections
 * tell of the rank's host: a dead host is found by its silence, and on a living one the rank is
 * stopped. (alive.c) */
bool hl_rx_gives_up(int rank, uint64_t waited_ns);

/* Writes " at ADDRESS" of a rank of another node for use in texts; "" where the network has no such
 * addresses. */
#define HL_RX_WHERE 80
const char *hl_rx_where(int rank, char text[HL_RX_WHERE]);

/* ---- descriptors of modules above (watch.c) ---- */
void hl_rx_watch_run(int fd); /* calls the function that watches fd */
bool hl_rx_watch_look(void);  /* calls the function of hl_rx_on_look; true: call again soon */
void hl_rx_watch_close(void);

#endif
