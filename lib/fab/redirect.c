/* Functions of the C library that libfabric is given other ones for: at its start fopen, and as long as it is
 * loaded posix_memalign and free.
 *
 * The verbs provider, which a distribution's libfabric has inside, asks at its start whether the kernel can
 * register memory of other devices: it reads the kernel's table of symbols line by line, twice, on machines
 * without such NICs too. That is ten megabytes of text which the kernel makes anew for every rank, and five
 * sixths of the processor time that opening the network took. Nothing switches it off: providers start before
 * their filter is looked at. The answer matters for memory of GPUs alone, which is not used here, and "the
 * file cannot be read" (what ranks in many containers see) is an answer: no.
 *
 * tcp;ofi_rxm takes 17 MB of buffers for each endpoint, whatever sizes it is asked for, and writes something
 * into each page of them. In small pages that is 4,200 page faults and 11 ms for an endpoint, in huge ones 9.
 * A forked child, which must not use the network, would get them all: while the kernel copies their pages'
 * table no thread of the process can have a page fault, and afterwards each store splits a huge page or
 * copies a small one. So children find zeroes there, until a buffer is freed: what malloc makes of it then is
 * not ours.
 *
 * So libfabric's own references, and no other library's, lead to functions of ours. They are found as the
 * dynamic loader finds them; where it looks otherwise than expected nothing is changed, and the start is
 * merely slow. */
#include "atomic.h"
#include "fab_lib.h"
#include "lock.h"

#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_PAGE ((size_t)2 << 20) /* where they are larger, nothing is gained */

/* A library's references to a function. */
struct reference {
    uintptr_t inside; /* an address in the library */
    const char *name; /* of the function */
    void *to;         /* where they shall lead */
    void *before;     /* where one of them led; NULL: there is none, or it cannot be changed */
};

/* What the library's dynamic section says. */
struct tables {
    const ElfW(Sym) * symbol;
    const char *words;
    struct {
        const ElfW(Rela) * at;
        size_t count;
    } rela[2]; /* of calls, and of functions whose address is taken somewhere */
    bool has_addends;
};

/* A buffer whose content is not in children. */
struct kept {
    char *at;
    size_t len;
    struct kept *next;
};

static struct hl_mutex lock = HL_MUTEX_INIT;
static struct kept *all_kept HL_GUARDED_BY(lock);
static bool frees; /* free is ours, too; written before libfabric has buffers */

static FILE *open_others(const char *path, const char *mode)
{
    if (strcmp(path, "/proc/kallsyms") == 0) {
        errno = ENOENT;
        return NULL;
    }
    return fopen(path, mode);
}

static void keep_from_children(char *at, size_t len)
{
    struct kept *k = frees ? malloc(sizeof *k) : NULL;
    if (k != NULL && madvise(at, len, MADV_WIPEONFORK) == 0) {
        hl_mutex_lock(&lock);
        *k = (struct kept){at, len, all_kept};
        all_kept = k;
        hl_mutex_unlock(&lock);
    } else {
        free(k);
    }
}

/* The record of the buffer at this address, which has none afterwards, or NULL. */
static struct kept *take_kept(const void *at)
{
    hl_mutex_lock(&lock);
    struct kept **p = &all_kept;
    while (*p != NULL && (*p)->at != at) {
        p = &(*p)->next;
    }
    struct kept *k = *p;
    if (k != NULL) {
        *p = k->next;
    }
    hl_mutex_unlock(&lock);
    return k;
}

/* Few addresses are multiples of a huge page. */
static void free_kept(void *at)
{
    struct kept *k = at != NULL && (uintptr_t)at % HUGE_PAGE == 0 ? take_kept(at) : NULL;
    if (k != NULL) {
        int was = errno;
        (void)madvise(k->at, k->len, MADV_KEEPONFORK);
        errno = was;
        free(k);
    }
    free(at);
}

/* free() takes it as any other. */
static int align_to_huge_pages(void **at, size_t alignment, size_t size)
{
    if (size < HUGE_PAGE) {
        return posix_memalign(at, alignment, size);
    }
    int rc = posix_memalign(at, alignment < HUGE_PAGE ? HUGE_PAGE : alignment, size);
    if (rc == 0) {
        int was = errno;
        (void)madvise(*at, size & ~(HUGE_PAGE - 1), MADV_HUGEPAGE); /* small pages do as well */
        keep_from_children(*at, size & ~(HUGE_PAGE - 1));
        errno = was;
    }
    return rc;
}

/* Is it this function, or its form for long files? */
static bool is_named(const char *found, const char *name)
{
    size_t n = strlen(name);
    return strncmp(found, name, n) == 0 && (found[n] == '\0' || strcmp(found + n, "64") == 0);
}

/* The header of that type; of several, or of one that may be elsewhere, the one around an address (0: any).
 */
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

/* glibc has added the load address to pointers here. */
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
            t.rela[0].at = at;
            break;
        case DT_PLTRELSZ:
            t.rela[0].count = d->d_un.d_val / sizeof(ElfW(Rela));
            break;
        case DT_RELA:
            t.rela[1].at = at;
            break;
        case DT_RELASZ:
            t.rela[1].count = d->d_un.d_val / sizeof(ElfW(Rela));
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

/* Leads one reference, of a library that was mapped so. */
static void lead(struct reference *ref, const struct dl_phdr_info *in, hl_aptr *slot)
{
    bool sealed = header_of(in, PT_GNU_RELRO, (uintptr_t)slot) != NULL; /* the loader made it read-only */
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *begin = (void *)((uintptr_t)slot & ~(page - 1));
    if (sealed && mprotect(begin, page, PROT_READ | PROT_WRITE) != 0) {
        return;
    }
    /* relaxed, both: the loader's; another thread may go the old way or the new one. */
    ref->before = hl_aptr_load_relaxed(slot);
    hl_aptr_store_relaxed(slot, ref->to);
    if (sealed) {
        (void)mprotect(begin, page, PROT_READ);
    }
}

/* Of dl_iterate_phdr: 1 ends the search. */
static int look(struct dl_phdr_info *in, size_t size, void *arg)
{
    struct reference *ref = arg;
    (void)size;
    const ElfW(Phdr) *dynamic = header_of(in, PT_DYNAMIC, 0);
    if (header_of(in, PT_LOAD, ref->inside) == NULL) {
        return 0;
    }
    if (dynamic == NULL || header_of(in, PT_LOAD, (uintptr_t)&open_others) != NULL) {
        return 1; /* a test's model of libfabric is in the same object as this */
    }
    struct tables t = read_tables((void *)(in->dlpi_addr + dynamic->p_vaddr));
    bool whole = t.symbol != NULL && t.words != NULL && t.has_addends;
    for (size_t n = 0; whole && n < 2; n++) {
        const ElfW(Rela) *r = t.rela[n].at;
        for (size_t i = 0; (uintptr_t)r > in->dlpi_addr && i < t.rela[n].count; i++) {
            size_t symbol = ELF64_R_SYM(r[i].r_info);
            if (symbol != 0 && r[i].r_addend == 0 &&
                is_named(t.words + t.symbol[symbol].st_name, ref->name)) {
                lead(ref, in, (hl_aptr *)(in->dlpi_addr + r[i].r_offset));
            }
        }
    }
    return 1;
}

void hl_fab_without_symbols(const void *inside, void (*fn)(void *), void *arg)
{
    struct reference ref = {(uintptr_t)inside, "fopen", NULL, NULL};
    FILE *(*ours)(const char *, const char *) = open_others;
    memcpy(&ref.to, &ours, sizeof ref.to);
    dl_iterate_phdr(look, &ref);
    fn(arg);
    if (ref.before != NULL) {
        ref.to = ref.before;
        dl_iterate_phdr(look, &ref);
    }
}

bool hl_fab_in_huge_pages(const void *inside)
{
    struct reference takes = {(uintptr_t)inside, "posix_memalign", NULL, NULL};
    struct reference gives = {(uintptr_t)inside, "free", NULL, NULL};
    int (*align)(void **, size_t, size_t) = align_to_huge_pages;
    void (*ours)(void *) = free_kept;
    memcpy(&gives.to, &ours, sizeof gives.to);
    dl_iterate_phdr(look, &gives);
    frees = gives.before != NULL;
    memcpy(&takes.to, &align, sizeof takes.to);
    dl_iterate_phdr(look, &takes);
    return takes.before != NULL;
}
