/* Accesses to data that have another form in the file: through a buffer, a part at a time. */
#include <stdlib.h>

#include "access.h"
#include "err.h"
#include "move.h"

#define ROOM ((int64_t)1 << 20) /* bytes of the buffer, or one element */

struct file_conversion {
    struct hl_file *file;
    const struct hl_io_call *call;
    const struct hl_io_job *job;
    int64_t each; /* bytes of an element in the file */
    int64_t done; /* bytes of memory that were moved */
    char *room;   /* the buffer, with data in the file's form */
    int err;      /* first error; a value that does not fit does not stop the access */
};

static void keep_error(struct file_conversion *k, int err)
{
    k->err = k->err != 0 ? k->err : err;
}

/* Moves the file's bytes of `n` elements from `first` on; returns how many bytes. */
static int64_t move_room(struct file_conversion *k, int64_t first, int64_t n)
{
    struct hl_io_move m;
    int64_t bytes = n * k->each;
    struct hl_io_span span = {
        k->job->view, k->job->at + first * k->each, bytes, hl_type_of(MPI_BYTE), bytes, 0, k->room};
    int err = hl_io_move_init(&m, k->file, k->call->write, &span);

    if (err != 0) {
        keep_error(k, err);
        return 0;
    }
    while (!hl_io_move_step(&m, bytes)) {
    }
    hl_io_move_fini(&m);
    keep_error(k, m.err);
    return m.done;
}

/* Converts `n` elements between memory `at` and the buffer. False when there are no data then: a function of
 * the program failed. external32 has them all, also where one does not fit. */
static bool convert_room(struct file_conversion *k, int64_t n, char *at)
{
    const struct hl_rep *rep = k->job->view->rep;
    int err = hl_rep_convert(rep, k->call->type, n, at, k->room, k->call->write);

    keep_error(k, err);
    return err == 0 || rep->user.extent == NULL;
}

/* Moves and converts `n` elements. False when nothing follows: an error of the file or of a function, or the
 * end of the file. */
static bool move_some(struct file_conversion *k, int64_t first, int64_t n)
{
    const struct hl_io_call *c = k->call;
    char *at = (char *)c->buf + first * hl_type_extent(c->type);

    if (c->write && !convert_room(k, n, at)) {
        return false;
    }
    int64_t moved = move_room(k, first, n), whole = moved / k->each, rest = moved % k->each;
    if (!c->write && whole > 0 && !convert_room(k, whole, at)) {
        return false;
    }
    k->done += whole * c->type->size;
    if (!c->write && rest > 0) { /* the file ended within an element */
        struct hl_rep_part part = {c->type, k->each, k->room + whole * k->each, rest};
        int64_t bytes = 0;
        keep_error(k,
                   hl_rep_read_part(k->job->view->rep, &part, at + whole * hl_type_extent(c->type), &bytes));
        k->done += bytes;
    }
    return whole == n;
}

int hl_io_convert(struct hl_file *f, const struct hl_io_call *c, const struct hl_io_job *j, int64_t *bytes)
{
    struct file_conversion k = {.file = f, .call = c, .job = j};
    int err = hl_rep_bytes(j->view->rep, c->type, 1, &k.each);

    if (err != 0 || k.each == 0) {
        return err;
    }
    int64_t room = ROOM / k.each > 0 ? ROOM / k.each : 1;
    int64_t wanted = room * k.each;
    k.room = malloc((size_t)wanted);
    if (k.room == NULL) {
        keep_error(&k, hl_err_say(HL_ERR_NO_MEM, "no memory to convert %lld bytes", (long long)wanted));
    } else {
        for (int64_t first = 0; first < c->count; first += room) {
            if (!move_some(&k, first, c->count - first < room ? c->count - first : room)) {
                break;
            }
        }
    }
    free(k.room);
    *bytes = k.done;
    return k.err;
}
