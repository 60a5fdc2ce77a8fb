/* Memory of node peers: mapped into this process, or copied by the kernel where it is not. */
#ifndef HL_NEAR_MAP_H
#define HL_NEAR_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- mapping ---- */

/* One wanted mapping: the caller sets the first four fields, hl_near_map_all sets the last two. */
struct hl_near_want {
    int node_rank;   /* owner; may be this rank */
    uint64_t seg_id; /* the owner's hl_seg.id */
    size_t seg_len;  /* its hl_seg.len */
    void *at;   /* wanted address, in a range that the caller reserved (hl_mem_reserve); NULL: anywhere */
    char *base; /* address of the mapping in this process; NULL when rc != 0 */
    int rc;     /* 0, or the error of this mapping */
};

/* Maps peers' segments. It opens the files that their owners list in the board; where that is not possible,
 * it asks the owners and waits for the answers of their receive threads. The receive thread of this rank must
 * run (rx started), or another thread must call hl_near_serve. Each success holds one reference, which
 * hl_near_unmap gives back. Mappings are cached: an existing one costs no message, and refusals are kept,
 * too. Returns 0 when all rc are 0, else the first rc that is not: HL_ERR_RMA_SHARED (the owner cannot share
 * the segment, or this rank cannot map it: use the network; the text says why), HL_ERR_PROC_ABORTED (the
 * owner has died), HL_ERR_NO_MEM (with the text). Any thread but the receive thread. */
int hl_near_map_all(struct hl_near_want *wants, size_t count);

/* Maps one segment, anywhere, as hl_near_map_all does; sets *base on success. */
int hl_near_map(int node_rank, uint64_t seg_id, size_t seg_len, char **base);

/* Gives one reference of a mapping back. Returns true when the segment was unmapped: that happens with the
 * last reference, but never to an arena, which lives as long as its owner. A range in which the mapping was
 * placed is reserved again. False for a segment of this rank. Any thread. */
bool hl_near_unmap(int node_rank, uint64_t seg_id);

/* Sets *here to where bytes [theirs, theirs + len) of a peer's segment are mapped in this process; `theirs`
 * is an address at the owner. The caller then holds a reference, which hl_near_unmap gives back. Returns
 * false when these bytes are not all mapped. Sends nothing. Any thread. */
bool hl_near_borrow(int node_rank, uint64_t seg_id, uint64_t theirs, size_t len, char **here);

/* The node rank of the peer that owns the mapped segment in which this address lies, or -1. Any thread. */
int hl_near_owner(const void *addr);

/* Handles one message of the node socket, sent by node rank `from` with descriptor `fd` (or -1). The receive
 * thread calls it for every message; it never waits for long. Returns 0 when the message belongs to near,
 * which then owns fd, or HL_ERR_FOUND_NONE (without a text) when it belongs to another module: near's
 * messages begin with HL_NEAR_MAGIC. */
int hl_near_serve(const void *msg, size_t len, int from, int fd);
#define HL_NEAR_MAGIC 0x7261654eu /* "Near", the first 32 bits */

/* ---- memory that is not mapped ---- */

enum hl_near_way { HL_NEAR_READ, HL_NEAR_WRITE };

/* Copies `len` bytes between `mine` and the address `theirs` of process `pid`, through the kernel. Returns
 * how many bytes were copied: fewer than `len` when the kernel refuses, and errno says why (EPERM: not
 * permitted; ESRCH: no such process; EFAULT: nothing is mapped there). Any thread. */
size_t hl_near_kernel_copy(pid_t pid, enum hl_near_way way, void *mine, uint64_t theirs, size_t len);

/* Copies between a list of pieces here and one in process `pid` by one system call: at most HL_NEAR_PIECES
 * pieces on each side and 1 GiB in all. Returns the bytes copied; errno is set as hl_near_kernel_copy
 * does. */
struct iovec;
#define HL_NEAR_PIECES 64
size_t hl_near_kernel_pieces(pid_t pid, enum hl_near_way way, const struct iovec *mine, size_t n_mine,
                             const struct iovec *theirs, size_t n_theirs);

/* ---- opening ---- */

/* Bytes of the board that the lists of segments of `node_size` ranks take. */
size_t hl_near_map_board_bytes(int node_size);

/* Lists this rank's segments in these bytes, which were zero before the first rank came, so that peers find
 * them there from then on. Returns 0 or an error of hl_mem_watch. */
int hl_near_map_open(void *board);

#endif
