/* Sets of bytes as sorted ranges. */
#include "ranges.h"

#include <string.h>

#include "err.h"

/* The index of the target's first range that ends behind `at`, else of the first range of a later target. */
static size_t find_touched(const struct hl_touched *ranges, size_t n, uint64_t target, uint64_t at)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        const struct hl_touched *r = &ranges[mid];
        if (r->target > target || (r->target == target && r->hi > at)) {
            hi = mid;
        } else {
            lo = mid + 1;
        }
    }
    return lo;
}

const struct hl_touched *hl_ranges_meet(const struct hl_touched *at, size_t n, struct hl_touched r)
{
    size_t i = find_touched(at, n, r.target, r.lo);
    return i < n && at[i].target == r.target && at[i].lo < r.hi ? &at[i] : NULL;
}

const struct hl_touched *hl_ranges_meet_aged(const struct hl_touched *at, size_t n, struct hl_touched r)
{
    const struct hl_touched *met = hl_ranges_meet(at, n, r);
    for (size_t i = n; met == NULL && i > 0 && at[i - 1].target >> 32 != 0; i--) {
        const struct hl_touched *t = &at[i - 1];
        met = (uint32_t)t->target == r.target && t->lo < r.hi && r.lo < t->hi ? t : NULL;
    }
    return met;
}

const struct hl_touched *hl_ranges_meet_any(const struct hl_touched *at, size_t n, struct hl_touched r)
{
    const struct hl_touched *met = NULL;
    for (size_t i = 0; i < n && met == NULL; i = find_touched(at, n, r.target + 1, 0)) {
        r.target = at[i].target;
        met = hl_ranges_meet(at, n, r);
    }
    return met;
}

static int grow_ranges(struct hl_ranges *s)
{
    size_t room = s->at == NULL ? 16 : 2 * s->n;
    struct hl_piece piece;
    int rc = hl_mem_alloc(room * sizeof *s->at, NULL, &piece);
    if (rc != 0) {
        return rc;
    }
    if (s->n != 0) {
        memcpy(piece.addr, s->at, s->n * sizeof *s->at);
    }
    hl_ranges_fini(s);
    s->piece = piece;
    s->at = piece.addr;
    return 0;
}

int hl_ranges_add(struct hl_ranges *s, struct hl_touched r)
{
    /* Ranges that only touch become one range, too. */
    size_t from = find_touched(s->at, s->n, r.target, r.lo == 0 ? 0 : r.lo - 1), to = from;
    while (to < s->n && s->at[to].target == r.target && s->at[to].lo <= r.hi) {
        r.lo = s->at[to].lo < r.lo ? s->at[to].lo : r.lo;
        r.hi = s->at[to].hi > r.hi ? s->at[to].hi : r.hi;
        to++;
    }
    int rc = to == from && (s->n + 1) * sizeof r > s->piece.len ? grow_ranges(s) : 0;
    if (rc != 0) {
        return rc;
    }
    memmove(&s->at[from + 1], &s->at[to], (s->n - to) * sizeof r);
    s->at[from] = r;
    s->n += from + 1;
    s->n -= to;
    return 0;
}

void hl_ranges_forget(struct hl_ranges *s, int target, uint32_t before)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->n; i++) {
        bool goes =
            (target < 0 || (uint32_t)s->at[i].target == (uint32_t)target) && s->at[i].target >> 32 < before;
        if (!goes) {
            s->at[kept++] = s->at[i];
        }
    }
    s->n = kept;
}

void hl_ranges_fini(struct hl_ranges *s)
{
    if (s->piece.seg != NULL) {
        hl_mem_free(&s->piece);
    }
    s->piece = (struct hl_piece){0};
}
