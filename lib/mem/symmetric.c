/* Places of the range that is the same in all processes. */
#include "symmetric.h"

#include "seg.h"
#include "util.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The range begins at one of 65,536 multiples of a GiB, far from where systems put programs, their heaps,
 * stacks and libraries. */
#define FIRST ((uintptr_t)1 << 44)
#define STEP ((uintptr_t)1 << 30)
#define BEGINS 65536
#define COMMONS ((uintptr_t)1 << 40) /* for slices of 16,384 ranks of a node, around the first arena */

struct span_taken {
    uintptr_t base, end;
};

static uintptr_t begin; /* 0: no range; read-only once the library is open */
static struct span_taken *places HL_GUARDED_BY(hl_mem_lock); /* taken ones, ascending */
static size_t count HL_GUARDED_BY(hl_mem_lock), room HL_GUARDED_BY(hl_mem_lock);

void hl_mem_symmetric_begin(uint64_t seed)
{
    begin = begin != 0 ? begin : FIRST + seed % BEGINS * STEP;
}

char *hl_symmetric_arena(void)
{
    return (char *)begin; /* NOLINT(performance-no-int-to-ptr) */
}

/* Index of the first place that ends behind `addr`. */
static size_t next_place(uintptr_t addr) HL_REQUIRES(hl_mem_lock)
{
    size_t i = 0;
    while (i < count && places[i].end <= addr) {
        i++;
    }
    return i;
}

static bool enter_place(size_t i, uintptr_t base, size_t len) HL_REQUIRES(hl_mem_lock)
{
    if (count == room) {
        size_t more = room == 0 ? 16 : 2 * room;
        struct span_taken *bigger = realloc(places, more * sizeof *bigger);
        if (bigger == NULL) {
            return false;
        }
        places = bigger;
        room = more;
    }
    memmove(&places[i + 1], &places[i], (count - i) * sizeof *places);
    places[i] = (struct span_taken){base, base + len};
    count++;
    return true;
}

static void leave_place(size_t i) HL_REQUIRES(hl_mem_lock)
{
    count--;
    memmove(&places[i], &places[i + 1], (count - i) * sizeof *places);
}

/* The lowest free address. */
static uintptr_t lowest_place(size_t len, size_t align) HL_REQUIRES(hl_mem_lock)
{
    uintptr_t at = hl_round_up(begin + COMMONS, align);
    for (size_t i = 0; i < count && places[i].base < at + len; i++) {
        if (places[i].end > at) {
            at = hl_round_up(places[i].end, align);
        }
    }
    return at;
}

char *hl_symmetric_take(const struct hl_place_ask *ask)
{
    if (begin == 0 || ask->len > STEP * BEGINS || ask->align > STEP) {
        return NULL;
    }
    uintptr_t at = ask->arena        ? begin
                   : ask->at != NULL ? (uintptr_t)ask->at
                                     : lowest_place(ask->len, ask->align);
    size_t i = next_place(at);
    if (at % ask->align != 0 || (i < count && places[i].base < at + ask->len) ||
        !enter_place(i, at, ask->len)) {
        return NULL;
    }
    char *base = (char *)at; /* NOLINT(performance-no-int-to-ptr) */
    if (hl_mem_reserve_at(base, ask->len) != 0) {
        leave_place(i);
        return NULL;
    }
    return base;
}

void hl_symmetric_give(const char *base)
{
    size_t i = next_place((uintptr_t)base);
    if (i < count && places[i].base == (uintptr_t)base) {
        leave_place(i);
    }
}

char *hl_mem_symmetric_top(void)
{
    hl_mutex_lock(&hl_mem_lock);
    uintptr_t top = begin == 0 ? 0 : begin + COMMONS;
    top = count > 0 && places[count - 1].end > top ? places[count - 1].end : top;
    hl_mutex_unlock(&hl_mem_lock);
    return (char *)top; /* NOLINT(performance-no-int-to-ptr) */
}
