/* Inside near_acc.c: the CPU's atomics over arrays of elements of one width. That file includes this one once
 * for each W (8, 16, 32, 64).
 *
 * Each uses the weakest order that atomic.h offers for it: an accumulate orders nothing, the flush's fence
 * does. Origin and fetched are dense and may have any alignment; each place of the target is aligned to the
 * width. */
#define CAT2(a, b) a##b
#define CAT(a, b) CAT2(a, b)
#define WORD CAT(CAT(uint, W), _t)
#define ATOMIC CAT(hl_a, W)
#define HL(verb) CAT(ATOMIC, verb)
#define NAME(verb) CAT(verb, W)
#define BYTES (W / 8)

static WORD NAME(origin_)(const void *origin, size_t i)
{
    WORD v;
    memcpy(&v, (const char *)origin + i * BYTES, BYTES);
    return v;
}

static void NAME(store_fetched_)(void *fetched, size_t i, WORD v)
{
    if (fetched != NULL) {
        memcpy((char *)fetched + i * BYTES, &v, BYTES);
    }
}

static ATOMIC *NAME(at_)(const struct cpu_places *at, size_t i)
{
    return (ATOMIC *)(void *)(at->base + (at->disp != NULL ? at->disp[i] : (int64_t)i * at->stride));
}

static void NAME(load_)(struct cpu_places at, const void *origin, void *fetched, size_t n, hl_op_fn *kernel)
{
    for (size_t i = 0; i < n; i++) {
        /* relaxed: only the value. */
        NAME(store_fetched_)(fetched, i, HL(_load_relaxed)(NAME(at_)(&at, i)));
    }
}

static void NAME(replace_)(struct cpu_places at, const void *origin, void *fetched, size_t n,
                           hl_op_fn *kernel)
{
    for (size_t i = 0; i < n && fetched == NULL; i++) {
        /* relaxed: only the value. */
        HL(_store_relaxed)(NAME(at_)(&at, i), NAME(origin_)(origin, i));
    }
    for (size_t i = 0; i < n && fetched != NULL; i++) {
        /* acquire: the weakest there is; only the value matters. */
        NAME(store_fetched_)(fetched, i, HL(_xchg_acquire)(NAME(at_)(&at, i), NAME(origin_)(origin, i)));
    }
}

static void NAME(add_)(struct cpu_places at, const void *origin, void *fetched, size_t n, hl_op_fn *kernel)
{
    for (size_t i = 0; i < n; i++) {
        /* relaxed: only the value. */
        WORD before = HL(_add_relaxed)(NAME(at_)(&at, i), NAME(origin_)(origin, i));
        NAME(store_fetched_)(fetched, i, before);
    }
}

static void NAME(and_)(struct cpu_places at, const void *origin, void *fetched, size_t n, hl_op_fn *kernel)
{
    for (size_t i = 0; i < n; i++) {
        /* full: the weakest there is; only the value matters. */
        NAME(store_fetched_)(fetched, i, HL(_and_full)(NAME(at_)(&at, i), NAME(origin_)(origin, i)));
    }
}

static void NAME(or_)(struct cpu_places at, const void *origin, void *fetched, size_t n, hl_op_fn *kernel)
{
    for (size_t i = 0; i < n; i++) {
        /* full: the weakest there is; only the value matters. */
        NAME(store_fetched_)(fetched, i, HL(_or_full)(NAME(at_)(&at, i), NAME(origin_)(origin, i)));
    }
}

static void NAME(xor_)(struct cpu_places at, const void *origin, void *fetched, size_t n, hl_op_fn *kernel)
{
    for (size_t i = 0; i < n; i++) {
        /* full: the weakest there is; only the value matters. */
        NAME(store_fetched_)(fetched, i, HL(_xor_full)(NAME(at_)(&at, i), NAME(origin_)(origin, i)));
    }
}

/* All other operations: the operation's function works on a copy, until no other update came in between. */
static void NAME(compute_)(struct cpu_places at, const void *origin, void *fetched, size_t n,
                           hl_op_fn *kernel)
{
    for (size_t i = 0; i < n; i++) {
        /* relaxed: a guess that the compare-and-swap proves. */
        WORD before = HL(_load_relaxed)(NAME(at_)(&at, i)), after;
        do {
            after = before;
            kernel(&after, (const char *)origin + i * BYTES, 1);
            /* acquire: the weakest there is; only the value matters. */
        } while (!HL(_cas_acquire)(NAME(at_)(&at, i), &before, after));
        NAME(store_fetched_)(fetched, i, before);
    }
}

static void NAME(cas_)(void *target, const void *origin, const void *compare, void *fetched)
{
    WORD expected = NAME(origin_)(compare, 0);
    /* full: lock-free algorithms are built on this call; the price is the same on x86. */
    (void)HL(_cas_full)((ATOMIC *)target, &expected, NAME(origin_)(origin, 0));
    NAME(store_fetched_)(fetched, 0, expected);
}

#undef CAT2
#undef CAT
#undef WORD
#undef ATOMIC
#undef HL
#undef NAME
#undef BYTES
