/* Finds symmetric objects that the short way does not cover: static data, and parts of PEs that the network
 * reaches. */
#include "sym.h"

struct hl_sym hl_sym;

/* The token of part or area `index` at a PE. Tokens of windows count up from 1; these have the highest bit
 * set. */
static uint64_t token_of(int index, int pe)
{
    return (uint64_t)1 << 63 | (uint64_t)(uint32_t)index << 32 | (uint32_t)pe;
}

static bool does_area_hold(const struct hl_sym_area *a, const char *p, size_t len, uint64_t *off)
{
    *off = (uint64_t)(p - a->base);
    return *off < a->len && len <= a->len - *off;
}

/* The part or area that holds [p, p + len), or NULL. *index: its number among parts, then statics; *off: the
 * offset of `p` in it. */
static const struct hl_sym_area *area_of(const char *p, size_t len, int *index, uint64_t *off)
{
    if (does_area_hold(&hl_sym.heap, p, len, off)) {
        /* acquire: the area; pairs with the release in publish_area. */
        *index = hl_a8_load_acquire(&hl_sym.part_of[*off >> HL_SYM_GRANULE]);
        const struct hl_sym_area *part = *index < HL_SYM_AREAS ? &hl_sym.parts[*index] : NULL;
        return part != NULL && does_area_hold(part, p, len, off) ? part : NULL;
    }
    for (int i = 0; i < hl_sym.n_statics; i++) {
        if (does_area_hold(&hl_sym.statics[i], p, len, off)) {
            *index = HL_SYM_AREAS + i;
            return &hl_sym.statics[i];
        }
    }
    return NULL;
}

static struct hl_sym_addr sym_addr_in(const struct hl_sym_area *a, int index, uint64_t off, int pe)
{
    const struct hl_sym_reach *r = &a->pes[pe];
    return (struct hl_sym_addr){.where = r->where + off, .key = r->key, .token = token_of(index, pe)};
}

bool hl_sym_find(const void *p, size_t len, int pe, struct hl_sym_addr *out)
{
    int index;
    uint64_t off;
    const struct hl_sym_area *a = area_of(p, len, &index, &off);
    if (a == NULL || (uint32_t)pe >= (uint32_t)hl_sym.n_pes) {
        return false;
    }
    if (a->pes[pe].where == 0) { /* the PE has another build of it, or none */
        return false;
    }
    *out = sym_addr_in(a, index, off, pe);
    return true;
}

struct hl_sym_addr hl_sym_own(const void *p, int pe)
{
    const struct hl_sym_area *own = &hl_sym.parts[hl_sym.own];
    return sym_addr_in(own, hl_sym.own, (uint64_t)((const char *)p - own->base), pe);
}

bool hl_sym_is(const void *p, size_t len)
{
    int index;
    uint64_t off;
    return area_of(p, len, &index, &off) != NULL;
}

const struct hl_sym_area *hl_sym_area_at(const void *p)
{
    int index;
    uint64_t off;
    return area_of(p, 1, &index, &off);
}
