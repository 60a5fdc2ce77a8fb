/* Memory that node peers can map and the network can reach: segments, and pieces cut from them.
 *
 *   segment: one memfd of base or huge pages, mapped shared, 2 MiB aligned address. Peers map it (near), the
 *            network registers it (fab).
 *   arena:   a segment of 64 MiB address space from which small pieces are cut; it stays until the process
 *            ends.
 *   piece:   what a caller gets: a part of an arena, or the whole of a segment made for it.
 *
 * Pages are taken from the system when first touched, unless the ask says `populate` or has a wish: then they
 * are there, and proved, when the caller gets them. Pages that only freed pieces used go back to the system
 * at once: nobody gives back what a NIC still keeps. A refused request changes nothing. A shortage is an
 * error code with its text, never a signal. */
#ifndef HL_MEM_H
#define HL_MEM_H

#include "atomic.h"
#include "wish.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hl_arena; /* mem's own */

/* On which nodes the pages go. */
enum hl_mem_policy {
    HL_MEM_SYSTEM,    /* where the system likes (first touch, numactl) */
    HL_MEM_PREFER,    /* on the one node named while there is room, else elsewhere */
    HL_MEM_BIND,      /* on the nodes named or not at all: populates, and proves it */
    HL_MEM_INTERLEAVE /* page by page over the nodes named, while there is room */
};

/* Fields are read-only from birth to death of the segment, but for those that say otherwise. The structure
 * itself is never unmapped, so that a stale pointer or id is told from a living one. */
struct hl_seg {
    hl_a64 live;     /* id while it lives, 0 before and after; atomic */
    uint64_t id;     /* per rank, never 0, never reused */
    char *base;      /* HL_MEM_SEG_ALIGN aligned */
    size_t len;      /* bytes, a multiple of page */
    size_t page;     /* bytes of a page */
    int fd;          /* the memfd, close-on-exec; mem closes it */
    size_t file_off; /* where in it the segment begins */
    uint64_t nodes;  /* bit i: node i; 0 when the system places */
    enum hl_mem_policy policy;
    struct hl_arena *arena; /* pieces of many owners share it, it never dies; NULL: one piece */
    bool reserved;          /* lies in a range that its owner reserved, and leaves it reserved */
    bool lazy;              /* pages come when they are touched, nothing was promised of them */
    size_t dumped; /* bytes from its begin on that core files hold: mem's or the owner's, under his lock */
    uint64_t key;  /* fab's: registration key of all of it, 0: none; written in its born callback */
    void *mr;      /* fab's: registration; written in its born callback */
    bool pinned;   /* its owner's, of one that is no arena: a NIC keeps pages of it, so none are given back */
};

struct hl_piece {
    struct hl_seg *seg;
    size_t off; /* bytes from seg->base */
    size_t len; /* bytes usable: at least what was asked */
    void *addr; /* seg->base + off */
};

/* What a caller wants beyond the length; NULL or zeros = plain. */
struct hl_mem_ask {
    size_t align;                   /* power of two, 0 = HL_MEM_ALIGN */
    bool own_segment;               /* not from an arena */
    void *at;                       /* the address, in a range that the caller reserved; NULL: anywhere */
    size_t page_most;               /* no larger pages, whatever the wish says; 0: no limit */
    bool populate;                  /* take all pages now */
    bool only_mine;                 /* peers are never told of it: below half a page memkind may cut it */
    const struct hl_mem_wish *wish; /* kind, page size and rule; NULL: nothing asked */
    const char *caller;             /* "MPI_Alloc_mem": who asks, for report and errors; NULL: the library */
};

#define HL_MEM_ALIGN ((size_t)64)          /* least alignment and granule of pieces */
#define HL_MEM_SEG_ALIGN ((size_t)2 << 20) /* least alignment of segments */
#define HL_MEM_ARENA ((size_t)64 << 20)    /* bytes of an arena's address space */
#define HL_MEM_OWN ((size_t)8 << 20) /* requests for so much, or for a larger alignment, own a segment */

/* Reserves `len` bytes of address space at a multiple of `align` (a power of two, at least
 * HL_MEM_SEG_ALIGN): no memory, touching it is a fault. The caller gives it back with hl_mem_unreserve, once
 * what was mapped in it is gone. HL_ERR_NO_MEM with the text (limit of address space). Any thread. */
int hl_mem_reserve(size_t len, size_t align, char **base);
void hl_mem_unreserve(char *base, size_t len);

/* Cuts a piece of at least `len` bytes (0 counts as 1). The bytes are NOT zeroed. The caller owns the piece
 * until hl_mem_free. Any thread; takes mem's lock and may call the watchers. With ask->at, a multiple of
 * HL_MEM_SEG_ALIGN, of ask->align and of the page size asked for, the piece owns its segment and begins
 * there; the caller has reserved `len` bytes from there on, rounded up to that page size, and finds them
 * reserved again when the call fails and after hl_mem_free. Errors: HL_ERR_NO_MEM (the text has the size, the
 * cause and the limit met), HL_ERR_ARG (alignment is no power of two, or not that of `at`), or what a watcher
 * returned.
 */
int hl_mem_alloc(size_t len, const struct hl_mem_ask *ask, struct hl_piece *out);

/* Bytes of the piece's pages on each node, for nodes 0 .. nodes - 1 (whole pages; those not touched yet count
 * nowhere). HL_ERR_OTHER when the kernel does not tell. Any thread. */
int hl_mem_where(const struct hl_piece *piece, uint64_t *bytes, size_t nodes);

/* What a piece lies on now, from the kernel's own answer. */
#define HL_MEM_NODES 64 /* nodes with higher numbers are not told */
struct hl_mem_got {
    size_t page;                  /* bytes of a page */
    size_t align;                 /* largest power of two (at most 1 GiB) that divides the address */
    uint64_t bytes[HL_MEM_NODES]; /* on each node; pages not touched yet count nowhere */
    double pmd_share; /* part of its base pages that one huge mapping serves (transparent huge pages), 0 .. 1;
                         -1: the kernel does not say; 1 on huge pages */
};

/* Tells it. HL_ERR_OTHER with the text when the kernel does not say on which nodes: page and align are there,
 * bytes 0. Any thread; cost: one system call for each 1024 pages. */
int hl_mem_got(const struct hl_piece *piece, struct hl_mem_got *out);

/* Its nodes as words, most bytes first: "7:48M,3:16M"; "" when no page is there. At most `cap` bytes with the
 * end. Returns out. */
char *hl_mem_got_nodes_text(const struct hl_mem_got *got, char *out, size_t cap);
#define HL_MEM_NODES_TEXT 512 /* enough for it */

#define HL_MEM_KINDS_TEXT 24 /* enough for all kinds */

/* The kinds of its nodes as words, most bytes first: "MCDRAM", "DDR,MCDRAM"; what is neither is "OTHER". A
 * node that counts as `asked` as well as another kind is `asked`. "" when no page is there. Returns out. */
char *hl_mem_got_kinds_text(const struct hl_mem_got *got, enum hl_mem_kind asked,
                            char out[HL_MEM_KINDS_TEXT]);

/* The rule that holds for a piece that `wish` was asked with. */
enum hl_mem_rule hl_mem_rule_held(const struct hl_piece *piece, const struct hl_mem_wish *wish);

/* Leaves the line for the first request that was not fully met to another process of the node. Start-up calls
 * it in all ranks but the first of a node. */
void hl_mem_report_mute(void);

/* Gives a piece back. Nobody, peers included, may touch it any more. A segment of its own dies here. Any
 * thread. */
void hl_mem_free(const struct hl_piece *piece);

/* For the owner of a segment that he hands out from its begin on: core files hold no more than what these
 * calls have named, which is at most doubled. Else they hold all of it, and the kernel takes memory for what
 * was never touched in order to write it. A first call with `end` 0 leaves all out. Any thread, one at a time
 * for a segment. */
void hl_mem_dump(struct hl_seg *seg, size_t end);

/* Gives the pages that lie wholly in bytes [off, off + len) of the piece, which its owner does not need now,
 * back to the system, when they came by touch and no NIC keeps them: true then, and they read as zeroes. */
bool hl_mem_discard(const struct hl_piece *piece, size_t off, size_t len);

/* Bytes that each of `sharers` processes of this machine may offer to all of them, when they are used one
 * day, as half of the memory that machine and control groups leave; no more than what limits of file size and
 * of address space (all map all) allow now. */
uint64_t hl_mem_fair_size(int sharers);

/* The living piece that begins at `addr`: for MPI_Free_mem. Returns 0, or HL_ERR_BASE (silent) when none
 * does. */
int hl_mem_piece_at(const void *addr, struct hl_piece *out);

/* My living segment that holds all of [addr, addr + len), or NULL. Any thread, no lock, a few loads. */
struct hl_seg *hl_mem_find(const void *addr, size_t len);

/* My living segment with this id, or NULL. Accepts any number. Any thread, no lock. */
struct hl_seg *hl_mem_by_id(uint64_t id);

/* What a peer needs to map a segment. */
struct hl_mem_shared {
    int fd;          /* close-on-exec and the caller's */
    size_t off, len; /* the segment's bytes in it */
    uint64_t base;   /* its address here */
    bool arena;
};

/* Tells it of my living segment `id`. Takes mem's lock, so that the segment cannot end meanwhile. Errors:
 * HL_ERR_FOUND_NONE (silent) when no such segment lives, HL_ERR_NO_MEM (no descriptor left). */
int hl_mem_share(uint64_t id, struct hl_mem_shared *out);

/* Maps a peer's segment, bytes [off, off + len) of its file, whose descriptor stays the caller's: at `at`, in
 * a range that the caller reserved, or, when that is NULL, anywhere at a multiple of HL_MEM_SEG_ALIGN.
 * `reserved`: the address was given. HL_ERR_NO_MEM with the text when it cannot be mapped or the file is
 * shorter; a reserved range stays reserved, then and after the unmapping. */
int hl_mem_map_peer(int fd, size_t off, size_t len, void *at, char **base);
void hl_mem_unmap_peer(char *base, size_t len, bool reserved);

/* Has `born` called for every living segment now and for each one made later (before anybody can find it),
 * and `dying` before a segment's memory goes. Callbacks run under mem's lock: they must not call hl_mem_alloc
 * or hl_mem_free. When `born` fails, the segment is not made and its error code is hl_mem_alloc's (here: this
 * call's, `dying` having been called for those already shown). Stays until the process ends; a second call
 * with the same functions returns 0 at once. HL_ERR_NO_SPACE after HL_MEM_WATCHERS different ones. */
int hl_mem_watch(int (*born)(struct hl_seg *seg), void (*dying)(struct hl_seg *seg));
#define HL_MEM_WATCHERS 4

/* Locks mem around fork, so that the child sees whole structures (life's atfork handlers call these). */
void hl_mem_fork_prepare(void);
void hl_mem_fork_parent(void);
void hl_mem_fork_child(void);

#endif
