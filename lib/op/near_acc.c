/* Accumulates on mapped memory: by CPU atomics where type and address allow, else under the target's lock.
 *
 * Atomics over a row cost 5 to 17 ns for 16 bytes; a loop under the lock costs a tenth of that, but must not
 * run beside atomics on the same elements. So a window begins with rows under the lock, and ends that for
 * good when a rank wants to update a single element of it by an instruction (hl_near_end_rows). */
#include "near.h"

#include "err.h"
#include "near_lock.h"
#include "util.h"

/* Where elements are: element i at base + disp[i], or, without disp, at base + i * stride (bytes). */
struct cpu_places {
    char *base;
    int64_t stride;
    const int64_t *disp;
};

#define W 8
#include "near_width.h"
#undef W
#define W 16
#include "near_width.h"
#undef W
#define W 32
#include "near_width.h"
#undef W
#define W 64
#include "near_width.h"
#undef W

#define LOCKED_PIECE 256      /* elements updated before the lock is given back */
#define ROWS_HELD (16 * 1024) /* bytes of a row updated before the lock is given back */

enum acc_verb { LOAD, REPLACE, ADD, AND, OR, XOR, COMPUTE, VERBS };

typedef void cpu_fn(struct cpu_places at, const void *origin, void *fetched, size_t n, hl_op_fn *kernel);
typedef void cas_fn(void *target, const void *origin, const void *compare, void *fetched);

/* By verb, then by width: 1, 2, 4, 8 bytes. */
#define ROW(verb)                                                                                            \
    {                                                                                                        \
        verb##_8, verb##_16, verb##_32, verb##_64                                                            \
    }
static cpu_fn *const cpu_fns[VERBS][4] = {ROW(load), ROW(replace), ROW(add),    ROW(and),
                                          ROW(or),   ROW(xor),     ROW(compute)};
static cas_fn *const cas_fns[4] = ROW(cas);
#undef ROW

static unsigned width_of(size_t size)
{
    return (unsigned)__builtin_ctzll(size);
}

static bool is_integer(enum hl_basic basic)
{
    return basic >= HL_BASIC_I8 && basic <= HL_BASIC_U64;
}

static enum acc_verb verb_of(enum hl_op_kind op, enum hl_basic basic)
{
    bool bits = is_integer(basic) || basic == HL_BASIC_BYTE;
    switch (op) {
    case HL_OP_NO_OP:
        return LOAD;
    case HL_OP_REPLACE:
        return REPLACE;
    case HL_OP_SUM:
        return is_integer(basic) ? ADD : COMPUTE;
    case HL_OP_BAND:
        return bits ? AND : COMPUTE;
    case HL_OP_BOR:
        return bits ? OR : COMPUTE;
    case HL_OP_BXOR:
        return bits ? XOR : COMPUTE;
    default:
        return COMPUTE;
    }
}

bool hl_near_is_cpu(enum hl_basic basic, const void *target)
{
    size_t size = hl_op_size(basic);
    return size <= 8 && (size & (size - 1)) == 0 && !hl_op_is_pair(basic) && (uintptr_t)target % size == 0;
}

struct update {
    enum acc_verb verb;
    enum hl_op_kind op;
    enum hl_basic basic;
    hl_op_fn *kernel;
};

/* side + bytes, or NULL where there is no such buffer. */
HL_INLINE char *skip_side(const char *side, size_t bytes)
{
    return side != NULL ? (char *)(uintptr_t)side + bytes : NULL;
}

/* Updates n elements by plain loads and stores; the caller holds their lock. */
static void update_held(const struct update *how, char *target, const char *origin, char *fetched, size_t n)
{
    if (fetched != NULL && hl_op_is_pair(how->basic)) { /* without the padding, which is the user's */
        hl_op_kernel(HL_OP_REPLACE, how->basic)(fetched, target, n);
    } else if (fetched != NULL) {
        memcpy(fetched, target, hl_op_span(how->basic, n));
    }
    if (how->op != HL_OP_NO_OP) {
        how->kernel(target, origin, n);
    }
}

/* Whoever updates elements by instructions calls it first. lock NULL: memory without rows. */
static void end_rows(struct hl_near_lock *lock)
{
    if (lock != NULL) {
        hl_near_end_rows(lock);
    }
}

static void acc_locked(const struct update *how, char *target, const char *origin, char *fetched, size_t n,
                       struct hl_near_lock *lock)
{
    size_t extent = hl_op_extent(how->basic);
    for (size_t done = 0; done < n; done += LOCKED_PIECE) {
        size_t m = hl_min_size(n - done, LOCKED_PIECE), at = done * extent;
        struct hl_near_lock *held = hl_near_lock_take(lock);
        update_held(how, target + at, skip_side(origin, at), skip_side(fetched, at), m);
        hl_near_lock_leave(held);
    }
}

static int set_update(struct update *how, enum hl_op_kind op, enum hl_basic basic)
{
    *how = (struct update){verb_of(op, basic), op, basic, hl_op_kernel(op, basic)};
    if (how->kernel == NULL && how->verb != LOAD && how->verb != REPLACE) {
        return hl_err_say(HL_ERR_OP, "%s is not defined for %s", hl_op_kind_name(op),
                          hl_op_basic_words(basic));
    }
    return 0;
}

static void acc_by_cpu(const struct update *how, const struct cpu_places *at, const void *origin,
                       void *fetched, size_t n)
{
    cpu_fns[how->verb][width_of(hl_op_size(how->basic))](*at, origin, fetched, n, how->kernel);
}

static void acc_words(const struct update *how, char *target, const char *origin, char *fetched, size_t n)
{
    struct cpu_places at = {target, (int64_t)hl_op_size(how->basic), NULL};
    if (n != 0) {
        acc_by_cpu(how, &at, origin, fetched, n);
    }
}

/* ---- rows: one instruction updates several elements, and is atomic for each of them ---- */

#define ROW_LEAST 64  /* bytes; shorter rows are updated element by element */
#define ROW_PIECE 128 /* bytes computed at a time; with 64 the operation's function waits for stores */

/* How many bytes one compare-and-swap of this CPU exchanges at most. */
static size_t widest_swap(void)
{
    static hl_a32 known;
    /* relaxed: a thread that does not see the value asks the CPU again. */
    uint32_t bytes = hl_a32_load_relaxed(&known);
    if (HL_UNLIKELY(bytes == 0)) {
        bytes = hl_a128_is_there() ? 16 : 8;
        hl_a32_store_relaxed(&known, bytes); /* relaxed: only the value; nothing else is published. */
    }
    return bytes;
}

/* Reads a grain, that is the 8 or 16 bytes of one exchange; a torn value is found by swap_grain. */
HL_INLINE void guess_grain(const char *target, uint64_t words[2], size_t grain)
{
    /* relaxed: a guess that the compare-and-swap proves. */
    if (grain == 16) {
        hl_a128_load_relaxed((const hl_a128 *)(const void *)target, words);
    } else {
        words[0] = hl_a64_load_relaxed((const hl_a64 *)(const void *)target); /* relaxed: a guess. */
    }
}

/* Replaces `was` by `is`. False: the memory has changed, and `was` is what is there now. */
HL_INLINE bool swap_grain(char *target, uint64_t was[2], const uint64_t is[2], size_t grain)
{
    /* acquire: the weakest there is; only the value matters. */
    return grain == 16 ? hl_a128_cas_acquire((hl_a128 *)(void *)target, was, is)
                       : hl_a64_cas_acquire((hl_a64 *)(void *)target, was, is[0]);
}

/* Updates a grain that another rank has changed in between, until an exchange succeeds. */
static HL_NOINLINE void swap_again(const struct update *how, char *target, const char *origin, char *before,
                                   size_t grain)
{
    uint64_t was[2], is[2] = {0, 0};
    memcpy(was, before, grain);
    do {
        memcpy(is, was, grain);
        how->kernel(is, origin, grain >> width_of(hl_op_size(how->basic)));
    } while (!swap_grain(target, was, is, grain));
    memcpy(before, was, grain);
}

/* Computes on a copy of at most ROW_PIECE bytes, then exchanges it grain by grain. */
HL_INLINE void compute_piece(const struct update *how, char *target, const char *origin, char *fetched,
                             size_t bytes, size_t grain)
{
    _Alignas(16) char before[ROW_PIECE], after[ROW_PIECE];
    uint64_t was[2], is[2];
    for (size_t i = 0; i < bytes; i += grain) {
        guess_grain(target + i, was, grain);
        memcpy(before + i, was, grain);
        memcpy(after + i, was, grain);
    }
    how->kernel(after, origin, bytes >> width_of(hl_op_size(how->basic)));
    for (size_t i = 0; i < bytes; i += grain) {
        memcpy(was, before + i, grain);
        memcpy(is, after + i, grain);
        if (HL_UNLIKELY(!swap_grain(target + i, was, is, grain))) {
            memcpy(before + i, was, grain);
            swap_again(how, target + i, origin + i, before + i, grain);
        }
    }
    if (fetched != NULL) {
        memcpy(fetched, before, bytes);
    }
}

static void compute_row(const struct update *how, char *target, const char *origin, char *fetched,
                        size_t bytes, size_t grain)
{
    size_t i = 0;
    for (; grain == 16 && bytes - i >= ROW_PIECE; i += ROW_PIECE) { /* constants: loops of known length */
        compute_piece(how, target + i, origin + i, skip_side(fetched, i), ROW_PIECE, 16);
    }
    for (size_t len; i < bytes; i += len) {
        len = hl_min_size(ROW_PIECE, bytes - i);
        if (grain == 16) {
            compute_piece(how, target + i, origin + i, skip_side(fetched, i), len, 16);
        } else {
            compute_piece(how, target + i, origin + i, skip_side(fetched, i), len, 8);
        }
    }
}

/* Reads or replaces a row: for that, elements do not matter, and each access has 8 bytes. */
static void move_row(const struct update *how, char *target, const char *origin, char *fetched, size_t bytes)
{
    struct cpu_places at = {target, 8, NULL};
    cpu_fns[how->verb][width_of(8)](at, origin, fetched, bytes / 8, NULL);
}

/* Updates n aligned elements without holes by CPU atomics; origin and fetched may be NULL. */
static void acc_row(const struct update *how, char *target, const char *origin, char *fetched, size_t n)
{
    unsigned width = width_of(hl_op_size(how->basic));
    bool moves = how->verb == LOAD || (how->verb == REPLACE && fetched == NULL);
    size_t bytes = n << width, grain = bytes < ROW_LEAST ? 0 : moves ? 8 : widest_swap();
    if (grain <= (size_t)1 << width) {
        acc_words(how, target, origin, fetched, n);
        return;
    }
    size_t head = -(uintptr_t)target & (grain - 1), row = (bytes - head) & ~(grain - 1), end = head + row;
    acc_words(how, target, origin, fetched, head >> width);
    if (moves) {
        move_row(how, target + head, skip_side(origin, head), skip_side(fetched, head), row);
    } else {
        compute_row(how, target + head, origin + head, skip_side(fetched, head), row, grain);
    }
    acc_words(how, target + end, skip_side(origin, end), skip_side(fetched, end), n - (end >> width));
}

/* Updates a row under the lock, as long as the window has `rows`; returns how many elements were updated. */
static size_t acc_held(const struct update *how, char *target, const char *origin, char *fetched, size_t n,
                       struct hl_near_lock *lock)
{
    size_t size = hl_op_size(how->basic), done = 0;
    if (n * size < ROW_LEAST) {
        return 0;
    }
    struct hl_near_lock *held;
    while (done < n && (held = hl_near_rows_take(lock)) != NULL) {
        size_t m = hl_min_size(n - done, ROWS_HELD / size);
        update_held(how, target + done * size, skip_side(origin, done * size),
                    skip_side(fetched, done * size), m);
        hl_near_lock_leave(held);
        done += m;
    }
    return done;
}

static void acc_block(const struct update *how, char *target, const char *origin, char *fetched, size_t n,
                      struct hl_near_lock *lock)
{
    if (!hl_near_is_cpu(how->basic, target)) {
        acc_locked(how, target, origin, fetched, n, lock);
        return;
    }
    size_t done = acc_held(how, target, origin, fetched, n, lock), at = done * hl_op_size(how->basic);
    if (done < n) {
        end_rows(lock);
        acc_row(how, target + at, skip_side(origin, at), skip_side(fetched, at), n - done);
    }
}

int hl_near_acc(enum hl_op_kind op, enum hl_basic basic, void *target, const void *origin, void *fetched,
                size_t n, struct hl_near_lock *lock)
{
    struct update how;
    int rc = set_update(&how, op, basic);
    if (rc == 0 && n != 0 && (how.verb != LOAD || fetched != NULL)) {
        acc_block(&how, target, origin, fetched, n, lock);
    }
    return rc;
}

/* True when every block is one element that the CPU updates: then one loop updates all blocks. */
static bool are_cpu_words(enum hl_basic basic, const struct hl_near_blocks *b)
{
    uint64_t offsets = b->disp != NULL ? 0 : (uint64_t)b->stride;
    for (size_t i = 0; b->disp != NULL && i < b->times; i++) {
        offsets |= (uint64_t)b->disp[i];
    }
    return b->len == 1 && hl_near_is_cpu(basic, b->base) && offsets % hl_op_size(basic) == 0;
}

int hl_near_acc_blocks(enum hl_op_kind op, enum hl_basic basic, const struct hl_near_blocks *b,
                       const void *origin, void *fetched, struct hl_near_lock *lock)
{
    struct update how;
    struct cpu_places at = {b->base, b->stride, b->disp};
    int rc = set_update(&how, op, basic);
    if (rc != 0 || (how.verb == LOAD && fetched == NULL)) {
        return rc;
    }
    if (are_cpu_words(basic, b)) {
        end_rows(lock);
        acc_by_cpu(&how, &at, origin, fetched, b->times);
        return 0;
    }
    size_t bytes = b->len * hl_op_extent(basic);
    for (size_t i = 0; i < b->times; i++) {
        char *to = b->base + (b->disp != NULL ? b->disp[i] : (int64_t)i * b->stride);
        acc_block(&how, to, (const char *)origin + (origin != NULL ? i * bytes : 0),
                  fetched != NULL ? (char *)fetched + i * bytes : NULL, b->len, lock);
    }
    return 0;
}

static bool is_comparable(enum hl_basic basic)
{
    return basic == HL_BASIC_BYTE || (basic >= HL_BASIC_I8 && basic <= HL_BASIC_L128);
}

int hl_near_cas(enum hl_basic basic, void *target, const void *origin, const void *compare, void *fetched,
                struct hl_near_lock *lock)
{
    if (!is_comparable(basic)) {
        return hl_err_say(HL_ERR_TYPE, "compare-and-swap is not defined for %s", hl_op_basic_words(basic));
    }
    size_t size = hl_op_size(basic);
    if (hl_near_is_cpu(basic, target)) {
        end_rows(lock);
        cas_fns[width_of(size)](target, origin, compare, fetched);
        return 0;
    }
    char before[16];
    struct hl_near_lock *held = hl_near_lock_take(lock);
    memcpy(before, target, size);
    if (memcmp(before, compare, size) == 0) {
        memcpy(target, origin, size);
    }
    hl_near_lock_leave(held);
    memcpy(fetched, before, size);
    return 0;
}
