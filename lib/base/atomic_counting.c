/* Build variant "counting": the list of counted places. */
#include "atomic.h"

#include <stddef.h>
#include <stdio.h>

static struct hl_atomic_site *sites; /* atomic: head of an append-only list */
static __thread uint64_t mine;       /* accesses of this thread */

static void link_site(struct hl_atomic_site *site)
{
    struct hl_atomic_site *head = __atomic_load_n(&sites, __ATOMIC_RELAXED);
    do {
        site->next = head;
        /* release: publishes the site's fields; pairs with the acquire in the readers, hotlane_atomic_.... */
    } while (!__atomic_compare_exchange_n(&sites, &head, site, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

void hl_atomic_hit(struct hl_atomic_site *site)
{
    mine++;
    /* relaxed: only a count. The first access links the site: exactly one thread sees zero. */
    if (__atomic_fetch_add(&site->hits, 1, __ATOMIC_RELAXED) == 0) {
        link_site(site);
    }
}

uint64_t hotlane_atomic_mine(void)
{
    return mine;
}

uint64_t hotlane_atomic_total(void)
{
    uint64_t sum = 0;
    for (struct hl_atomic_site *s = __atomic_load_n(&sites, __ATOMIC_ACQUIRE); s != NULL; s = s->next) {
        sum += __atomic_load_n(&s->hits, __ATOMIC_RELAXED) - s->before;
    }
    return sum;
}

void hotlane_atomic_reset(void)
{
    for (struct hl_atomic_site *s = __atomic_load_n(&sites, __ATOMIC_ACQUIRE); s != NULL; s = s->next) {
        s->before = __atomic_load_n(&s->hits, __ATOMIC_RELAXED);
    }
}

void hotlane_atomic_report(int fd)
{
    for (struct hl_atomic_site *s = __atomic_load_n(&sites, __ATOMIC_ACQUIRE); s != NULL; s = s->next) {
        uint64_t hits = __atomic_load_n(&s->hits, __ATOMIC_RELAXED) - s->before;
        if (hits != 0) {
            dprintf(fd, "%10llu %s:%d %s\n", (unsigned long long)hits, s->file, s->line, s->what);
        }
    }
}
