/* Operations on private memory of node peers, which the peer's receive thread does. */
#ifndef HL_RPC_H
#define HL_RPC_H

#include "rx.h"
#include "win.h"

#define HL_RPC_HALF (HL_NEAR_RPC_BYTES / 2)
#define HL_RPC_LARGEST 32 /* bytes of the largest basic type's extent */

/* Puts or gets `len` bytes at offset `at` of a near target's window, and waits until it is done. Of m it
 * reads win, target and dir. Any thread but the receive thread. HL_ERR_RMA_RANGE, HL_ERR_PROC_ABORTED, errors
 * of hl_rx_send. */
int hl_rpc_move(const struct hl_move *m, uint64_t at, char *mine, size_t len);

/* An accumulate on n contiguous elements of such a target, with the arguments of hl_near_acc. hl_rpc_acc
 * moves at, origin, result and n on. */
struct hl_rpc_acc {
    struct hl_win *win;
    int target;
    enum hl_op_kind op;
    enum hl_basic basic;
    uint64_t at; /* offset in the target's window */
    const char *origin;
    char *result; /* gets the old elements, or NULL */
    size_t n;
};

int hl_rpc_acc(struct hl_rpc_acc *a);

/* An operation on layouts, given as walks over bytes or elements; blocks of `theirs` are at
 * hl_layout_at(offset). Puts and gets are of HL_BASIC_BYTE. Many blocks travel at a time. The walks move
 * on. */
struct hl_rpc_rows {
    struct hl_win *win;
    int target;
    bool acc; /* accumulates by `op`; else a put (has operands) or a get (has result) */
    enum hl_op_kind op;
    enum hl_basic basic;
    struct hl_type_cursor *theirs, *operands, *result; /* operands, result: NULL: there are none */
    int64_t left;                                      /* bytes or elements still to do */
};

int hl_rpc_rows(struct hl_rpc_rows *r);
int hl_rpc_cas(const struct hl_rpc_acc *a, const void *compare);

/* The handler of HL_WIRE_RPC: does what a peer asks for and writes the result into the peer's request
 * slot. */
int hl_rpc_serve(const struct hl_rx_msg *msg);

/* The address of the elements in my memory that a record names, or NULL when they are not in the window.
 * *bytes: their length. The caller holds the window by hl_win_table_with. */
char *hl_win_locate(const struct hl_win *w, const struct hl_wire_rec *rec, size_t *bytes);

/* The lock of the elements at `there`, which hl_win_locate has returned. The caller still holds the
 * window. */
struct hl_near_lock *hl_win_acc_lock(const struct hl_win *w, const void *there);

#endif
