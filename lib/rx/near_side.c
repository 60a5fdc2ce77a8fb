/* Records from node peers: the ring, its bell, and the messages of the node socket. */
#include "rx_internal.h"

#include "boot.h"
#include "err.h"
#include "job.h"
#include "log.h"
#include "near_map.h"
#include "stat.h"

#include <string.h>
#include <unistd.h>

/* A bell is an eventfd that wakes its owner. A peer gets it by asking over the node socket, which also wakes
 * the owner: so the first time a peer rings, it asks. */
enum bell_kind { BELL_ASK = 1, BELL_HERE };

struct bell_message {
    uint32_t magic;
    uint32_t kind;
};

#define BRIEF_LOOKS 16 /* then the producer of a record that was begun has lost its CPU, or has died */
#define BELL_MAGIC 0x6c6c6542u /* "Bell" */

static void ring_bell(int node_rank)
{
    if (node_rank == hl_job.node_rank) {
        hl_rx_kick();
        return;
    }
    /* acquire: only the number is used; pairs with the release in take_bell. */
    uint32_t known = hl_a32_load_acquire(&hl_rx.bells[node_rank]);
    if (known != 0) {
        uint64_t one = 1;
        (void)!write((int)known - 1, &one, sizeof one); /* a full counter means that it rings already */
        return;
    }
    /* A failure does not matter: a full socket wakes its owner as well, and a dead owner needs no bell. */
    struct bell_message ask = {BELL_MAGIC, BELL_ASK};
    (void)hl_boot_node_send(node_rank, &ask, sizeof ask, -1);
}

bool hl_rx_near_send(int node_rank, const struct hl_wire_rec *rec, const void *payload)
{
    struct hl_rx_ring *ring = &hl_rx.rings[node_rank];
    hl_mpsc_name(&ring->q, (unsigned)node_rank + 1);
    enum hl_rx_put put = hl_rx_ring_put(ring, hl_rx.mine, hl_job.rank, rec, sizeof *rec, payload, rec->len);
    if (put == HL_RX_PUT_WAKE) {
        ring_bell(node_rank);
    }
    return put != HL_RX_PUT_FULL;
}

/* True for a well-formed record from the ring: the length in the slot must be that of the record. */
static bool is_sound(const struct hl_wire_rec *rec, uint32_t len, int from)
{
    return len >= sizeof *rec && rec->op != HL_WIRE_NONE && rec->op < HL_WIRE_OPS &&
           rec->len == len - sizeof *rec && from >= 0 && from < hl_job.size;
}

/* Passes over a record that a dead rank has begun to put. */
static bool skip_hole(void)
{
    struct hl_mpsc_node node = {hl_rx.rings->places, sizeof *hl_rx.rings, hl_job.node_size, hl_job.node_world,
                                hl_rx_is_dead};
    return hl_rx.deaths && hl_rx_ring_skip(hl_rx.mine, &node);
}

static unsigned looks; /* the receive thread's: looks in a row at a record that is about to come */

int hl_rx_near_limit(enum hl_rx_sleep how, int ms)
{
    looks = how == HL_RX_SLEEP_BRIEF ? looks + 1 : 0;
    return looks == 0 || ms == 0 ? ms : looks > BRIEF_LOOKS;
}

int hl_rx_near_poll(void)
{
    _Alignas(8) uint8_t bytes[HL_WIRE_NEAR_MAX];
    const struct hl_wire_rec *rec = (const void *)bytes;
    int count = 0, from = 0;
    uint32_t len = 0;
    while (count < (int)HL_RX_SLOTS) {
        if (!hl_rx_ring_take(hl_rx.mine, &from, bytes, &len)) {
            if (!skip_hole()) {
                break;
            }
            continue;
        }
        count++;
        if (!is_sound(rec, len, from)) {
            hl_stat_rank_add(HL_STAT_RANK_rx_dropped, 1);
            continue;
        }
        struct hl_rx_msg msg = {.rec = rec, .payload = rec + 1, .from = from, .near = true};
        int rc = hl_rx_run(&msg);
        if (rc != 0) {
            hl_stat_rank_add(HL_STAT_RANK_rx_dropped, 1);
            hl_log(HL_LOG_DEBUG, "record %d of rank %d failed: %s", rec->op, from, hl_err_text(rc));
        }
    }
    if (count > 0) {
        looks = 0;
        hl_stat_rank_add(HL_STAT_RANK_rx_near, (uint64_t)count);
    }
    return count;
}

/* Keeps the bell of a peer; a second one is closed. */
static void take_bell(int from, int fd)
{
    /* release: publishes only the number; pairs with the acquire in ring_bell. */
    if (fd >= 0 && hl_a32_load_relaxed(&hl_rx.bells[from]) == 0) { /* relaxed: this thread alone writes it. */
        hl_a32_store_release(&hl_rx.bells[from], (uint32_t)fd + 1);
    } else if (fd >= 0) {
        close(fd);
    }
}

static void serve_bell(const void *bytes, size_t len, int from, int fd)
{
    struct bell_message msg = {0};
    if (len == sizeof msg) {
        memcpy(&msg, bytes, sizeof msg);
    }
    if (msg.magic == BELL_MAGIC && msg.kind == BELL_HERE) {
        take_bell(from, fd);
        return;
    }
    if (msg.magic == BELL_MAGIC && msg.kind == BELL_ASK) {
        struct bell_message here = {BELL_MAGIC, BELL_HERE};
        (void)hl_boot_node_send(from, &here, sizeof here, hl_rx.bell); /* after a failure it asks again */
    } else {
        hl_stat_rank_add(HL_STAT_RANK_rx_dropped, 1);
    }
    if (fd >= 0) {
        close(fd);
    }
}

void hl_rx_node_socket(void)
{
    _Alignas(8) uint8_t msg[HL_BOOT_NODE_MSG];
    for (int i = 0; i < 256; i++) { /* other sources get their turn before the rest */
        size_t len = 0;
        int from = -1, fd = -1;
        int rc = hl_boot_node_recv(msg, sizeof msg, &len, &from, &fd);
        if (rc == HL_ERR_TRUNCATE) {
            hl_stat_rank_add(HL_STAT_RANK_rx_dropped, 1);
            continue;
        }
        if (rc != 0) {
            return;
        }
        if (hl_near_serve(msg, len, from, fd) == HL_ERR_FOUND_NONE) {
            serve_bell(msg, len, from, fd);
        }
    }
}
