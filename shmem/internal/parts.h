/* Parts of the symmetric heap, that is, partitions and the library's own part: what is asked for, where each
 * lies in the one span of addresses, and its memory.
 *
 *   offset 0                                                                            len
 *   | partition on 1G pages | partition on 2M pages | others | the library's own |
 *
 * Parts with larger pages come first, and each is a whole number of its own pages long. So there are no gaps:
 * every offset in the span lies in some part. All PEs have the same parts at the same offsets. */
#ifndef HL_PARTS_H
#define HL_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "mem.h"
#include "sym.h"

struct hl_heap_part {
    int id;            /* of the partition; 0: the library's own */
    char name[32];     /* "partition 2" */
    uint64_t size;     /* bytes asked for, rounded up to 2 MiB */
    size_t page;       /* bytes of its pages on all PEs, or what to try next */
    uint64_t off, len; /* offset and bytes in the span */
    bool wished;       /* `wish` asks for something: its pages are taken at start */
    struct hl_mem_wish wish;
    struct hl_piece piece; /* its memory; addr NULL: not taken */
};

struct hl_heap {
    char *base;        /* of the reserved span; NULL: none */
    uint64_t len;      /* of the span */
    uint64_t room;     /* bytes reserved */
    size_t align;      /* on every PE `base` is a multiple of it */
    uint64_t own;      /* bytes of the library's part that are used */
    uint64_t lockable; /* the least number of bytes that a PE may lock in memory; UINT64_MAX: no limit */
    int count;
    struct hl_heap_part parts[HL_SYM_PARTS];
};
extern struct hl_heap hl_heap; /* read-only between start and end */

/* Reads what the environment asks for, agrees on it with all PEs, takes the memory and agrees on its pages.
 * Collective; an error is the same on all PEs, with the text of the PE that failed, and no memory is held
 * then. */
int hl_parts_open(void);
void hl_parts_close(void);

/* Lays `count` parts out by their `page`: sorts them, sets off and len, returns the span's length. Here for
 * tests. */
uint64_t hl_parts_lay(struct hl_heap_part *parts, int count);

/* Bytes of the library's own part that are used when registering pins pages, of which a PE may lock
 * `lockable` bytes, or pins none. A network that opens after hl_parts_open may be the first that pins. */
uint64_t hl_parts_own(bool pins, uint64_t lockable);

/* PE 0 prints what each part is made of (SHMEM_MEMINFO_DISPLAY). */
void hl_parts_show(void);

/* Collective: returns 0 when `rc` is 0 on all PEs, else an error on all, with the text of the first PE that
 * failed. That PE returns first, so that it ends the job and the user reads one line. A PE that cannot hear
 * from the others gets an error alone: it must end the job, too. */
int hl_parts_agree(int rc);

#endif
