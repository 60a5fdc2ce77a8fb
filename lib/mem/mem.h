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
 * at once; so a caller must close the registration of a piece before it frees the piece. A refused request
 * changes nothing. A shortage is an error code with its text, never a signal. */
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
    HL_MEM_SYSTEM,    /* the system places them (first touch, numactl) */
    HL_MEM_PREFER,    /* on the one node named while it has room, else elsewhere */
    HL_MEM_BIND,      /* on the nodes named, or an error: they are populated, and their nodes proved */
    HL_MEM_INTERLEAVE /* page by page over the nodes named, while these have room */
};

/* Fields are read-only while the segment lives, but for those that say otherwise. The structure itself is
 * never unmapped, so that a stale pointer or id can be told from a living one. */
struct hl_seg {
    hl_a64 live;     /* id while it lives, 0 before and after; atomic */
    uint64_t id;     /* per rank, never 0, never reused */
    char *base;      /* HL_MEM_SEG_ALIGN aligned */
    size_t len;      /* bytes, a multiple of page */
    size_t page;     /* bytes of a page */
    int fd;          /* the memfd, close-on-exec; mem closes it */
    size_t file_off; /* where in the file the segment begins */
    uint64_t nodes;  /* bit i: node i; 0 when the system places */
    enum hl_mem_policy policy;
    struct hl_arena *arena; /* the arena: many owners share it and it never dies; NULL: one piece */
    bool reserved;  /* lies in a range that its owner reserved; the range is reserved again afterwards */
    bool only_mine; /* was asked for with it */
    bool lazy;      /* pages come when they are touched; no size or node of them was asked */
    size_t dumped;  /* bytes from the begin that core files hold; under mem's lock, or the owner's */
    uint64_t key;   /* fab's: registration key of the whole segment, 0: none; set in fab's born callback */
    void *mr;       /* fab's: the registration; set in fab's born callback */
    bool same;      /* at a place of symmetric.h, which is given back with the segment */
    bool pinned;    /* the owner's, not in arenas: a NIC keeps pages, so no page goes back to the system */
};

struct hl_piece {
    struct hl_seg *seg;
    size_t off; /* bytes from seg->base */
    size_t len; /* usable bytes, at least those asked for */
    void *addr; /* seg->base + off */
};

/* What a caller wants beyond the length; NULL or all zero: plain memory. */
struct hl_mem_ask {
    size_t align;                   /* power of two, 0 = HL_MEM_ALIGN */
    bool own_segment;               /* a segment of its own, no part of an arena */
    bool symmetric;                 /* at the address that ranks get which call alike, if it is free */
    void *place;                    /* with symmetric: this address and no other, if it is free */
    void *at;                       /* the address, in a range that the caller reserved; NULL: anywhere */
    size_t page_most;               /* largest page size, whatever the wish says; 0: no limit */
    bool populate;                  /* take all pages now */
    bool only_mine;                 /* the program frees it by its address (hl_mem_piece_at), and no peer
                                       hears of it: memkind may cut it below half a page */
    const struct hl_mem_wish *wish; /* kind, page size and rule; NULL: nothing asked */
    const char *caller; /* the asking call for reports and errors ("MPI_Alloc_mem"); NULL: the library */
};

#define HL_MEM_ALIGN ((size_t)64)          /* least alignment and length of pieces */
#define HL_MEM_SEG_ALIGN ((size_t)2 << 20) /* least alignment of segments */
#define HL_MEM_ARENA ((size_t)64 << 20)    /* bytes of an arena's address space */
#define HL_MEM_OWN ((size_t)8 << 20)       /* pieces of this length or above this alignment own a segment */

/* Reserves `len` bytes of address space at a multiple of `align` (a power of two, at least HL_MEM_SEG_ALIGN).
 * That is no memory: touching it is a fault. The caller gives it back with hl_mem_unreserve, once nothing is
 * mapped in it any more. Returns 0, or HL_ERR_NO_MEM with the text (limit of address space). Any thread. */
int hl_mem_reserve(size_t len, size_t align, char **base);
void hl_mem_unreserve(char *base, size_t len);

/* Lets pieces that are asked for with `symmetric` begin where all ranks that call this with the same `seed`
 * have them; before, they lie anywhere. A later call changes nothing. Once, before other threads use mem. */
void hl_mem_symmetric_begin(uint64_t seed);

/* The end of the last of these pieces: behind it all addresses are free, as far as this module knows. NULL:
 * there was no hl_mem_symmetric_begin. Any thread. */
char *hl_mem_symmetric_top(void);

/* Makes a piece of at least `len` bytes (0 counts as 1). The bytes are NOT zeroed. The caller owns the piece
 * until hl_mem_free. Any thread; takes mem's lock and may call the watchers. With ask->at, a multiple of
 * HL_MEM_SEG_ALIGN, of ask->align and of the page size asked for, the piece owns its segment and begins
 * there; the caller must have reserved `len` bytes from there on, rounded up to that page size, and finds
 * them reserved again when the call fails and after hl_mem_free. Returns 0, HL_ERR_NO_MEM (the text has the
 * size, the cause and the limit met), HL_ERR_ARG with the text (the alignment is no power of two, or `at` is
 * not a multiple of it), or what a watcher returned. */
int hl_mem_alloc(size_t len, const struct hl_mem_ask *ask, struct hl_piece *out);

/* Sets bytes[i] to how many bytes of the piece's pages lie on node i, for i < `nodes` (whole pages; pages not
 * touched yet count nowhere). Returns 0, or HL_ERR_OTHER with the text when the kernel does not say. Any
 * thread. */
int hl_mem_where(const struct hl_piece *piece, uint64_t *bytes, size_t nodes);

/* The pages under a piece, as the kernel reports them. */
#define HL_MEM_NODES 64 /* nodes with higher numbers are left out */
struct hl_mem_got {
    size_t page;                  /* bytes of a page */
    size_t align;                 /* largest power of two (at most 1 GiB) that divides the address */
    uint64_t bytes[HL_MEM_NODES]; /* on each node; pages not touched yet count nowhere */
    double pmd_share; /* share of its base pages that are mapped by transparent huge pages, 0 .. 1; -1: the
                         kernel does not say; 1 on huge pages */
};

/* Fills `out`. Returns 0, or HL_ERR_OTHER with the text when the kernel does not say on which nodes the pages
 * are: page and align are set then, bytes are 0. Any thread; costs one system call for each 64 pages. */
int hl_mem_got(const struct hl_piece *piece, struct hl_mem_got *out);

/* Writes the nodes of `got` as words, most bytes first: "7:48M,3:16M"; "" when no page is there. Writes at
 * most `cap` bytes with the final NUL. Returns out. */
char *hl_mem_got_nodes_text(const struct hl_mem_got *got, char *out, size_t cap);
#define HL_MEM_NODES_TEXT 512 /* enough for the nodes' words */

#define HL_MEM_KINDS_TEXT 24 /* enough for all kinds */

/* Writes the kinds of the nodes of `got` as words, most bytes first: "MCDRAM", "DDR,MCDRAM"; a node of
 * another kind is "OTHER". A node that counts as `asked` and as another kind is `asked`. Writes "" when no
 * page is there. Returns out. */
char *hl_mem_got_kinds_text(const struct hl_mem_got *got, enum hl_mem_kind asked,
                            char out[HL_MEM_KINDS_TEXT]);

/* The rule that was applied to a piece that was allocated with `wish`. */
enum hl_mem_rule hl_mem_rule_held(const struct hl_piece *piece, const struct hl_mem_wish *wish);

/* Leaves the line for the first request that was not fully met to another process of the node. Start-up calls
 * it in all ranks but the first of a node. */
void hl_mem_report_mute(void);

/* Gives a piece back. Nobody, peers included, may touch it any more. A segment of its own ends here. Any
 * thread. */
void hl_mem_free(const struct hl_piece *piece);

/* Limits what core files hold of a segment to the bytes up to `end` from its begin, at most doubled; `end`
 * never goes back. For the owner of a segment who hands its bytes out from the begin on. Without this call a
 * core file holds all of the segment, and the kernel takes memory for pages that were never touched in order
 * to write them. A first call with `end` 0 leaves all out. Any thread, one at a time for a segment. */
void hl_mem_dump(struct hl_seg *seg, size_t end);

/* Gives the pages that lie wholly in bytes [off, off + len) of the piece back to the system, if they came by
 * touch and no NIC keeps them. True: that was done, and these bytes read as zeroes. For the piece's owner. */
bool hl_mem_discard(const struct hl_piece *piece, size_t off, size_t len);

/* Makes the first `len` bytes of a new piece zero, for its owner. Pages of a long one that nobody has touched
 * stay untouched. */
void hl_mem_zero(const struct hl_piece *piece, size_t len);

/* Bytes of memory that each of `sharers` processes of this machine may offer to all of them, if half of what
 * the machine and control groups have is to suffice once all of it is used. It is at most what the limits of
 * file size and of address space (each process maps all of it) allow now. */
uint64_t hl_mem_fair_size(int sharers);

/* Bytes of the largest page that the kernel offers and that is at most `asked`; of a base page if none is.
 * Reads /sys. Any thread. */
size_t hl_mem_page_natural(size_t asked);

/* Finds the living piece that begins at `addr` and was asked for with `only_mine`, for MPI_Free_mem. Returns
 * 0, or HL_ERR_BASE without a text when there is none. Any thread. */
int hl_mem_piece_at(const void *addr, struct hl_piece *out);

/* The living segment of this process that holds all of [addr, addr + len), or NULL. Any thread, no
 * lock, a few loads. */
struct hl_seg *hl_mem_find(const void *addr, size_t len);

/* The living segment of this process with this id, or NULL. Accepts any number. Any thread, no lock. */
struct hl_seg *hl_mem_by_id(uint64_t id);

/* What a peer needs to map a segment. */
struct hl_mem_shared {
    int fd;          /* close-on-exec; the caller closes it */
    size_t off, len; /* the segment's bytes in the file */
    uint64_t base;   /* the segment's address in this process */
    bool arena;
};

/* Fills `out` for the living segment `id` of this process. Takes mem's lock, so that the segment cannot end
 * meanwhile. Returns 0, HL_ERR_FOUND_NONE without a text when no such segment lives, or HL_ERR_NO_MEM with
 * the text (no descriptor left). Any thread. */
int hl_mem_share(uint64_t id, struct hl_mem_shared *out);

/* Maps bytes [off, off + len) of the file of a peer's segment: at `at`, in a range that the caller reserved,
 * or, when that is NULL, anywhere at a multiple of HL_MEM_SEG_ALIGN. The descriptor stays the caller's.
 * Returns 0 and sets *base, or returns HL_ERR_NO_MEM with the text when the bytes cannot be mapped or the
 * file is shorter; a reserved range stays reserved then. */
int hl_mem_map_peer(int fd, size_t off, size_t len, void *at, char **base);

/* Unmaps what hl_mem_map_peer has mapped. `reserved`: `at` was given; the range is reserved again in the same
 * call, so that no other mapping can get in. */
void hl_mem_unmap(char *base, size_t len, bool reserved);

/* Calls `born` for every living segment now and for each new one (before anybody can find it), and `dying`
 * before a segment's memory goes. Both run under mem's lock, so they must not call hl_mem_alloc or
 * hl_mem_free. When `born` fails for a new segment, hl_mem_alloc fails with its error. When it fails in this
 * call, `dying` is called for the segments already shown, and this call returns its error. The functions stay
 * until the process ends; a second call with the same functions returns 0 at once. HL_ERR_NO_SPACE with the
 * text after HL_MEM_WATCHERS different ones. Any thread. */
int hl_mem_watch(int (*born)(struct hl_seg *seg), void (*dying)(struct hl_seg *seg));
#define HL_MEM_WATCHERS 4

/* Hold mem's lock around fork, so that the child sees whole structures (life's atfork handlers call
 * these). */
void hl_mem_fork_prepare(void);
void hl_mem_fork_parent(void);
void hl_mem_fork_child(void);

#endif
