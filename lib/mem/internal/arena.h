/* Inside the module: arenas, segments that pieces of many owners share.
 *
 * Pages of an arena are taken with the first piece on them and given back with the last one, so an arena
 * never holds a page that nobody uses. Huge pages are populated before a piece is handed out, so the touch of
 * a piece never ends in a signal. */
#ifndef HL_MEM_ARENA_H
#define HL_MEM_ARENA_H

#include "mem_internal.h"

/* What all pieces of an arena share. */
struct hl_arena_key {
    enum hl_mem_policy policy;
    uint64_t nodes;
    size_t page;    /* bytes of a page */
    bool memkind;   /* memkind cuts the pieces, where it can be used */
    bool hidden;    /* the library's own buffers: watchers are not told of them */
    bool symmetric; /* begins where ranks that call alike have theirs (symmetric.h) */
};

/* True: the program asked for huge pages, so the library's own buffers take none of them from now on. */
extern bool hl_arena_user_huge HL_GUARDED_BY(hl_mem_lock);

/* Pages that the pieces of all arenas with this key hold. */
size_t hl_arena_held(const struct hl_arena_key *key) HL_REQUIRES(hl_mem_lock);

/* True when a piece of this length and alignment is small enough for an arena. */
bool hl_arena_holds(size_t len, size_t align, const struct hl_arena_key *key);

/* Cuts a piece, from a new arena if necessary. Huge pages are taken now; base pages with `populate` or under
 * HL_MEM_BIND. Returns 0, HL_ERR_NO_MEM (nothing is held then; without a text when the kernel refuses pages),
 * or what a watcher returned. */
int hl_arena_cut(size_t len, size_t align, bool populate, const struct hl_arena_key *key,
                 struct hl_piece *out) HL_REQUIRES(hl_mem_lock);

/* Gives back the piece that begins at `off` of an arena. */
void hl_arena_give(const struct hl_seg *seg, size_t off) HL_REQUIRES(hl_mem_lock);

/* Marks a piece as the program's; hl_arena_is_marked: one begins there. memkind's pieces always are. */
void hl_arena_mark(const struct hl_piece *piece) HL_REQUIRES(hl_mem_lock);
bool hl_arena_is_marked(const struct hl_seg *seg, size_t off) HL_REQUIRES(hl_mem_lock);

/* Length of the piece that begins at `off`, or 0 when none does. */
size_t hl_arena_len_at(const struct hl_seg *seg, size_t off) HL_REQUIRES(hl_mem_lock);

#endif
