/* C functions made as the program runs.
 *
 * A block is an even number of pages: the first half holds stubs of machine code, the second half, at the
 * same distance for every stub, what they are bound to. Stubs are all the same and are written before their
 * pages become executable, and no page is ever both writable and executable. So a further function is made by
 * filling its place in the second half. */
#include "trampoline.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { STUB = 32 }; /* bytes of a stub, and of what it is bound to */

struct bound_place {
    struct hl_fort_bound bound;
    char rest[STUB - sizeof(struct hl_fort_bound)];
};
_Static_assert(sizeof(struct bound_place) == STUB,
               "stubs and what they are bound to have the same distances");

struct stub_block {
    struct stub_block *next;
    unsigned char *stubs;
    struct bound_place *places;
    size_t count, used;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct stub_block *blocks; /* guarded by lock; the first one has room */

/* One stub whose place is `distance` bytes behind it. The processor's fifth argument becomes the place's
 * address. */
#if defined(__x86_64__)
static bool write_stub(unsigned char *stub, size_t distance)
{
    static const unsigned char code[] = {
        0xf3, 0x0f, 0x1e, 0xfa,          /* endbr64: jumped to by a pointer */
        0x4c, 0x8d, 0x05, 0,    0, 0, 0, /* lea place(%rip), %r8 */
        0x41, 0xff, 0x20                 /* jmp *(%r8) */
    };
    uint32_t from_next = (uint32_t)(distance - 11); /* counted from the end of lea */

    memcpy(stub, code, sizeof code);
    memcpy(stub + 7, &from_next, sizeof from_next);
    return true;
}
#elif defined(__aarch64__)
static bool write_stub(unsigned char *stub, size_t distance)
{
    uint32_t low = (uint32_t)(distance - 4) & 3, high = (uint32_t)(distance - 4) >> 2; /* counted from adr */
    const uint32_t code[] = {
        0xd503245f,                         /* bti c: called by a pointer */
        0x10000004 | low << 29 | high << 5, /* adr x4, place */
        0xf9400090,                         /* ldr x16, [x4] */
        0xd61f0200                          /* br x16 */
    };

    memcpy(stub, code, sizeof code);
    return true;
}
#else
static bool write_stub(unsigned char *stub, size_t distance)
{
    return false;
}
#endif

/* A block with all its stubs written, or NULL. The caller holds the lock. */
static struct stub_block *make_block(const char **why)
{
    size_t half = (size_t)sysconf(_SC_PAGESIZE);
    struct stub_block *block = malloc(sizeof *block);
    void *at = mmap(NULL, 2 * half, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    *why = "there is no memory";
    if (block == NULL || at == MAP_FAILED) {
        goto undo;
    }
    *block = (struct stub_block){.stubs = at, .places = (void *)((char *)at + half), .count = half / STUB};
    for (size_t i = 0; i < block->count; i++) {
        if (!write_stub(block->stubs + i * STUB, half)) {
            *why = "callbacks of this kind exist for the processors x86-64 and aarch64 only";
            goto undo;
        }
    }
    __builtin___clear_cache((char *)at, (char *)at + half);
    if (mprotect(at, half, PROT_READ | PROT_EXEC) != 0) {
        *why = "the system does not let this process make memory that can be executed (SELinux: execmem; "
               "prctl: MDWE)";
        goto undo;
    }
    return block;
undo:
    if (at != MAP_FAILED) {
        munmap(at, 2 * half);
    }
    free(block);
    return NULL;
}

/* The stub that is bound to these two already, or NULL. The caller holds the lock. */
static unsigned char *find_stub(hl_fort_any *target, hl_fort_any *procedure)
{
    for (const struct stub_block *block = blocks; block != NULL; block = block->next) {
        for (size_t i = 0; i < block->used; i++) {
            const struct hl_fort_bound *bound = &block->places[i].bound;

            if (bound->target == target && bound->procedure == procedure) {
                return block->stubs + i * STUB;
            }
        }
    }
    return NULL;
}

hl_fort_any *hl_fort_trampoline(hl_fort_any *target, hl_fort_any *procedure, const char **why)
{
    unsigned char *stub;

    pthread_mutex_lock(&lock);
    stub = find_stub(target, procedure);
    if (stub == NULL && (blocks == NULL || blocks->used == blocks->count)) {
        struct stub_block *block = make_block(why);

        if (block == NULL) {
            pthread_mutex_unlock(&lock);
            return NULL;
        }
        block->next = blocks;
        blocks = block;
    }
    if (stub == NULL) {
        blocks->places[blocks->used].bound = (struct hl_fort_bound){target, procedure};
        stub = blocks->stubs + blocks->used++ * STUB;
    }
    pthread_mutex_unlock(&lock);
    return (hl_fort_any *)(uintptr_t)stub;
}
