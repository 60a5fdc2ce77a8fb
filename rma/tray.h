/* Private memory of node peers, by the peer's receive thread. */
#ifndef HL_TRAY_H
#define HL_TRAY_H

#include "rx.h"
#include "win.h"

#define HL_TRAY_HALF (HL_NEAR_TRAY_BYTES / 2)
#define HL_TRAY_LARGEST 32 /* bytes of the largest basic type's extent */

/* Puts or gets `len` bytes at offset `at` of a near target's window, and waits until it is done. Any thread
 * but the receive thread. HL_ERR_RMA_RANGE, HL_ERR_PROC_ABORTED. */
int hl_tray_move(const struct hl_move *m, uint64_t at, char *mine, size_t len);

/* The arguments of hl_near_acc, for such a target; they move on. */
struct hl_tray_acc {
    struct hl_win *win;
    int target;
    enum hl_op_kind op;
    enum hl_basic basic;
    uint64_t at; /* offset in the target's window */
    const char *origin;
    char *result; /* or NULL */
    size_t n;
};

int hl_tray_acc(struct hl_tray_acc *a);

/* An operation on layouts: walks over them, of bytes or elements; those of theirs are at hl_zip_at. Puts and
 * gets are of HL_BASIC_BYTE. Many blocks travel at a time. The walks move on. */
struct hl_tray_rows {
    struct hl_win *win;
    int target;
    bool acc; /* by `op`; else a put (operands) or a get (result) */
    enum hl_op_kind op;
    enum hl_basic basic;
    struct hl_type_cursor *theirs, *operands, *result; /* NULL: there are none */
    int64_t left;                                      /* bytes or elements */
};

int hl_tray_rows(struct hl_tray_rows *r);
int hl_tray_cas(const struct hl_tray_acc *a, const void *compare);

/* The handler of HL_WIRE_TRAY: does what a peer asks for and says so in its tray. */
int hl_tray_serve(const struct hl_rx_msg *msg);

/* The elements that a record names, in my memory, and their bytes; NULL when they are not in the window. With
 * the window held by hl_win_table_with. */
char *hl_win_locate(const struct hl_win *w, const struct hl_wire_rec *rec, size_t *bytes);

/* The lock of elements that hl_win_locate found. */
struct hl_near_lock *hl_win_acc_lock(const struct hl_win *w, const void *there);

#endif
