/* Turns what the environment asks for into parts of the symmetric heap, the same on every PE, or into an
 * error on all. */
#include "parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coll.h"
#include "conf.h"
#include "err.h"
#include "job.h"
#include "log.h"
#include "mr.h"
#include "part.h"
#include "shm.h"
#include "util.h"

#define GRANULE ((uint64_t)1 << HL_SYM_GRANULE)
#define OWN_BYTES ((uint64_t)34 << 20) /* address space of the library's own part if nothing is pinned; */
#define OWN_PINNED ((uint64_t)2 << 20) /* else, since the NIC pins its pages when they are registered; */
#define OWN_SHARE 32                   /* then at most this fraction of the lockable memory is used, */
#define OWN_LEAST ((uint64_t)64 << 10) /* but at least so much: boxes of a team take 13 KiB */
#define AUTO_STEP ((uint64_t)64 << 20) /* a size that nobody set is a multiple of it, */
#define AUTO_MOST ((uint64_t)64 << 30) /* and at most so much */
#define SPAN_ALIGN ((size_t)1 << 30)   /* so that shmem_align can keep its promise */
#define SIZE_MOST ((uint64_t)1 << 46)  /* so that sums do not overflow */
#define WAIT_US 2000000                /* time for the PE with the cause to end the job */

struct hl_heap hl_heap;

/* Some PE has the error `all`: finds the first PE with an error and returns it with that PE's text. */
static HL_NOINLINE int tell_first(int rc, int all)
{
    static char text[HL_ERR_TEXT]; /* static: used only by the thread that starts or ends the heap */
    int first, lost = hl_coll_first_failed(hl_shmem_comm, rc, &first, text);
    if (lost != 0) {
        return rc != 0 ? rc : lost;
    }
    if (first == hl_shmem_comm->rank) {
        return rc;
    }
    usleep(WAIT_US);
    return hl_err_say(all, "PE %d: %s", first, text);
}

int hl_parts_agree(int rc)
{
    int all = 0, lost = hl_coll_least(hl_shmem_comm, rc, &all);
    if (lost != 0) { /* the others may have gone on, so nothing more is exchanged */
        return rc != 0 ? rc : lost;
    }
    return all == 0 ? 0 : tell_first(rc, all);
}

/* ---- what is asked for ---- */

/* What the environment of a PE asks for. */
struct asked {
    uint64_t fair;     /* size of an unset heap */
    uint64_t lockable; /* bytes of it that the network may pin; UINT64_MAX: all */
    bool pins;         /* registered pages are pinned */
    int64_t count;
    struct asked_part {
        int64_t id, kind, policy;
        uint64_t size, page, natural; /* UINT64_MAX: size is not set */
    } parts[HL_PART_MOST];
};

static size_t base_page(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static void read_asked(struct asked *a)
{
    int count;
    const struct hl_part *p = hl_part_all(&count);
    *a = (struct asked){.fair = hl_mem_fair_size(hl_job.node_size), .count = count > 0 ? count : 1};
    a->pins = hl_mr_pins();
    a->lockable = hl_lockable_bytes();
    a->parts[0] = (struct asked_part){.id = 1, .size = hl_conf.shmem_size, .page = 4096};
    for (int i = 0; i < count; i++) {
        a->parts[i] = (struct asked_part){p[i].id, p[i].kind, p[i].policy, p[i].size, p[i].page, 0};
    }
    for (int i = 0; i < a->count; i++) {
        a->parts[i].natural = hl_mem_page_natural(a->parts[i].page);
    }
}

static void describe_part(const struct asked_part *p, char *out, size_t cap)
{
    char size[HL_BYTES_TEXT], page[HL_BYTES_TEXT];
    snprintf(out, cap, "partition %d of %s, kind %s, policy %s, pages of %s", (int)p->id,
             p->size == UINT64_MAX ? "any size" : hl_bytes_text(p->size, size),
             hl_part_kind_word((enum hl_part_kind)p->kind),
             hl_part_policy_word((enum hl_part_policy)p->policy), hl_bytes_text(p->page, page));
}

/* The error that the environment of PE `pe` asks for something else than that of PE 0. */
static int say_difference(const struct asked *zero, const struct asked *other, int pe)
{
    char first[128] = "nothing more", second[128] = "nothing more";
    int i = 0;
    while (i < HL_PART_MOST - 1 &&
           memcmp(&zero->parts[i], &other->parts[i], offsetof(struct asked_part, natural)) == 0) {
        i++;
    }
    if (i < zero->count) {
        describe_part(&zero->parts[i], first, sizeof first);
    }
    if (i < other->count) {
        describe_part(&other->parts[i], second, sizeof second);
    }
    return hl_err_say(HL_ERR_ARG, "the environment asks for %s on PE 0 and for %s on PE %d", first, second,
                      pe);
}

static bool are_asked_alike(const struct asked *a, const struct asked *b)
{
    bool same = a->count == b->count;
    for (int i = 0; same && i < HL_PART_MOST; i++) {
        same = memcmp(&a->parts[i], &b->parts[i], offsetof(struct asked_part, natural)) == 0;
    }
    return same;
}

/* The size of a part whose size nobody set. `fair`: the least that a PE can offer. */
static uint64_t auto_size(uint64_t fair)
{
    fair = fair < AUTO_MOST ? fair : AUTO_MOST;
    uint64_t step = fair >= AUTO_STEP ? AUTO_STEP : GRANULE;
    return fair >= step ? fair & ~(step - 1) : GRANULE;
}

static int check_part_size(const struct asked_part *p)
{
    char size[HL_BYTES_TEXT], most[HL_BYTES_TEXT];
    return p->size == UINT64_MAX || p->size <= SIZE_MOST
               ? 0
               : hl_err_say(HL_ERR_NO_MEM,
                            "partition %d: %s are asked for, and at most %s are possible on any machine",
                            (int)p->id, hl_bytes_text(p->size, size), hl_bytes_text(SIZE_MOST, most));
}

static void plan_part(const struct asked_part *a, uint64_t natural, uint64_t fair, struct hl_heap_part *out)
{
    static const enum hl_mem_kind kinds[] = {[HL_PART_DEFAULT] = HL_MEM_ANY,
                                             [HL_PART_NORMAL] = HL_MEM_DDR,
                                             [HL_PART_SYSTEM] = HL_MEM_ANY,
                                             [HL_PART_FAST] = HL_MEM_FAST};
    static const enum hl_mem_rule rules[] = {[HL_PART_PREFERRED] = HL_MEM_PREFERRED,
                                             [HL_PART_MANDATORY] = HL_MEM_MANDATORY,
                                             [HL_PART_INTERLEAVED] = HL_MEM_INTERLEAVED,
                                             [HL_PART_BY_SYSTEM] = HL_MEM_PREFERRED};
    uint64_t size = a->size == UINT64_MAX ? auto_size(fair) : a->size;
    *out = (struct hl_heap_part){.id = (int)a->id, .page = (size_t)natural};
    out->size = hl_round_up(hl_max_size(size, 1), GRANULE);
    out->wish = (struct hl_mem_wish){kinds[a->kind], rules[a->policy], (size_t)a->page, true};
    out->wished = out->wish.kind != HL_MEM_ANY || out->wish.rule != HL_MEM_PREFERRED || natural > base_page();
    snprintf(out->name, sizeof out->name, "partition %d", out->id);
}

uint64_t hl_parts_own(bool pins, uint64_t lockable)
{
    uint64_t most = lockable / OWN_SHARE & ~(uint64_t)(base_page() - 1);
    return pins ? hl_min_size(hl_max_size(most, OWN_LEAST), OWN_PINNED) : OWN_BYTES;
}

/* Agrees with all PEs on what is asked for and fills hl_heap.parts; pages are the largest that any PE has for
 * it. */
static int plan_parts(void)
{
    size_t n = (size_t)hl_sym.n_pes;
    struct asked *all = malloc(n * sizeof *all), mine;
    int rc = hl_parts_agree(all != NULL ? 0 : hl_err_say(HL_ERR_NO_MEM, "no memory for words of %zu PEs", n));
    if (rc != 0) {
        free(all);
        return rc;
    }
    read_asked(&mine);
    rc = hl_coll_allgather_bytes(hl_shmem_comm, &mine, sizeof mine, all);
    for (size_t i = 1; rc == 0 && i < n; i++) {
        rc = are_asked_alike(&all[0], &all[i]) ? 0 : say_difference(&all[0], &all[i], (int)i);
        all[0].fair = all[i].fair < all[0].fair ? all[i].fair : all[0].fair;
        all[0].lockable = all[i].lockable < all[0].lockable ? all[i].lockable : all[0].lockable;
        all[0].pins = all[0].pins || all[i].pins;
        for (int k = 0; k < HL_PART_MOST; k++) {
            all[0].parts[k].natural = hl_max_size(all[0].parts[k].natural, all[i].parts[k].natural);
        }
    }
    for (int k = 0; rc == 0 && k < all[0].count; k++) {
        rc = check_part_size(&all[0].parts[k]);
    }
    for (int k = 0; rc == 0 && k < all[0].count; k++) {
        plan_part(&all[0].parts[k], all[0].parts[k].natural, all[0].fair, &hl_heap.parts[hl_heap.count++]);
    }
    hl_heap.lockable = rc == 0 ? all[0].lockable : 0;
    bool pins = rc == 0 && all[0].pins;
    hl_heap.own = hl_parts_own(pins, hl_heap.lockable);
    free(all);
    hl_heap.parts[hl_heap.count++] = (struct hl_heap_part){
        .name = "the library's part", .size = pins ? OWN_PINNED : OWN_BYTES, .page = base_page()};
    return hl_parts_agree(rc);
}

/* ---- where each part lies ---- */

static int compare_page(const void *a, const void *b)
{
    const struct hl_heap_part *p = a, *q = b;
    if (p->page != q->page) {
        return p->page > q->page ? -1 : 1;
    }
    if (p->wish.page != q->wish.page && p->id != 0 && q->id != 0) {
        return p->wish.page > q->wish.page ? -1 : 1;
    }
    return p->id == 0 ? 1 : q->id == 0 ? -1 : p->id - q->id;
}

uint64_t hl_parts_lay(struct hl_heap_part *parts, int count)
{
    uint64_t at = 0;
    qsort(parts, (size_t)count, sizeof *parts, compare_page);
    for (int i = 0; i < count; i++) {
        parts[i].off = at;
        parts[i].len = hl_round_up(parts[i].size, parts[i].page);
        at += parts[i].len;
    }
    return at;
}

/* Reserves the span. It is large enough for all pages that may come: they only become smaller. */
static int reserve_parts(void)
{
    size_t least = hl_max_size(hl_heap.parts[0].page, GRANULE);
    bool large = hl_mem_reserve(hl_heap.len, SPAN_ALIGN, &hl_heap.base) == 0;
    int rc = large ? 0 : hl_mem_reserve(hl_heap.len, least, &hl_heap.base);
    hl_heap.base = rc == 0 ? hl_heap.base : NULL;
    hl_heap.room = hl_heap.len;
    rc = hl_parts_agree(rc);
    if (rc == 0) {
        hl_heap.align = hl_coll_agree(hl_shmem_comm, large ? 0 : -1) == 0 ? SPAN_ALIGN : least;
    }
    return rc;
}

/* ---- the memory of parts ---- */

static int take_part(struct hl_heap_part *p)
{
    struct hl_mem_ask ask = {.at = hl_heap.base + p->off,
                             .wish = p->wished ? &p->wish : NULL,
                             .populate = p->wished && p->wish.rule == HL_MEM_MANDATORY,
                             .page_most = p->page,
                             .caller = p->name};
    int rc = hl_mem_alloc(p->size, &ask, &p->piece);
    if (rc != 0) {
        p->piece.addr = NULL;
        return hl_err_say(rc, "%s: %s", p->name, hl_err_text(rc));
    }
    return 0;
}

static void give_parts(void)
{
    for (int i = 0; i < hl_heap.count; i++) {
        struct hl_heap_part *p = &hl_heap.parts[i];
        if (p->piece.addr != NULL) {
            hl_mem_free(&p->piece);
            p->piece.addr = NULL;
        }
    }
}

static int take_all(void)
{
    int rc = 0;
    for (int i = 0; rc == 0 && i < hl_heap.count; i++) {
        rc = take_part(&hl_heap.parts[i]);
    }
    return hl_parts_agree(rc);
}

/* Lowers the pages of part `p` to those of the PE that has the smallest. all[]: the part's page at PE 0; each
 * PE has HL_SYM_PARTS entries, binary logarithms of bytes. `least`: the smallest of them. */
static void lower_pages(struct hl_heap_part *p, const int8_t *all, int least)
{
    char was[HL_BYTES_TEXT], is[HL_BYTES_TEXT];
    int pe = 0;
    while (all[pe * HL_SYM_PARTS] != least) {
        pe++;
    }
    hl_bytes_text(p->page, was);
    p->page = (size_t)1 << least;
    if (hl_sym.my_pe == 0 && hl_conf.mem_report > 0) {
        hl_log(HL_LOG_WARN, "%s: pages of %s on all PEs, as PE %d could not get it in pages of %s", p->name,
               hl_bytes_text(p->page, is), pe, was);
    }
}

/* Makes the smallest pages that any PE got those of all PEs. *same: every PE has them already. */
static int agree_on_pages(bool *same)
{
    size_t n = (size_t)hl_sym.n_pes;
    int8_t mine[HL_SYM_PARTS] = {0}, *all = malloc(n * sizeof mine);
    int rc = hl_parts_agree(all != NULL ? 0 : hl_err_say(HL_ERR_NO_MEM, "no memory for words of %zu PEs", n));
    for (int i = 0; i < hl_heap.count; i++) {
        mine[i] = (int8_t)__builtin_ctzll(hl_heap.parts[i].piece.seg->page);
    }
    rc = rc == 0 ? hl_coll_allgather_bytes(hl_shmem_comm, mine, sizeof mine, all) : rc;
    *same = true;
    for (int i = 0; rc == 0 && i < hl_heap.count; i++) {
        int least = mine[i];
        for (size_t pe = 0; pe < n; pe++) {
            int8_t theirs = all[pe * HL_SYM_PARTS + (size_t)i];
            least = theirs < least ? theirs : least;
        }
        if ((size_t)1 << least != hl_heap.parts[i].page) {
            lower_pages(&hl_heap.parts[i], all + i, least);
            *same = false;
        }
    }
    free(all);
    return rc;
}

/* Takes the memory again until all PEs have pages of the same size for each part. This ends, since pages only
 * become smaller. */
static int take_alike(void)
{
    bool same = false;
    int rc = 0;
    while (rc == 0 && !same) {
        rc = take_all();
        rc = rc == 0 ? agree_on_pages(&same) : rc;
        if (rc == 0 && !same) {
            give_parts();
            hl_heap.len = hl_parts_lay(hl_heap.parts, hl_heap.count);
        }
    }
    return rc;
}

int hl_parts_open(void)
{
    hl_heap = (struct hl_heap){.count = 0};
    int rc = plan_parts();
    hl_heap.len = rc == 0 ? hl_parts_lay(hl_heap.parts, hl_heap.count) : 0;
    rc = rc == 0 ? reserve_parts() : rc;
    rc = rc == 0 ? take_alike() : rc;
    if (rc != 0) {
        hl_parts_close();
    }
    return rc;
}

void hl_parts_close(void)
{
    give_parts();
    if (hl_heap.base != NULL) {
        hl_mem_unreserve(hl_heap.base, hl_heap.room);
    }
    hl_heap = (struct hl_heap){.count = 0};
}

void hl_parts_show(void)
{
    for (int i = 0; i < hl_heap.count && hl_sym.my_pe == 0; i++) {
        const struct hl_heap_part *p = &hl_heap.parts[i];
        char size[HL_BYTES_TEXT], page[HL_BYTES_TEXT], nodes[HL_MEM_NODES_TEXT] = "";
        char kinds[HL_MEM_KINDS_TEXT] = "";
        struct hl_mem_got got;
        if (p->wished && hl_mem_got(&p->piece, &got) == 0) {
            hl_mem_got_nodes_text(&got, nodes, sizeof nodes);
            hl_mem_got_kinds_text(&got, p->wish.kind, kinds);
        }
        bool placed = nodes[0] != '\0';
        fprintf(stderr, "%s: %s%s%s in pages of %s at offset 0x%" PRIx64 "%s%s\n", p->name,
                hl_bytes_text(p->len, size), placed ? " of " : "", kinds, hl_bytes_text(p->page, page),
                p->off, placed ? ", nodes " : ", placed when touched", nodes);
    }
}
