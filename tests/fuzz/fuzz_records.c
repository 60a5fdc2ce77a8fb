/* Messages of the network, entries of the near ring and messages of the node socket, with the job's nonce and
 * whatever else: each is done or refused, and no byte changes but in the memory that it may name. */
#include "conf.h"
#include "err.h"
#include "fab_lib.h"
#include "job.h"

#include "../unit/model.h"
#include "fuzz_far.h"
#include "near_map.h"
#include "rx_internal.h"
#include "win.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#define WINDOWS 4
#define BYTES 4096 /* of each memory: between the red zones of the allocator */

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int __wrap_hl_rx_start(void);
int __lsan_is_turned_off(void);

static MPI_Win windows[WINDOWS];
static struct hl_mr regions[2];
static struct hl_fab_ep ep;
static char *attached;
static uint64_t sentinel[64]; /* near all else that is static here, and never named */

/* Windows start the receive thread: here this program is it. */
int __wrap_hl_rx_start(void)
{
    return 0;
}

/* Requests that were queued are no leak, and windows are freed by nobody. */
int __lsan_is_turned_off(void)
{
    return 1;
}

static void must(int rc)
{
    if (rc != 0) {
        abort();
    }
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    void *base;
    must(MPI_Init(argc, argv));
    must(MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &windows[0]));
    must(MPI_Win_create(malloc(BYTES), BYTES, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &windows[1]));
    must(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &windows[2]));
    must(MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &windows[3]));
    attached = malloc(BYTES);
    must(MPI_Win_attach(windows[2], attached, BYTES));
    hl_conf.provider = "model";
    hl_fab_lib = (struct hl_fab_lib)MODEL_LIB;
    must(hl_fab_open());
    must(hl_fab_ep_open(HL_FAB_RX, &ep));
    must(hl_mr_open(&ep));
    must(hl_mr_register(malloc(BYTES), BYTES, &regions[0]));
    must(hl_mr_register(malloc(24), 24, &regions[1]));
    memset(sentinel, 0x5a, sizeof sentinel);
    hl_fuzz_far_open();
    return 0;
}

/* Small numbers become what they are the numbers of, so that the fuzzer need not guess 64 bits. */
static void aim_key(uint64_t *key)
{
    *key = *key < 2 ? regions[*key].key : *key;
}

static void aim_addr(uint64_t *addr)
{
    *addr = *addr >> 16 == 0 ? regions[*addr & 1].addr + (*addr >> 1) - 64 : *addr;
}

static void aim_window(struct hl_wire_rec *rec)
{
    if (rec->aux < WINDOWS) {
        const struct hl_win *w = hl_win_of(windows[rec->aux]);
        rec->offset += w->dyn != NULL && rec->offset >> 16 == 0 ? (uint64_t)(uintptr_t)attached : 0;
        rec->aux = w->id;
    }
}

static void aim(struct hl_wire_rec *rec)
{
    struct hl_wire_short *small = (void *)rec;
    struct hl_wire_signal_rec *signal = (void *)rec;
    if (rec->op == HL_WIRE_KEY) {
        aim_key(&small->addr);
    } else if (hl_wire_is_short(rec->op)) {
        aim_addr(&small->addr);
    } else if (rec->op == HL_WIRE_SIGNAL) {
        aim_key(&signal->data_key);
        aim_key(&signal->word_key);
        aim_addr(&signal->data_addr);
        aim_addr(&signal->word_addr);
    } else {
        aim_window(rec);
    }
}

static void aim_all(struct hl_wire_head *head)
{
    uint8_t *at = (uint8_t *)(uintptr_t)hl_wire_body(head);
    for (uint32_t i = 0; i < head->count; i++) {
        struct hl_wire_rec *rec = (void *)at;
        aim(rec);
        at += hl_wire_fixed(rec->op) + HL_WIRE_PAD(hl_wire_payload(rec->op, rec->len));
    }
}

/* In memory of exactly its size. Byte 0: flags and kind, byte 1: count; the rest behind the head. */
static void network(const uint8_t *data, size_t size)
{
    if (size < 2 || size - 2 + sizeof(struct hl_wire_head) > hl_fab.eager) {
        return;
    }
    size_t len = sizeof(struct hl_wire_head) + size - 2;
    struct hl_wire_head *head = malloc(len);
    uint8_t *out = malloc(hl_fab.eager);
    *head = (struct hl_wire_head){.nonce = hl_job.nonce,
                                  .seq = 1,
                                  .lane = data[0] & 8 ? HL_WIRE_RX : 0,
                                  .kind = (uint8_t)(1 + (data[0] >> 2 & 1)),
                                  .flags = data[0] & 3,
                                  .len = (uint32_t)len,
                                  .count = data[1]};
    memcpy(head + 1, data + 2, size - 2);
    if (hl_wire_check(head, len, hl_job.nonce, 1) == NULL && head->kind == HL_WIRE_DATA) {
        struct hl_rx_answers a = {.bytes = head->lane == HL_WIRE_RX ? NULL : out, .len = sizeof *head};
        aim_all(head);
        hl_rx_apply_records(head, &a);
        if (a.len > hl_fab.eager) {
            abort();
        }
    }
    free(out);
    free(head);
}

/* Byte 0: who it claims to be from; byte 1: the length in the slot. */
static void near_entry(const uint8_t *data, size_t size)
{
    _Alignas(8) uint8_t bytes[HL_WIRE_NEAR_MAX] = {0};
    if (size < 2) {
        return;
    }
    size_t len = hl_min_size(size - 2, sizeof bytes);
    memcpy(bytes, data + 2, len);
    if (len >= sizeof(struct hl_wire_rec) && bytes[0] < HL_WIRE_KEY) {
        struct hl_wire_rec *rec = (void *)bytes;
        rec->len = data[1] % 8 != 0 ? (uint32_t)(len - sizeof *rec) : rec->len;
        aim(rec);
    }
    uint64_t at = hl_a64_load_relaxed(&hl_rx.mine->q.tail) >> 1; /* relaxed: one thread here */
    if (hl_rx_ring_put(hl_rx.mine, hl_rx.mine, (int8_t)data[0] / 64, bytes, (uint32_t)len, NULL, 0) !=
            HL_RX_PUT_FULL &&
        data[1] > 250) {
        hl_rx.mine->slots[at % HL_RX_SLOTS].len = UINT32_MAX - data[1];
    }
}

static void node_message(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + 1);
    memcpy(copy, data, size);
    (void)hl_near_serve(copy, size, 0, -1);
    free(copy);
}

/* First byte: which door. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1) {
        return 0;
    }
    switch (data[0] % 4) {
    case 0:
        network(data + 1, size - 1);
        break;
    case 1:
        near_entry(data + 1, size - 1);
        break;
    case 2:
        hl_fuzz_far(data + 1, size - 1);
        break;
    default:
        node_message(data + 1, size - 1);
    }
    for (int i = 0; i < 64 && hl_rx_near_poll() + hl_rx_out_poll() > 0;
         i++) { /* what it made us say to ourselves */
    }
    for (int i = 0; i < WINDOWS; i++) {
        struct hl_lockq *q = &hl_win_of(windows[i])->lockq; /* who asked will never leave */
        hl_lockq_fini(q);
        hl_a64_store_relaxed(q->word, 0); /* relaxed: one thread here */
    }
    for (size_t i = 0; i < sizeof sentinel / sizeof sentinel[0]; i++) {
        must(sentinel[i] != UINT64_C(0x5a5a5a5a5a5a5a5a));
    }
    return 0;
}
