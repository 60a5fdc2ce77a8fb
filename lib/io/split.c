/* Collective accesses, blocking and split. */
#include "access.h"
#include "cause.h"
#include "coll.h"
#include "err.h"

/* Number of etypes that the ranks below this one move. */
static int sum_below(struct hl_comm *comm, int64_t mine, int64_t *below)
{
    struct hl_type *type = hl_type_of(MPI_INT64_T);
    struct hl_coll_call call = {.what = HL_COLL_EXSCAN,
                                .comm = comm,
                                .op = MPI_SUM,
                                .send = {.buf = &mine, .count = 1, .type = type},
                                .recv = {.buf = below, .count = 1, .type = type}};

    *below = 0;
    int err = hl_coll_run(&call);
    *below = comm->rank == 0 ? 0 : *below;
    return err == HL_ERR_NO_MEM ? hl_coll_unable(comm, err) : err;
}

/* Sums that are too large wrap: then a rank below has a place beyond all files, and all are refused. */
static int64_t add_wrapping(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* Gives all ranks places one behind the other, from where the shared pointer is when all have called this. It
 * stays there when a rank's place is refused. */
static int take_turn(struct hl_file *f, const struct hl_view *v, int64_t etypes, int64_t *at)
{
    struct {
        int64_t err, base;
    } start = {0, 0};
    int last = f->comm->size - 1;
    int64_t below = 0;
    int err = sum_below(f->comm, etypes, &below);
    int64_t all = add_wrapping(below, etypes); /* at the last rank */

    if (f->comm->rank == last) {
        start.err = hl_counter_add(f->shared, all, &start.base);
    }
    int told = hl_coll_bcast_bytes(f->comm, &start, sizeof start, last);
    *at = add_wrapping(start.base, below);
    err = err != 0 ? err : told;
    err = err != 0 ? err : (int)start.err;
    err = hl_io_agree(f->comm, err == 0 ? hl_io_check_place(v, *at, etypes) : err);
    if (err != 0 && told == 0 && start.err == 0) {
        if (f->comm->rank == last) {
            (void)hl_counter_add(f->shared, add_wrapping(~all, 1),
                                 &start.base); /* the error is told anyway */
        }
        (void)hl_coll_bcast_bytes(f->comm, &start, sizeof start, last); /* nobody looks before */
    }
    return err;
}

static int move_in_turn(struct hl_file *f, int err, const struct hl_io_call *c, int64_t *bytes)
{
    struct hl_view *v = hl_file_view(f);
    struct hl_io_call own;
    int64_t etypes = 0;

    err = err == 0 ? hl_io_etypes(v, c, &etypes) : err;
    err = hl_io_agree(f->comm, err);
    if (err == 0) {
        own = *c;
        own.where = HL_IO_AT;
        err = take_turn(f, v, etypes, &own.offset);
    }
    hl_view_unref(v);
    if (err != 0) {
        return err;
    }
    return hl_io_agree(f->comm, hl_file_move(f, &own, bytes));
}

static int move_all(struct hl_file *f, int err, const struct hl_io_call *c, int64_t *bytes)
{
    *bytes = 0;
    if (c->where == HL_IO_TURN) {
        return move_in_turn(f, err, c, bytes);
    }
    return hl_io_agree(f->comm, err == 0 ? hl_file_move(f, c, bytes) : err);
}

int hl_file_check_split(struct hl_file *f)
{
    hl_mutex_lock(&f->lock);
    bool under_way = f->split != HL_IO_NONE;
    hl_mutex_unlock(&f->lock);
    return under_way ? hl_err_say(HL_ERR_IO,
                                  "file '%.300s' has a split collective access under way: its "
                                  "MPI_File_..._end comes first",
                                  f->name)
                     : 0;
}

int hl_file_move_all(struct hl_file *f, int err, const struct hl_io_call *c, int64_t *bytes)
{
    return move_all(f, err != 0 ? err : hl_file_check_split(f), c, bytes);
}

int hl_file_begin(struct hl_file *f, int err, enum hl_io_split sort, const struct hl_io_call *c)
{
    int64_t bytes = 0;

    err = move_all(f, err != 0 ? err : hl_file_check_split(f), c, &bytes);
    if (err == 0) {
        hl_mutex_lock(&f->lock);
        f->split = sort;
        f->split_writes = c->write;
        f->split_buf = c->buf;
        f->split_bytes = bytes;
        hl_mutex_unlock(&f->lock);
    }
    return err;
}

int hl_file_end(struct hl_file *f, enum hl_io_split sort, bool write, const void *buf, int64_t *bytes)
{
    int err = 0;

    hl_mutex_lock(&f->lock);
    if (f->split != sort || f->split_writes != write) {
        err = hl_err_say(
            HL_ERR_IO,
            "file '%.300s' has no access under way that this call ends: call its MPI_File_..._begin before",
            f->name);
    } else if (f->split_buf != buf) {
        err = hl_err_say(HL_ERR_BUFFER, "the access was begun with buffer %p, not %p", f->split_buf, buf);
    } else {
        f->split = HL_IO_NONE;
        *bytes = f->split_bytes;
    }
    hl_mutex_unlock(&f->lock);
    return err;
}
