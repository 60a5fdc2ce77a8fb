/* Fixed kinds of memkind over memory of arenas. */
#include "fixed.h"

#include "conf.h"
#include "log.h"
#include "mem.h"
#include "util.h"

#include <dlfcn.h>
#include <memkind.h>
#include <stdint.h>
#include <stdlib.h>

/* `begins` has one bit for each place where a piece may begin, since memkind must not be asked about
 * addresses where no piece of its own begins. */
struct hl_memkind {
    memkind_t kind;
    char *base;
    size_t len;
    uint64_t begins[];
};

static struct {
    bool tried, there;
    __typeof__(memkind_create_fixed) *create;
    __typeof__(memkind_destroy_kind) *destroy;
    __typeof__(memkind_posix_memalign) *take;
    __typeof__(memkind_free) *give;
    __typeof__(memkind_malloc_usable_size) *usable;
} lib; /* guarded by mem's lock */

static bool load_memkind(void)
{
    void **const at[] = {(void **)&lib.create, (void **)&lib.destroy, (void **)&lib.take, (void **)&lib.give,
                         (void **)&lib.usable};
    static const char *const names[] = {"memkind_create_fixed", "memkind_destroy_kind",
                                        "memkind_posix_memalign", "memkind_free",
                                        "memkind_malloc_usable_size"};
    if (lib.tried) {
        return lib.there;
    }
    lib.tried = true;
    void *so = dlopen("libmemkind.so.0", RTLD_NOW | RTLD_LOCAL);
    lib.there = so != NULL;
    for (size_t i = 0; so != NULL && i < sizeof names / sizeof names[0]; i++) {
        *at[i] = dlsym(so, names[i]);
        lib.there = lib.there && *at[i] != NULL;
    }
    if (!lib.there) {
        hl_log(HL_LOG_INFO, "no memkind 1.12 here (libmemkind.so.0): small pieces are cut without it");
    }
    return lib.there;
}

static void create_kinds(void *arg)
{
    struct hl_memkind *k = arg;
    if (!load_memkind() || lib.create(k->base, k->len, &k->kind) != 0) {
        k->kind = NULL;
    }
}

struct hl_memkind *hl_memkind_open(char *base, size_t len)
{
    /* One arena of memkind: one for each thread would fragment the region, and mem's lock admits only one. */
    static const char *const one_arena[] = {"MEMKIND_ARENA_NUM_PER_KIND=1", NULL};
    struct hl_memkind *k = calloc(1, sizeof *k + hl_round_up(len / HL_MEM_ALIGN, 64) / 8);
    if (k == NULL) {
        return NULL;
    }
    k->base = base;
    k->len = len;
    hl_conf_with_env(one_arena, create_kinds, k);
    if (k->kind == NULL) {
        free(k);
        return NULL;
    }
    return k;
}

void hl_memkind_close(struct hl_memkind *k)
{
    if (k != NULL) {
        lib.destroy(k->kind);
        free(k);
    }
}

static void note_place(struct hl_memkind *k, size_t off, bool begins)
{
    size_t place = off / HL_MEM_ALIGN;
    uint64_t *word = &k->begins[place / 64], bit = UINT64_C(1) << place % 64;
    *word = begins ? *word | bit : *word & ~bit;
}

int hl_memkind_take(struct hl_memkind *k, size_t len, size_t align, size_t *off)
{
    void *at = NULL;
    if (lib.take(k->kind, &at, hl_max_size(align, HL_MEM_ALIGN), len) != 0) {
        return HL_ERR_NO_MEM;
    }
    *off = (size_t)((char *)at - k->base);
    note_place(k, *off, true);
    return 0;
}

void hl_memkind_give(struct hl_memkind *k, size_t off)
{
    note_place(k, off, false);
    lib.give(k->kind, k->base + off);
}

size_t hl_memkind_len_at(const struct hl_memkind *k, size_t off)
{
    size_t place = off / HL_MEM_ALIGN;
    bool begins = off % HL_MEM_ALIGN == 0 && (k->begins[place / 64] >> place % 64 & 1) != 0;
    return begins ? lib.usable(k->kind, k->base + off) : 0;
}
