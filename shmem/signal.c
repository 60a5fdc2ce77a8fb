/* Put with signal and signals alone (OpenSHMEM 1.6, section 9.8): the data, then a word of the PE that
 * announces them.
 *
 * At a near PE the word is stored with release after the data. To a far PE both travel as one record, and its
 * receive thread does the same. Longer data go as several records in one stream, still longer data as a put
 * that the call waits for. Sleeping threads of the PE are woken. */
#include <shmem.h>

#include "entry.h"
#include "hang.h"
#include "job.h"
#include "near.h"
#include "prog.h"
#include "shm.h"
#include "types.h"
#include "util.h"
#include "xfer.h"

#define RECORDS_MAX 8 /* half of the messages that may be under way, so that the stream does not stall */

/* The arguments of one call. */
struct signal_call {
    struct hl_ctx_pe on;
    const char *func;
    char *dest;
    const char *src;
    size_t len;
    uint64_t *word; /* the user's address of it */
    uint64_t value;
    int op; /* SHMEM_SIGNAL_* */
};

/* Changes a mapped word and wakes sleeping threads of its PE. */
static void change_signal(hl_a64 *word, const struct signal_call *n)
{
    if (n->op == SHMEM_SIGNAL_SET) {
        /* release: the data come before; pairs with the acquire of waits for the word (load_var). */
        hl_a64_store_release(word, n->value);
    } else {
        hl_a64_add_full(word, n->value); /* full: the data come before; pairs with the acquire in load_var. */
    }
    int node_rank = hl_job_node_of(n->on.pe);
    if (node_rank >= 0) {
        hl_prog_wake_peer(node_rank);
    }
}

static void send_signal(const struct signal_call *n, struct hl_lane *lane,
                        const struct hl_wire_signal_rec *signal, const char *data)
{
    struct hl_wire_rec rec;
    memcpy(&rec, signal, sizeof rec);
    struct hl_sym_addr any = {.where = HL_SYM_FAR};
    struct hl_lane_message m = {.peer = n->on.pe,
                                .rec = &rec,
                                .payload = data,
                                .error = hl_shmem_far(&any, NULL, 0, n->on.pe).error,
                                .ordered = n->len > hl_lane_payload_max(),
                                .order_key = (uint64_t)(uint32_t)n->on.pe};
    hl_shmem_must(hl_lane_message_on(lane, &m), n->func, n->on.pe);
}

/* Sends data and word as records; both are far. n->len may be 0. */
static void send_records(const struct signal_call *n, const struct hl_sym_addr *data,
                         const struct hl_sym_addr *word)
{
    size_t room = hl_lane_payload_max();
    struct hl_lane *lane = hl_shmem_lane(n->on.ctx); /* one lane for all records */
    struct hl_wire_signal_rec rec = {.op = HL_WIRE_SIGNAL,
                                     .data_key = data->key,
                                     .word_key = word->key,
                                     .word_addr = word->where & ~HL_SYM_FAR,
                                     .value = n->value};
    for (size_t at = 0; at < n->len || at == 0; at += room) {
        rec.len = (uint32_t)hl_min_size(room, n->len - at);
        rec.data_addr = (data->where & ~HL_SYM_FAR) + at;
        if (n->len - at <= room) {
            rec.kind = n->op == SHMEM_SIGNAL_SET ? HL_WIRE_SIGNAL_SET : HL_WIRE_SIGNAL_ADD;
        }
        send_signal(n, lane, &rec, n->src + at);
    }
}

void hl_shmem_send_flag(const struct hl_shmem_flag *f)
{
    struct signal_call n = {.on = {&hl_ctx_default, f->pe},
                            .func = f->func,
                            .src = f->src,
                            .len = f->len,
                            .value = f->value,
                            .op = SHMEM_SIGNAL_SET};
    send_records(&n, &f->data, &f->word);
    (void)hl_prog_poll(); /* sends the chains that this thread has opened */
}

static void check_word(const uint64_t *word, const char *func)
{
    if ((uintptr_t)word % sizeof *word != 0) {
        hl_shmem_need_open(func);
        hl_shmem_die(func, "sig_addr %p is not aligned to %zu bytes", (const void *)word, sizeof *word);
    }
}

static void check_signal_call(const struct signal_call *n)
{
    if (n->op != SHMEM_SIGNAL_SET && n->op != SHMEM_SIGNAL_ADD) {
        hl_shmem_need_open(n->func);
        hl_shmem_die(n->func, "signal operation %d is neither SHMEM_SIGNAL_SET nor SHMEM_SIGNAL_ADD", n->op);
    }
    check_word(n->word, n->func);
}

/* Puts the data first, by a put that is complete when this returns. */
HL_HANG_SHMEM static void put_before(const struct signal_call *n, bool far)
{
    hl_shmem_put(n->on.ctx, n->dest, n->src, n->len, n->on.pe, n->func);
    if (far) {
        hl_lane_flush_on(n->on.ctx->lane, n->on.pe, HL_REMOTE);
        hl_shmem_must(hl_shmem_take_error(n->on.pe), n->func, n->on.pe);
    }
}

HL_HANG_SHMEM static HL_NOINLINE void notify_anywhere(const struct signal_call *n)
{
    struct hl_sym_addr word, data = {.where = 0};
    check_signal_call(n);
    hl_shmem_find(n->word, sizeof *n->word, n->on.pe, n->func, &word);
    if (n->len > 0) {
        hl_shmem_find(n->dest, n->len, n->on.pe, n->func, &data);
    }
    bool data_far = !hl_sym_addr_is_mapped(&data), word_far = !hl_sym_addr_is_mapped(&word);
    bool together = data_far && word_far && n->src != NULL && n->len <= RECORDS_MAX * hl_lane_payload_max();
    struct signal_call alone = *n;
    if (n->len > 0 && !together) {
        put_before(n, data_far);
        alone.len = 0;
    }
    if (word_far) {
        send_records(together ? n : &alone, &data, &word);
    } else {
        change_signal((hl_a64 *)(uintptr_t)word.where, n);
    }
}

static HL_NOINLINE void notify_pe(const struct signal_call *n)
{
    char *theirs = hl_sym_near(n->dest, n->len, n->on.pe);
    hl_a64 *word = (hl_a64 *)(void *)hl_sym_near(n->word, sizeof *n->word, n->on.pe);
    if (HL_LIKELY(theirs != NULL && word != NULL && n->src != NULL && (unsigned)n->op <= SHMEM_SIGNAL_ADD &&
                  (uintptr_t)word % sizeof *word == 0)) {
        hl_near_copy(theirs, n->src, n->len);
        change_signal(word, n);
        return;
    }
    notify_anywhere(n);
}

#define PUT_SIGNAL(NAME, T, size)                                                                            \
    HL_SHMEM_API(shmem_##NAME);                                                                              \
    void pshmem_##NAME(T *dest, const T *source, size_t nelems, uint64_t *sig_addr, uint64_t signal,         \
                       int sig_op, int pe)                                                                   \
    {                                                                                                        \
        notify_pe(&(struct signal_call){{&hl_ctx_default, pe},                                               \
                                        "shmem_" #NAME,                                                      \
                                        (char *)dest,                                                        \
                                        (const char *)source,                                                \
                                        hl_shmem_bytes(nelems, size),                                        \
                                        sig_addr,                                                            \
                                        signal,                                                              \
                                        sig_op});                                                            \
    }                                                                                                        \
    HL_SHMEM_API(shmem_ctx_##NAME);                                                                          \
    void pshmem_ctx_##NAME(shmem_ctx_t ctx, T *dest, const T *source, size_t nelems, uint64_t *sig_addr,     \
                           uint64_t signal, int sig_op, int pe)                                              \
    {                                                                                                        \
        notify_pe(&(struct signal_call){hl_shmem_on(ctx, pe, "shmem_ctx_" #NAME), "shmem_ctx_" #NAME,        \
                                        (char *)dest, (const char *)source, hl_shmem_bytes(nelems, size),    \
                                        sig_addr, signal, sig_op});                                          \
    }

/* Both forms are the same: the data are copied or stored before the call returns. */
#define OF_TYPE(T, NAME)                                                                                     \
    PUT_SIGNAL(NAME##_put_signal, T, sizeof(T)) PUT_SIGNAL(NAME##_put_signal_nbi, T, sizeof(T))
/* Defines: shmem_float_put_signal shmem_ctx_float_put_signal shmem_float_put_signal_nbi
 * shmem_ctx_float_put_signal_nbi shmem_double_put_signal shmem_ctx_double_put_signal
 * shmem_double_put_signal_nbi shmem_ctx_double_put_signal_nbi shmem_longdouble_put_signal
 * shmem_ctx_longdouble_put_signal shmem_longdouble_put_signal_nbi shmem_ctx_longdouble_put_signal_nbi
 * shmem_char_put_signal shmem_ctx_char_put_signal shmem_char_put_signal_nbi shmem_ctx_char_put_signal_nbi
 * shmem_schar_put_signal shmem_ctx_schar_put_signal shmem_schar_put_signal_nbi shmem_ctx_schar_put_signal_nbi
 * shmem_short_put_signal shmem_ctx_short_put_signal shmem_short_put_signal_nbi shmem_ctx_short_put_signal_nbi
 * shmem_int_put_signal shmem_ctx_int_put_signal shmem_int_put_signal_nbi shmem_ctx_int_put_signal_nbi
 * shmem_long_put_signal shmem_ctx_long_put_signal shmem_long_put_signal_nbi shmem_ctx_long_put_signal_nbi
 * shmem_longlong_put_signal shmem_ctx_longlong_put_signal shmem_longlong_put_signal_nbi
 * shmem_ctx_longlong_put_signal_nbi shmem_ptrdiff_put_signal shmem_ctx_ptrdiff_put_signal
 * shmem_ptrdiff_put_signal_nbi shmem_ctx_ptrdiff_put_signal_nbi shmem_uchar_put_signal
 * shmem_ctx_uchar_put_signal shmem_uchar_put_signal_nbi shmem_ctx_uchar_put_signal_nbi
 * shmem_ushort_put_signal shmem_ctx_ushort_put_signal shmem_ushort_put_signal_nbi
 * shmem_ctx_ushort_put_signal_nbi shmem_uint_put_signal shmem_ctx_uint_put_signal shmem_uint_put_signal_nbi
 * shmem_ctx_uint_put_signal_nbi shmem_ulong_put_signal shmem_ctx_ulong_put_signal shmem_ulong_put_signal_nbi
 * shmem_ctx_ulong_put_signal_nbi shmem_ulonglong_put_signal shmem_ctx_ulonglong_put_signal
 * shmem_ulonglong_put_signal_nbi shmem_ctx_ulonglong_put_signal_nbi shmem_int8_put_signal
 * shmem_ctx_int8_put_signal shmem_int8_put_signal_nbi shmem_ctx_int8_put_signal_nbi shmem_int16_put_signal
 * shmem_ctx_int16_put_signal shmem_int16_put_signal_nbi shmem_ctx_int16_put_signal_nbi shmem_int32_put_signal
 * shmem_ctx_int32_put_signal shmem_int32_put_signal_nbi shmem_ctx_int32_put_signal_nbi shmem_int64_put_signal
 * shmem_ctx_int64_put_signal shmem_int64_put_signal_nbi shmem_ctx_int64_put_signal_nbi shmem_uint8_put_signal
 * shmem_ctx_uint8_put_signal shmem_uint8_put_signal_nbi shmem_ctx_uint8_put_signal_nbi
 * shmem_uint16_put_signal shmem_ctx_uint16_put_signal shmem_uint16_put_signal_nbi
 * shmem_ctx_uint16_put_signal_nbi shmem_uint32_put_signal shmem_ctx_uint32_put_signal
 * shmem_uint32_put_signal_nbi shmem_ctx_uint32_put_signal_nbi shmem_uint64_put_signal
 * shmem_ctx_uint64_put_signal shmem_uint64_put_signal_nbi shmem_ctx_uint64_put_signal_nbi
 * shmem_size_put_signal shmem_ctx_size_put_signal shmem_size_put_signal_nbi shmem_ctx_size_put_signal_nbi */
HL_SHMEM_RMA_TYPES(OF_TYPE)

#define OF_SIZE(BITS)                                                                                        \
    PUT_SIGNAL(put##BITS##_signal, void, BITS / 8) PUT_SIGNAL(put##BITS##_signal_nbi, void, BITS / 8)
/* Defines: shmem_put8_signal shmem_ctx_put8_signal shmem_put8_signal_nbi shmem_ctx_put8_signal_nbi
 * shmem_put16_signal shmem_ctx_put16_signal shmem_put16_signal_nbi shmem_ctx_put16_signal_nbi
 * shmem_put32_signal shmem_ctx_put32_signal shmem_put32_signal_nbi shmem_ctx_put32_signal_nbi
 * shmem_put64_signal shmem_ctx_put64_signal shmem_put64_signal_nbi shmem_ctx_put64_signal_nbi
 * shmem_put128_signal shmem_ctx_put128_signal shmem_put128_signal_nbi shmem_ctx_put128_signal_nbi */
HL_SHMEM_SIZES(OF_SIZE)

/* Defines: shmem_putmem_signal shmem_ctx_putmem_signal */
PUT_SIGNAL(putmem_signal, void, 1)
/* Defines: shmem_putmem_signal_nbi shmem_ctx_putmem_signal_nbi */
PUT_SIGNAL(putmem_signal_nbi, void, 1)

/* ---- signals alone ---- */

#define SIGNAL(NAME, OP)                                                                                     \
    HL_SHMEM_API(shmem_##NAME);                                                                              \
    void pshmem_##NAME(uint64_t *sig_addr, uint64_t signal, int pe)                                          \
    {                                                                                                        \
        notify_pe(&(struct signal_call){                                                                     \
            {&hl_ctx_default, pe}, "shmem_" #NAME, NULL, NULL, 0, sig_addr, signal, OP});                    \
    }                                                                                                        \
    HL_SHMEM_API(shmem_ctx_##NAME);                                                                          \
    void pshmem_ctx_##NAME(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe)                     \
    {                                                                                                        \
        notify_pe(&(struct signal_call){hl_shmem_on(ctx, pe, "shmem_ctx_" #NAME), "shmem_ctx_" #NAME, NULL,  \
                                        NULL, 0, sig_addr, signal, OP});                                     \
    }
/* Defines: shmem_signal_set shmem_ctx_signal_set */
SIGNAL(signal_set, SHMEM_SIGNAL_SET)
/* Defines: shmem_signal_add shmem_ctx_signal_add */
SIGNAL(signal_add, SHMEM_SIGNAL_ADD)

HL_SHMEM_API(shmem_signal_fetch);
uint64_t pshmem_signal_fetch(const uint64_t *sig_addr)
{
    struct hl_sym_addr
        mine; /* the network may be the way to myself too (HOTLANE_NEAR=none), but not for a load */
    check_word(sig_addr, "shmem_signal_fetch");
    hl_shmem_find(sig_addr, sizeof *sig_addr, hl_sym.my_pe, "shmem_signal_fetch", &mine);
    /* acquire: the data that it announces; pairs with the releases in change_signal and of the receive
     * thread. */
    return hl_a64_load_acquire((const hl_a64 *)sig_addr);
}
