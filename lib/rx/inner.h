/* What the files of rx share. */
#ifndef HL_RX_INNER_H
#define HL_RX_INNER_H

#include "fab.h"
#include "lock.h"
#include "ring.h"
#include "rx.h"
#include "window.h"

#include <pthread.h>
#include <time.h>

/* How a rank died. */
enum hl_rx_death {
    HL_RX_TOLD = 1, /* the launcher or its host says so */
    HL_RX_LOST,     /* a node peer has seen that its process is gone */
};

/* A record on its way to another receive thread, see out.c. */
struct hl_rx_out {
    struct hl_rx_out *next;
    int peer;
    uint64_t since_ns; /* first try, 0: none yet */
    struct hl_wire_rec rec;
    uint8_t payload[HL_WIRE_NEAR_MAX - sizeof(struct hl_wire_rec)];
};

/* The rank's receive side. Fields are the receive thread's unless they say otherwise. */
struct hl_rx {
    struct hl_rx_ring *rings;        /* [node_size] of all node peers; read-only after open */
    struct hl_rx_ring *mine;         /* of them */
    hl_a32 *bells;                   /* [node_size] 1 + eventfd of a peer, 0: not known yet. atomic */
    int epoll, bell;                 /* read-only after open */
    int timer;                       /* for ticks; read-only after the network opened; -1: none to be had */
    hl_rx_fn *handlers[HL_WIRE_OPS]; /* read-only after start */
    hl_a32 stop;                     /* atomic: set by hl_rx_stop */
    hl_a32 has_network;              /* atomic: release when the endpoint is ready */
    hl_a32 has_cards;                /* atomic: release when the ranks have exchanged them */
    hl_a8 *dead;                     /* [size] atomic: 0, or enum hl_rx_death */
    hl_a32 lost;                     /* atomic: 1 when some are lost whose deaths were not told yet */
    pthread_t thread;
    bool started;
};
extern struct hl_rx hl_rx;

bool hl_rx_on_thread(void);

/* Nanoseconds of the calling thread on a processor: threads that compute beside it do not count. */
HL_INLINE uint64_t hl_rx_thread_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/* Whether the thread looks on instead of going to sleep. Messages that come within HL_RX_QUICK_NS of each
 * other are questions and answers, of which the next one comes sooner than the kernel wakes a thread; what
 * comes alone is not waited for. Descriptors that only epoll tells of are looked at every HL_RX_AWAKE_NS. */
#define HL_RX_QUICK_NS UINT64_C(50000)
#define HL_RX_AWAKE_NS UINT64_C(1000000)
struct hl_rx_pace {
    uint64_t came_ns, until_ns; /* of the last message; when looking ends */
    uint64_t slept_ns;          /* when the thread last went to sleep */
};

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

/* Counts the rank as dead from now on. On the receive thread. */
void hl_rx_bury(int rank);

/* Are the cards of all ranks there? */
bool hl_rx_has_cards(void);

/* Runs the handler of a record. */
int hl_rx_run(const struct hl_rx_msg *msg);

/* ---- records of a message (unpack.c) ---- */

/* An acknowledgement under construction. */
struct hl_rx_answers {
    uint8_t *bytes; /* hl_fab.eager of them, room for the head first; NULL: the sender takes no answers */
    uint32_t len, count;
    uint32_t message, record;    /* what is being handled */
    struct hl_wire_ans *current; /* its answer, or NULL */
};

/* Handles the records of a checked message in order; answers and errors go to *a. */
void hl_rx_unpack(const struct hl_wire_head *head, struct hl_rx_answers *a);

/* ---- network side (net.c) ---- */
int hl_rx_net_open(void);       /* endpoint, buffers, registrations, card; by hl_rx_network */
int hl_rx_net_poll(void);       /* reads the queue, sends what waits; returns how much moved */
bool hl_rx_net_may_sleep(void); /* also false when the provider cannot wake the thread */
bool hl_rx_net_waits(void);     /* answers wait for the provider: look again soon */
int hl_rx_net_fd(void);
void hl_rx_net_close(void);

/* ---- numbers of records between receive endpoints (streams.c) ---- */
int hl_rx_streams_open(void);
void hl_rx_streams_close(void);
uint64_t hl_rx_streams_number(int peer, unsigned op);  /* of the next record to it */
void hl_rx_streams_left(int peer, uint64_t number);    /* the one of that number has left */
enum hl_rx_turn { HL_RX_NEXT, HL_RX_OLD, HL_RX_DONE }; /* to be handled; dropped; done, or kept */
enum hl_rx_turn hl_rx_streams_take(const struct hl_wire_head *head);
/* After HL_RX_NEXT: a message of that rank whose turn it is now, to be freed by the caller, or NULL. */
struct hl_rx_parked *hl_rx_streams_next(int from);
void hl_rx_streams_look(void);    /* once a second */
bool hl_rx_streams_ask(int peer); /* its receive thread shall answer; false: that cannot leave now */

/* Sends a record to a peer's receive endpoint: 0, HL_ERR_AGAIN (silent), or another error. */
int hl_rx_net_send(int peer, const struct hl_wire_rec *rec, const void *payload);

/* Reads its heartbeat, if none of it is on its way: see hl_rx_doubts_heartbeat. At most so many at a time. */
#define HL_RX_HEARTBEAT_READS 8
void hl_rx_net_read_heartbeat(int rank);

/* ---- near side (near_side.c) ---- */
int hl_rx_near_poll(void);
void hl_rx_node_socket(void); /* the node socket is readable */
bool hl_rx_near_send(int node_rank, const struct hl_wire_rec *rec, const void *payload);

/* ---- outgoing records (out.c) ---- */
int hl_rx_out_poll(void);
bool hl_rx_out_waits(void);
void hl_rx_out_close(void);
/* Has something for the rank waited so long that it will never take it? Not when connections tell of its
 * host, which dies by itself, or answers: then the rank is stopped. (alive.c) */
bool hl_rx_gives_up(int rank, uint64_t waited_ns);

/* " at ADDRESS" of a rank of another node, for words about it; "" where the network has no such addresses. */
#define HL_RX_WHERE 80
const char *hl_rx_where(int rank, char text[HL_RX_WHERE]);

/* ---- foreign descriptors (watch.c) ---- */
void hl_rx_watch_run(int fd);
bool hl_rx_watch_look(void); /* calls who asked for looks; true: look again soon */
void hl_rx_watch_close(void);

#endif
