/* The table of libfabric's providers. */
#include "providers.h"

#include "fab_lib.h"
#include "util.h"

#include <stdio.h>
#include <string.h>

#define KIB ((size_t)1 << 10)
#define RXM_BUFFER "FI_OFI_RXM_BUFFER_SIZE"
#define RXM_SHARES "FI_OFI_RXM_USE_SRX=1"

/* Lanes that a rank has unasked where an endpoint takes 10 MB or more, or nobody knows what it takes. */
#define FEW 16

/* rxm: all connections of an endpoint share its receives, as tcp's always do. The queue is read 16 times
 * between two looks for new connections, which also come every 100 us. Receives of single connections would
 * crash: a message that came before the connection closed is read afterwards, and its buffer is posted again
 * to the freed connection (seen with verbs of libfabric 1.17; read up to 2.5). */
#define RXM_SETTINGS RXM_SHARES, "FI_OFI_RXM_CM_PROGRESS_INTERVAL=100", "FI_OFI_RXM_CQ_EQ_FAIRNESS=16"

static const struct hl_provider rows[] = {
    /* Read. Rendezvous above FI_CXI_RDZV_THRESHOLD. A message that comes before its receive is posted
     * completes in another way than one that comes later. The NIC does its atomics, not the CPU. An endpoint
     * takes 6 MB: three buffers for unexpected messages. */
    {.name = "cxi",
     .no_domain = "the launcher gave this job no network identifier (SLINGSHOT_VNIS); for Slurm, srun "
                  "--network=single_node_vni,job_vni",
     .driver = "cxi",
     .eager_var = "FI_CXI_RDZV_THRESHOLD",
     .env = {"FI_CXI_RX_MATCH_MODE=hybrid"}, /* matches in software when the card's list is full */
     .eager = 16 * KIB,
     .wait = HL_PROVIDER_TRIED,
     .pins = true},
    /* Seen (soft RoCE). Its descriptor also wakes when there is no completion. Atomics are software of rxm;
     * with them it refuses a registration whose key another one has, and verbs' cache gives such keys for
     * memory that it knows. When a connection is lost, it says EIO with IBV_WC_LOC_QP_OP_ERR (no route),
     * _WR_FLUSH_ERR or _RETRY_EXC_ERR. An endpoint has the buffers of tcp;ofi_rxm, locked. */
    {.name = "verbs;ofi_rxm",
     .driver = "",
     .ibverbs = true,
     .eager_var = RXM_BUFFER,
     .env = {RXM_SETTINGS},
     .open_env = RXM_SHARES,
     .eager = 16 * KIB,
     .lanes_unasked = FEW,
     .wait = HL_PROVIDER_TRIED,
     .lost = 1u << 2 | 1u << 5 | 1u << 12,
     .ordered = true,
     .pins = true},
    /* Seen. Its descriptor becomes readable only while somebody reads the queue. Atomics take a lock. It
     * needs no setting: a process may have several endpoints (PSM3_MULTI_EP is on unasked), a thread of its
     * own comes only with FI_PROGRESS_AUTO, and its signal handlers are taken back after loading (fab.c). */
    {.name = "psm3",
     .by_name = "it offers itself on any Ethernet",
     .eager = 8 * KIB,
     .lanes_unasked = FEW,
     .wait = HL_PROVIDER_NAPS},
    /* Read. A card has few contexts. */
    {.name = "opx", .driver = "hfi1", .eager = 8 * KIB, .lanes = 4, .wait = HL_PROVIDER_NAPS, .pins = true},
    /* Read. A later message may complete before an earlier one of several packets. An endpoint locks a
     * packet's buffer for each send and each receive that its card queues: thousands of 8 KiB. */
    {.name = "efa",
     .driver = "efa",
     .ibverbs = true,
     .eager = 8 * KIB,
     .lanes_unasked = FEW,
     .wait = HL_PROVIDER_TRIED,
     .atomics = true,
     .pins = true},
    /* Seen. Its endpoints need no layer above them: fewer instructions. No atomics. Each domain clears 1,024
     * buffers for unexpected tagged messages, which are not used here: with the least size, that of an
     * injection (128), they take 0.6 MB instead of 17. */
    {.name = "tcp",
     .from = FI_VERSION(2, 0),
     .env = {"FI_TCP_MAX_RX_SIZE=128"},
     .eager = 16 * KIB,
     .wait = HL_PROVIDER_WAKES,
     .chain = true,
     .tcp_listens = true,
     .ordered = true,
     .loopback = true},
    /* Seen: the tests run with it. An endpoint takes 17 MB when it opens, 17 more when it connects, and
     * 18 ms of a core. */
    {.name = "tcp;ofi_rxm",
     .eager_var = RXM_BUFFER,
     .env = {RXM_SETTINGS},
     .eager = 16 * KIB,
     .lanes_unasked = FEW,
     .wait = HL_PROVIDER_WAKES,
     .chain = true,
     .tcp_listens = true,
     .ordered = true,
     .loopback = true,
     .atomics = true,
     .greets = true},
    {.name = "net",
     .by_name = "it may report delivery before it happens",
     .eager = 16 * KIB,
     .lanes_unasked = FEW,
     .wait = HL_PROVIDER_TRIED,
     .chain = true,
     .tcp_listens = true,
     .ordered = true,
     .loopback = true},
    {.name = "sockets",
     .by_name = "it is slow, with threads for each endpoint",
     .eager = 16 * KIB,
     .lanes_unasked = FEW,
     .wait = HL_PROVIDER_TRIED,
     .chain = true,
     .tcp_listens = true,
     .loopback = true,
     .atomics = true,
     .lazy = true},
    {.name = "udp;ofi_rxd", .eager = KIB, .unusable = "it loses messages, and ends in libfabric's own code"},
    {.name = "shm", .eager = KIB, .unusable = "it serves one node only, whose ranks share memory without it"},
    {.name = "sm2", .eager = KIB, .unusable = "it serves one node only, whose ranks share memory without it"},
    /* The settings keep two libraries of this vendor's cards from catching the program's signals. */
    {.name = "psm2",
     .by_name = "opx serves the same cards",
     .env = {"HFI_NO_BACKTRACE=1", "IPATH_NO_BACKTRACE=1"},
     .eager = 4 * KIB,
     .lanes = 4,
     .wait = HL_PROVIDER_NAPS,
     .pins = true},
    /* The row of unknown providers: slow, and never wrong. The provider may be one under rxm. */
    {.by_name = "nothing is known of it",
     .env = {RXM_SHARES},
     .open_env = RXM_SHARES,
     .eager = 4 * KIB,
     .lanes = 16,
     .wait = HL_PROVIDER_TRIED,
     .chain = true,
     .pins = true},
};

static bool does_stand_for(const struct hl_provider *row, uint32_t version)
{
    return version >= row->from && (row->below == 0 || version < row->below);
}

bool hl_provider_says_lost(const struct hl_provider *row, int error)
{
    return error >= 0 && error < 32 && (row->lost >> error & 1) != 0;
}

size_t hl_provider_core(const struct hl_provider *row)
{
    return row->name != NULL ? strcspn(row->name, ";") : 0;
}

static bool is_core_of(const struct hl_provider *row, const char *name)
{
    size_t len = hl_provider_core(row);
    return strlen(name) == len && strncmp(row->name, name, len) == 0;
}

const struct hl_provider *hl_provider_find(const char *name, uint32_t version)
{
    const struct hl_provider *own = hl_fab_lib.row, *other = &rows[HL_COUNT_OF(rows) - 1], *layered = NULL;
    if (own != NULL && strcmp(own->name, name) == 0) {
        return own;
    }
    for (const struct hl_provider *r = rows; r < other; r++) {
        if (does_stand_for(r, version) && strcmp(r->name, name) == 0) {
            return r;
        }
        layered = layered == NULL && does_stand_for(r, version) && is_core_of(r, name) ? r : layered;
    }
    return layered != NULL ? layered : other;
}

const struct hl_provider *hl_provider_row(size_t i, uint32_t version)
{
    for (const struct hl_provider *r = rows; r->name != NULL; r++) {
        if (does_stand_for(r, version) && i-- == 0) {
            return r;
        }
    }
    return NULL;
}

const struct hl_provider *hl_provider_choice(size_t i, uint32_t version)
{
    for (const struct hl_provider *r = rows; r->name != NULL; r++) {
        if (r->by_name == NULL && r->unusable == NULL && does_stand_for(r, version) && i-- == 0) {
            return r;
        }
    }
    return NULL;
}

const struct hl_provider *hl_provider_of_driver(const char *driver)
{
    const struct hl_provider *any = NULL;
    for (const struct hl_provider *r = rows; r < rows + HL_COUNT_OF(rows); r++) {
        if (r->driver != NULL && strcmp(r->driver, driver) == 0) {
            return r;
        }
        any = r->driver != NULL && r->driver[0] == '\0' ? r : any;
    }
    return any;
}

/* rxm allocates its buffers by the thousand, for each direction of a connected endpoint, and registers them;
 * where that pins, they are locked. Beside the data, a buffer has notes of rxm. A rank has at least three
 * endpoints. */
#define RXM_POOLS 6
#define RXM_CHUNK 1024
#define RXM_NOTES 448

size_t hl_provider_buffer(uint64_t lockable, size_t most)
{
    uint64_t each = lockable / 4 * 3 / (RXM_POOLS * RXM_CHUNK),
             data = each > RXM_NOTES ? each - RXM_NOTES : 0;
    return hl_max_size(hl_min_size(data & ~(uint64_t)63, most), HL_PROVIDER_EAGER);
}

uint64_t hl_provider_locks(const struct hl_provider *row)
{
    bool rxm = row->eager_var != NULL && strcmp(row->eager_var, RXM_BUFFER) == 0;
    return rxm && row->pins ? RXM_POOLS * RXM_CHUNK * (HL_PROVIDER_EAGER + RXM_NOTES) : 0;
}

const char *const *hl_provider_settings(size_t buffer, bool pins, bool emulated)
{
    static char size[64], receives[64];
    static const char *all[3 + HL_COUNT_OF(rows) * HL_COUNT_OF(rows[0].env) + 1];
    size_t n = 0;
    snprintf(size, sizeof size, RXM_BUFFER "=%zu", buffer);
    all[n++] = size;
    snprintf(receives, sizeof receives, "FI_OFI_RXM_MSG_RX_SIZE=%d", pins ? RXM_CHUNK / 4 : 64);
    all[n++] = receives;
    if (emulated) {
        all[n++] = "FI_UNIVERSE_SIZE=16"; /* rxm's queue has that many times its receives and sends */
    }
    for (size_t r = 0; r < HL_COUNT_OF(rows); r++) {
        for (size_t i = 0; i < HL_COUNT_OF(rows[r].env) && rows[r].env[i] != NULL; i++) {
            all[n++] = rows[r].env[i];
        }
    }
    all[n] = NULL;
    return all;
}
