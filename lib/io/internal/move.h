/* Inside the module: the engine that moves bytes between memory and file, span by span. */
#ifndef HL_IO_MOVE_H
#define HL_IO_MOVE_H

#include <sys/uio.h>

#include "io.h"

#define HL_IO_PIECES 64 /* pieces of memory that one system call moves */

/* A transfer between bytes [at, at + bytes) of a view and memory. Spans that follow each other in the file go
 * by one system call, whatever pieces of memory they are. One thread at a time. */
struct hl_io_move {
    struct hl_file *file;
    bool write, ended;
    struct hl_type_cursor memory, disk;
    int64_t left; /* bytes that were not fetched from the cursors yet */
    int64_t done; /* bytes moved */
    char *held;   /* a span that was fetched but did not follow the others; held_len 0: none */
    int64_t held_place, held_len;
    int err; /* first error; its text is with the thread that met it */
};

struct hl_io_span {
    const struct hl_view *view;
    int64_t at, bytes;    /* bytes of the view */
    struct hl_type *type; /* memory: `count` elements at buf, from packed byte `from` on */
    int64_t count, from;
    void *buf;
};

/* Prepares a transfer, which hl_io_move_fini ends. HL_ERR_ARG, HL_ERR_NO_MEM: there is nothing to end. */
int hl_io_move_init(struct hl_io_move *m, struct hl_file *f, bool write, const struct hl_io_span *span);
void hl_io_move_fini(struct hl_io_move *m);

/* Moves about `most` bytes, or all that is left. True when the transfer has ended: all is moved, the file has
 * ended before, or m->err is set. */
bool hl_io_move_step(struct hl_io_move *m, int64_t most);

#endif
