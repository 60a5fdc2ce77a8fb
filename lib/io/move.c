/* Spans of memory and of the file, moved by preadv and pwritev. */
#include "move.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cause.h"
#include "err.h"

int hl_io_move_init(struct hl_io_move *m, struct hl_file *f, bool write, const struct hl_io_span *span)
{
    int err = hl_view_walk(span->view, span->at, span->bytes, &m->disk);

    if (err != 0) {
        return err;
    }
    err = hl_type_cursor_init(&m->memory, HL_WALK_BYTES, span->type, span->count, span->buf, span->from);
    if (err != 0) {
        hl_type_cursor_fini(&m->disk);
        return hl_err_say(err, "no memory to walk over a datatype");
    }
    m->file = f;
    m->write = write;
    m->ended = false;
    m->left = span->bytes;
    m->done = 0;
    m->held_len = 0;
    m->err = 0;
    return 0;
}

void hl_io_move_fini(struct hl_io_move *m)
{
    hl_type_cursor_fini(&m->memory);
    hl_type_cursor_fini(&m->disk);
}

/* Pieces of memory that belong to one stretch of the file. */
struct file_stretch {
    int64_t place, len;
    int n;
    struct iovec piece[HL_IO_PIECES];
};

static bool fetch_stretches(struct hl_io_move *m)
{
    char *place;

    if (m->held_len == 0 && m->left > 0) {
        m->held_len = hl_type_cursor_common(&m->memory, &m->disk, m->left, &m->held, &place);
        m->held_place = m->held_len > 0 ? hl_view_place(place) : 0;
        m->left -= m->held_len;
    }
    return m->held_len > 0;
}

/* Gathers the next stretch, of about `most` bytes; false at the end. */
static bool gather_pieces(struct hl_io_move *m, int64_t most, struct file_stretch *s)
{
    s->n = 0;
    s->len = 0;
    while (s->len < most && fetch_stretches(m)) {
        struct iovec *last = &s->piece[s->n - (s->n > 0)];
        bool joins = s->n > 0 && (char *)last->iov_base + last->iov_len == m->held;
        if (s->n > 0 && (m->held_place != s->place + s->len || (!joins && s->n == HL_IO_PIECES))) {
            break;
        }
        int64_t n = m->held_len < most - s->len ? m->held_len : most - s->len;
        if (s->n == 0) {
            s->place = m->held_place;
        }
        if (joins) {
            last->iov_len += (size_t)n;
        } else {
            s->piece[s->n++] = (struct iovec){m->held, (size_t)n};
        }
        s->len += n;
        m->held += n;
        m->held_place += n;
        m->held_len -= n;
    }
    return s->n > 0;
}

static int say_move_refused(const struct hl_io_move *m, const struct file_stretch *s, int64_t done, int error)
{
    char words[128];

    return hl_err_say(hl_io_class(error), "%s %lld bytes at byte %lld failed: %s (errno %d), file '%.300s'",
                      m->write ? "writing" : "reading", (long long)(s->len - done),
                      (long long)(s->place + done), strerror_r(error, words, sizeof words), error,
                      m->file->name);
}

/* Skips the first `n` bytes. */
static struct iovec *skip_bytes(struct iovec *piece, struct iovec *end, size_t n)
{
    while (piece < end && n >= piece->iov_len) {
        n -= piece->iov_len;
        piece++;
    }
    if (n > 0) {
        piece->iov_base = (char *)piece->iov_base + n;
        piece->iov_len -= n;
    }
    return piece;
}

/* One system call: returns the bytes that it moved, or a negative errno. */
static ssize_t call_system(const struct hl_io_move *m, const struct iovec *piece, int n, int64_t place)
{
    if (m->write && place >= m->file->most) {
        return -EFBIG; /* there the system would send a signal that ends the process */
    }
    ssize_t moved = TEMP_FAILURE_RETRY(m->write ? pwritev(m->file->fd, piece, n, place)
                                                : preadv(m->file->fd, piece, n, place));
    if (moved == 0 && m->write) {
        return -EIO;
    }
    return moved < 0 ? -errno : moved;
}

/* Moves a stretch. False when nothing more can be moved: an error, or the file has ended. */
static bool transfer_stretch(struct hl_io_move *m, struct file_stretch *s)
{
    struct iovec *piece = s->piece, *end = s->piece + s->n;
    int64_t done = 0;

    while (done < s->len) {
        ssize_t moved = call_system(m, piece, (int)(end - piece), s->place + done);
        if (moved < 0) {
            m->err = say_move_refused(m, s, done, (int)-moved);
        }
        if (moved <= 0) {
            return false;
        }
        done += moved;
        m->done += moved;
        piece = skip_bytes(piece, end, (size_t)moved);
    }
    return true;
}

bool hl_io_move_step(struct hl_io_move *m, int64_t most)
{
    struct file_stretch s;

    for (int64_t moved = 0; !m->ended && moved < most; moved += s.len) {
        m->ended = !gather_pieces(m, most - moved, &s) || !transfer_stretch(m, &s);
    }
    m->ended |= m->left == 0 && m->held_len == 0;
    return m->ended;
}
