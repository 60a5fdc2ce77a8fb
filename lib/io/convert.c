/* Accesses of data that look other in the file: by way of a buffer, a part of it at a time. */
#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "err.h"
#include "move.h"

#define ROOM ((int64_t)1 << 20) /* bytes of the buffer, or one element */

struct conversion {
    struct hl_file *file;
    const struct hl_io_call *call;
    const struct hl_io_job *job;
    int64_t each; /* bytes of an element in the file */
    int64_t done; /* bytes in memory that were moved whole */
    char *room;   /* of the file's form */
    char *spare;  /* for one element */
    int err;      /* the first; conversions that fail do not stop the access */
};

static void keep(struct conversion *k, int err)
{
    k->err = k->err != 0 ? k->err : err;
}

/* The file's bytes of elements from `first` on; returns how many were moved. */
static int64_t move_room(struct conversion *k, int64_t first, int64_t n)
{
    struct hl_io_move m;
    int64_t bytes = n * k->each;
    struct hl_io_span span = {
        k->job->view, k->job->at + first * k->each, bytes, hl_type_of(MPI_BYTE), bytes, 0, k->room};
    int err = hl_io_move_init(&m, k->file, k->call->write, &span);

    if (err != 0) {
        keep(k, err);
        return 0;
    }
    while (!hl_io_move_step(&m, bytes)) {
    }
    hl_io_move_fini(&m);
    keep(k, m.err);
    return m.done;
}

/* The file ended within an element, after `n` bytes of it: its whole numbers are taken (where they are all of
 * one size), and the rest of it stays what it is in memory. */
static void read_part(struct conversion *k, char *at, const char *bytes, int64_t n)
{
    const struct hl_rep *rep = k->job->view->rep;
    const struct hl_type *t = k->call->type;

    if (t->basic == HL_BASIC_MIXED) {
        return;
    }
    int64_t whole = n / (k->each / t->elements);
    (void)hl_rep_convert(rep, t, 1, at, k->spare, true);
    memcpy(k->spare, bytes, (size_t)(whole * (k->each / t->elements)));
    keep(k, hl_rep_convert(rep, t, 1, at, k->spare, false));
    k->done += whole * (t->size / t->elements);
}

/* False when that is all: an error of the file, or its end. */
static bool move_some(struct conversion *k, int64_t first, int64_t n)
{
    const struct hl_io_call *c = k->call;
    const struct hl_rep *rep = k->job->view->rep;
    char *at = (char *)c->buf + first * hl_type_extent(c->type);

    if (c->write) {
        keep(k, hl_rep_convert(rep, c->type, n, at, k->room, true));
    }
    int64_t moved = move_room(k, first, n), whole = moved / k->each, rest = moved % k->each;
    if (!c->write && whole > 0) {
        keep(k, hl_rep_convert(rep, c->type, whole, at, k->room, false));
    }
    k->done += whole * c->type->size;
    if (!c->write && rest > 0) {
        read_part(k, at + whole * hl_type_extent(c->type), k->room + whole * k->each, rest);
    }
    return whole == n;
}

int hl_io_convert(struct hl_file *f, const struct hl_io_call *c, const struct hl_io_job *j, int64_t *bytes)
{
    struct conversion k = {.file = f, .call = c, .job = j};
    int err = hl_rep_bytes(j->view->rep, c->type, 1, &k.each);

    if (err != 0 || k.each == 0) {
        return err;
    }
    int64_t room = ROOM / k.each > 0 ? ROOM / k.each : 1;
    int64_t wanted = room * k.each;
    k.room = malloc((size_t)wanted);
    k.spare = malloc((size_t)k.each);
    if (k.room == NULL || k.spare == NULL) {
        keep(&k, hl_err_say(HL_ERR_NO_MEM, "no memory to convert %lld bytes", (long long)wanted));
    } else {
        for (int64_t first = 0; first < c->count; first += room) {
            if (!move_some(&k, first, c->count - first < room ? c->count - first : room)) {
                break;
            }
        }
    }
    free(k.room);
    free(k.spare);
    *bytes = k.done;
    return k.err;
}
