/* Replaces two functions of the C library for libfabric alone: fopen while it starts, and posix_memalign
 * as long as it is loaded.
 *
 * The verbs provider, which is part of a distribution's libfabric, asks at its start whether the kernel can
 * register memory of other devices: it reads the kernel's table of symbols line by line, twice, also on
 * machines without such NICs. These are ten megabytes of text that the kernel makes anew for every rank, and
 * five sixths of the processor time that opening the network took. No setting switches it off: providers
 * start before their filter is looked at. The answer matters only for memory of GPUs, which is not used here,
 * and a file that cannot be read (as in many containers) means: no.
 *
 * tcp;ofi_rxm takes 17 MB of buffers for each endpoint, whatever sizes it is asked for, and writes
 * something into each page of them. With small pages that is 4,200 page faults and 11 ms for an endpoint,
 * with huge ones 9 faults.
 *
 * So libfabric's own references, and no other library's, are set to functions of this file. They are found as
 * the dynamic loader finds them; where its tables look otherwise than expected, nothing is changed, and the
 * start is merely slow. */
#include "atomic.h"
#include "fab_lib.h"

#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_PAGE ((size_t)2 << 20) /* bytes; where huge pages are larger, nothing is gained */

/* A library's reference to a function. */
struct reference {
    uintptr_t inside; /* an address in the library */
    const char *name; /* of the function */
    hl_aptr *slot;    /* where the function's address is kept; NULL: not found */
    bool sealed;      /* the loader has made the slot's page read-only */
};

/* Tables that the library's dynamic section names. */
struct tables {
    const ElfW(Sym) * symbol;
    const char *words;
    const ElfW(Rela) * rela;
    size_t count;
    bool has_addends;
};

static FILE *open_others(const char *path, const char *mode)
{
    if (strcmp(path, "/proc/kallsyms") == 0) {
        errno = ENOENT;
        return NULL;
    }
    return fopen(path, mode);
}

/* posix_memalign for libfabric: large blocks are aligned to huge pages. free() takes them as usual. */
static int align_to_huge_pages(void **at, size_t alignment, size_t size)
{
    if (size < HUGE_PAGE) {
        return posix_memalign(at, alignment, size);
    }
    int rc = posix_memalign(at, alignment < HUGE_PAGE ? HUGE_PAGE : alignment, size);
    if (rc == 0) {
        int was = errno;
        (void)madvise(*at, size & ~(HUGE_PAGE - 1), MADV_HUGEPAGE); /* if refused, small pages do, too */
        errno = was;
    }
    return rc;
}

/* True for the function's name, and for its form for long files ("fopen64"). */
static bool is_named(const char *found, const char *name)
{
    size_t n = strlen(name);
    return strncmp(found, name, n) == 0 && (found[n] == '\0' || strcmp(found + n, "64") == 0);
}

/* The object's program header of that type, in which the address `around` lies (0: any);
 * NULL: there is none. */
static const ElfW(Phdr) * header_of(const struct dl_phdr_info *in, ElfW(Word) type, uintptr_t around)
{
    for (int i = 0; i < in->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &in->dlpi_phdr[i];
        uintptr_t begin = in->dlpi_addr + h->p_vaddr;
        if (h->p_type == type && (around == 0 || around - begin < h->p_memsz)) {
            return h;
        }
    }
    return NULL;
}

/* Reads the dynamic section, in which glibc has added the load address to pointers. */
static struct tables read_tables(const ElfW(Dyn) * d)
{
    struct tables t = {.symbol = NULL};
    for (; d->d_tag != DT_NULL; d++) {
        void *at = (void *)d->d_un.d_ptr;
        switch (d->d_tag) {
        case DT_SYMTAB:
            t.symbol = at;
            break;
        case DT_STRTAB:
            t.words = at;
            break;
        case DT_JMPREL:
            t.rela = at;
            break;
        case DT_PLTRELSZ:
            t.count = d->d_un.d_val / sizeof(ElfW(Rela));
            break;
        case DT_PLTREL:
            t.has_addends = d->d_un.d_val == DT_RELA;
            break;
        default:
            break;
        }
    }
    return t;
}

/* Called by dl_iterate_phdr for each object; returning 1 ends the search. */
static int look_in_object(struct dl_phdr_info *in, size_t size, void *arg)
{
    struct reference *ref = arg;
    (void)size;
    const ElfW(Phdr) *dynamic = header_of(in, PT_DYNAMIC, 0);
    if (header_of(in, PT_LOAD, ref->inside) == NULL) {
        return 0;
    }
    if (dynamic == NULL || header_of(in, PT_LOAD, (uintptr_t)&open_others) != NULL) {
        return 1; /* a test's model of libfabric lies in the same object as this file */
    }
    struct tables t = read_tables((void *)(in->dlpi_addr + dynamic->p_vaddr));
    bool whole = t.symbol != NULL && t.words != NULL && t.rela != NULL && t.has_addends &&
                 (uintptr_t)t.rela > in->dlpi_addr;
    for (size_t i = 0; whole && i < t.count; i++) {
        const char *name = t.words + t.symbol[ELF64_R_SYM(t.rela[i].r_info)].st_name;
        if (is_named(name, ref->name)) {
            uintptr_t at = in->dlpi_addr + t.rela[i].r_offset;
            ref->slot = (hl_aptr *)at;
            ref->sealed = header_of(in, PT_GNU_RELRO, at) != NULL;
        }
    }
    return 1;
}

/* Sets the reference to the function `to`. Returns false when its page cannot be made writable. */
static bool lead(const struct reference *ref, void *to)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *begin = (void *)((uintptr_t)ref->slot & ~(page - 1));
    if (ref->sealed && mprotect(begin, page, PROT_READ | PROT_WRITE) != 0) {
        return false;
    }
    hl_aptr_store_relaxed(ref->slot, to); /* relaxed: another thread may call the old or the new function */
    if (ref->sealed) {
        (void)mprotect(begin, page, PROT_READ);
    }
    return true;
}

/* Finds the reference and sets it to `to`. Returns the function before; NULL when it could not be set. */
static void *lead_to(struct reference *ref, void *to)
{
    dl_iterate_phdr(look_in_object, ref);
    void *before = ref->slot != NULL ? hl_aptr_load_relaxed(ref->slot) : NULL; /* relaxed: only the value */
    return ref->slot != NULL && lead(ref, to) ? before : NULL;
}

void hl_fab_without_symbols(const void *inside, void (*fn)(void *), void *arg)
{
    struct reference ref = {(uintptr_t)inside, "fopen", NULL, false};
    FILE *(*ours)(const char *, const char *) = open_others;
    void *to;
    memcpy(&to, &ours, sizeof to);
    void *before = lead_to(&ref, to);
    fn(arg);
    if (before != NULL) {
        (void)lead(&ref, before);
    }
}

bool hl_fab_in_huge_pages(const void *inside)
{
    struct reference ref = {(uintptr_t)inside, "posix_memalign", NULL, false};
    int (*ours)(void **, size_t, size_t) = align_to_huge_pages;
    void *to;
    memcpy(&to, &ours, sizeof to);
    return lead_to(&ref, to) != NULL;
}
