/* Every call with buffers of data, by the table that buffers.py writes: what comes about with MPI_BOTTOM and
 * types of absolute addresses, for one buffer or all of them, must be what comes about with ordinary ones.
 * MPI_BOTTOM is NULL, so nothing below may take NULL for "none". And where there are no data, NULL is a
 * buffer for any type: with count 0, and with nobody to give or get them (MPI_PROC_NULL). */
#ifndef BUFFERS_H
#define BUFFERS_H

#include "buffers_given.h"

/* ---- One call ---- */

static void complete(const struct row *r)
{
    if ((r->flags & REQUEST) == 0) {
        return;
    }
    if ((r->flags & AGAIN) != 0) {
        must(MPI_Start(&given.request), "start");
        if (r->kind == PSEND) {
            must(MPI_Pready_range(0, PARTITIONS - 1, given.request), "ready");
        }
    }
    must(MPI_Wait(&given.request, &given.status), "wait");
    if ((r->flags & AGAIN) != 0) {
        must(MPI_Request_free(&given.request), "free");
    }
}

static void call(const struct row *r)
{
    given.at = 0;
    given.at_a = 0;
    given.at_c = 0;
    must(r->call(), "the call");
    complete(r);
}

/* What the other side of a message does, with ordinary buffers. */
static void call_with_peer(const struct row *r)
{
    MPI_Request other = MPI_REQUEST_NULL;
    int n = (int)given.count;

    if (r->kind == SEND || r->kind == READY) {
        must(MPI_Irecv(area[SIDE], n, given.there, given.source, TAG, whole, &other), "irecv");
    } else if (r->kind == RECV || r->kind == MRECV) {
        must(MPI_Isend(area[SIDE], n, given.there, given.dest, TAG, whole, &other), "isend");
    } else if (r->kind == PSEND) {
        must(MPI_Precv_init(area[SIDE], PARTITIONS, n, given.there, given.source, TAG, whole, MPI_INFO_NULL,
                            &other),
             "precv");
        must(MPI_Start(&other), "start");
    } else if (r->kind == PRECV) {
        must(MPI_Psend_init(area[SIDE], PARTITIONS, n, given.there, given.dest, TAG, whole, MPI_INFO_NULL,
                            &other),
             "psend");
        must(MPI_Start(&other), "start");
        must(MPI_Pready_range(0, PARTITIONS - 1, other), "ready");
    }
    if (r->kind == READY) {
        MPI_Barrier(whole);
    }
    if (r->kind == MRECV) {
        must(MPI_Mprobe(given.source, TAG, whole, &given.message, &given.status), "mprobe");
    }
    call(r);
    must(MPI_Wait(&other, MPI_STATUS_IGNORE), "wait");
    if (r->kind == PSEND || r->kind == PRECV) {
        must(MPI_Request_free(&other), "free");
    }
}

static void call_on_window(const struct row *r, int flavor)
{
    given.win = windows[flavor].win;
    given.disp = windows[flavor].disp;
    given.target = (windows[flavor].rank + 1) % windows[flavor].size;
    fill(windows[flavor].memory, window_used(), 4);
    MPI_Win_sync(given.win);
    MPI_Barrier(windows[flavor].comm);
    call(r);
    must(MPI_Win_flush_all(given.win), "flush");
    MPI_Barrier(windows[flavor].comm);
    MPI_Win_sync(given.win);
}

/* The file's bytes are there before, and in area[SIDE] afterwards. */
static void call_on_file(const struct row *r, int which)
{
    size_t mine = (size_t)given.count * ELEMENT * sizeof(int);

    given.file = files[which];
    given.offset = (MPI_Offset)((size_t)me * mine);
    if (pwrite(file_fd, area[SIDE], mine, given.offset) != (ssize_t)mine) {
        must(MPI_ERR_IO, "the file's first bytes");
    }
    must(MPI_File_seek(given.file, given.offset, MPI_SEEK_SET), "seek");
    must(MPI_File_seek_shared(given.file, 0, MPI_SEEK_SET), "seek_shared");
    MPI_Barrier(whole);
    if (r->kind != SHARED || me == given.root) { /* which of them comes first is not said */
        call(r);
    }
    MPI_Barrier(whole);
    CHECK(pread(file_fd, area[SIDE], mine, given.offset) == (ssize_t)mine);
    MPI_Barrier(whole);
}

static void play_once(const struct row *r, int where)
{
    switch (r->kind) {
    case RMA:
        call_on_window(r, where);
        break;
    case FILES:
    case SHARED:
        call_on_file(r, where);
        break;
    case SEND:
    case READY:
    case RECV:
    case MRECV:
    case PSEND:
    case PRECV:
        call_with_peer(r);
        break;
    default:
        call(r);
    }
}

/* ---- Arguments ---- */

/* `from` at the distance of `of` from MPI_BOTTOM: what a type at of's addresses finds there. */
static void *apart(const int *from, const int *of)
{
    return (void *)((uintptr_t)from - (uintptr_t)of);
}

/* Two buffers with one type: one can be MPI_BOTTOM, or both where data are in place. */
static void give_with_one_type(int mode)
{
    const int *origin = (mode & IN_ABSOLUTE) != 0 ? area[IN] : area[OUT];

    if ((mode & (IN_ABSOLUTE | OUT_ABSOLUTE)) == 0) {
        given.in = (struct buffer){area[IN], layout[shape]};
        given.out = (struct buffer){area[OUT], layout[shape]};
    } else {
        MPI_Datatype type = absolute[shape][(mode & IN_ABSOLUTE) != 0 ? IN : OUT];
        given.in = (struct buffer){apart(area[IN], origin), type};
        given.out = (struct buffer){apart(area[OUT], origin), type};
    }
}

static void give_buffers(const struct row *r, int mode)
{
    given.there = layout[shape];
    if ((r->flags & ONE_TYPE) != 0) {
        give_with_one_type(mode);
    } else {
        given.in = (mode & IN_ABSOLUTE) != 0 ? (struct buffer){MPI_BOTTOM, absolute[shape][IN]}
                                             : (struct buffer){area[IN], layout[shape]};
        given.out = (mode & OUT_ABSOLUTE) != 0 ? (struct buffer){MPI_BOTTOM, absolute[shape][OUT]}
                                               : (struct buffer){area[OUT], layout[shape]};
    }
    given.one = given.out.type;
    for (int i = 0; i < blocks; i++) {
        given.in_types[i] = given.in.type;
        given.out_types[i] = given.out.type;
    }
    if ((mode & STAY) == 0) {
        return;
    }
    if ((r->flags & ROOT_RECV_STAYS) != 0) {
        given.out.buf = me == given.root ? MPI_IN_PLACE : given.out.buf;
    } else if ((r->flags & SEND_STAYS) != 0 || me == given.root) {
        given.in.buf = MPI_IN_PLACE;
    } else if ((r->flags & ONE_TYPE) != 0) {
        given.in.buf = given.out.buf; /* of a reduction's other ranks the result's place is not looked at */
    }
}

static void give_counts(MPI_Count count)
{
    given.count = count;
    for (int i = 0; i < blocks; i++) {
        given.counts_c[i] = given.counts[i] = (int)count;
        given.displs_c[i] = given.displs[i] = i * (int)count;
        given.bytes_c[i] = given.bytes[i] = i * (int)count * extent;
    }
}

/* By turns: no section, and one of elements that lie one behind the other, which says no more. */
static void give_section(void)
{
    static const MPIX_Section_dim dim = {0, 1, sizeof(int)};
    static const MPIX_Section contiguous = {sizeof(int), 1, &dim};

    given.section = given.section == NULL ? &contiguous : NULL;
}

/* Of the calls of groups there are those within one and those from one to another, whose first rank is root.
 */
static void give_rest(const struct row *r, int number, bool to_other)
{
    given.root = number % size;
    given.comm = to_other ? across : r->kind == NEIGHBOR ? ring : whole;
    if (to_other) {
        given.root = me == 0 ? MPI_ROOT : me % 2 == 0 ? MPI_PROC_NULL : 0;
    }
    given.dest = (me + 1) % size;
    given.source = (me + size - 1) % size;
}

/* ---- All calls ---- */

/* In words, for what fails. */
static void say(const struct row *r, int mode, int where, const char *more)
{
    static char text[256];
    static const char *const kinds[FLAVORS] = {"allocated", "created", "dynamic", "shared"};

    snprintf(text, sizeof text, "%s, %lld elements%s%s%s%s%s%s%s", r->name, (long long)given.count,
             shape != 0 ? " with holes" : "", (mode & IN_ABSOLUTE) != 0 ? ", MPI_BOTTOM is read" : "",
             (mode & OUT_ABSOLUTE) != 0 ? ", MPI_BOTTOM is written" : "",
             (mode & STAY) != 0 ? ", in place" : "", r->kind == RMA ? ", window " : "",
             r->kind == RMA                  ? kinds[where]
             : r->kind == COLL && where == 1 ? ", to another group"
                                             : "",
             more);
    now = text;
}

static bool has_mode(const struct row *r, int mode, int where)
{
    int both = IN_ABSOLUTE | OUT_ABSOLUTE,
        has = ((r->flags & READS) != 0 ? IN_ABSOLUTE : 0) | ((r->flags & WRITES) != 0 ? OUT_ABSOLUTE : 0);
    bool one = (r->flags & ONE_TYPE) != 0;

    if ((mode & both & ~has) != 0 ||
        ((mode & STAY) != 0 && ((r->flags & STAYS) == 0 || (r->kind == COLL && where == 1)))) {
        return false;
    }
    return !one || ((mode & both) != both && ((mode & STAY) == 0 || (mode & IN_ABSOLUTE) == 0));
}

static void play_mode(const struct row *r, int mode, int where, int number)
{
    bool keep = (mode & (IN_ABSOLUTE | OUT_ABSOLUTE)) == 0;
    long changed = 0, all = 0;

    say(r, mode, where, "");
    give_rest(r, number, r->kind == COLL && where == 1);
    give_buffers(r, mode);
    given.op = ops[number % 2];
    give_section();
    for (int i = 0; i < AREAS; i++) {
        fill(area[i], used(), i);
    }
    play_once(r, where);
    for (int i = 0; i < AREAS; i++) {
        static const char *const names[] = {"what is read", "what is written", "what came on the other side"};
        keep_or_compare(i, area[i], used(), keep, names[i]);
        changed += keep && i != IN ? changes(area[i], used(), i) : 0;
    }
    if (r->kind == RMA) {
        keep_or_compare(AREAS, windows[where].memory, window_used(), keep, "the window");
        changed += keep ? changes(windows[where].memory, window_used(), 4) : 0;
    }
    if (keep) { /* what moves nothing would be the same always */
        MPI_Allreduce(&changed, &all, 1, MPI_LONG, MPI_SUM, whole);
        CHECK(all > 0);
    }
}

static void play_row(const struct row *r, int number, MPI_Count count, int times)
{
    bool can_cross = r->kind == COLL && across != MPI_COMM_NULL && strcasestr(r->name, "scan") == NULL;
    int ways = r->kind == RMA ? FLAVORS : r->kind == FILES || r->kind == SHARED || can_cross ? 2 : 1;

    if (r->kind == WORD) {
        return; /* predefined types only */
    }
    for (shape = 0; shape < 2; shape++) {
        extent = shape != 0 ? EXTENT_MAX : 4 * ELEMENT;
        give_counts(count);
        for (int where = 0; where < ways; where++) {
            for (int mode = 0; mode < MODES; mode++) {
                int n = (mode & (IN_ABSOLUTE | OUT_ABSOLUTE)) != 0 ? times : 1;
                /* What is compared with comes first: the modes are in that order but for those in place. */
                for (int i = 0; i < n && has_mode(r, mode, where); i++) {
                    play_mode(r, mode, where, number);
                }
            }
        }
    }
}

static void give_nothing(const struct row *r, int number, MPI_Count count)
{
    shape = 0;
    give_counts(count);
    give_rest(r, number, false);
    given.in = given.out = (struct buffer){NULL, MPI_INT};
    given.one = given.there = MPI_INT;
    given.op = MPI_SUM;
    for (int i = 0; i < blocks; i++) {
        given.in_types[i] = given.out_types[i] = MPI_INT;
    }
}

/* No data: NULL is a buffer. */
static void play_empty(const struct row *r, int number)
{
    give_nothing(r, number, 0);
    if (r->kind != WORD) {
        say(r, 0, 0, ", NULL");
        for (int i = 0; i < 5; i++) {
            play_once(r, 0);
        }
    }
}

/* Nobody: NULL is a buffer. */
static void play_nobody(const struct row *r, int number)
{
    give_nothing(r, number, 5);
    given.source = given.dest = given.target = MPI_PROC_NULL;
    given.win = windows[ALLOCATED].win;
    given.comm = r->kind == NEIGHBOR ? alone : whole;
    say(r, 0, 0, ", NULL and nobody");
    if (r->kind == MRECV) {
        must(MPI_Mprobe(MPI_PROC_NULL, TAG, whole, &given.message, &given.status), "mprobe");
    }
    if (r->kind <= BOTH || r->kind == NEIGHBOR || r->kind == RMA || r->kind == WORD) {
        call(r);
    }
}

static void open_across(void)
{
    MPI_Comm mine;

    across = MPI_COMM_NULL;
    if (size % 2 == 0) {
        MPI_Comm_split(whole, me % 2, me, &mine);
        MPI_Intercomm_create(mine, 0, whole, me % 2 == 0 ? 1 : 0, TAG, &across);
        MPI_Comm_free(&mine);
    }
}

static void start(void)
{
    int one = 1, none = 0, all;

    test_start(1);
    all = size;
    blocks = size > 2 ? size : 2;
    CHECK(blocks <= BLOCKS_MAX);
    side_bytes = (size_t)blocks * AREA_BYTES;
    for (int i = 0; i < AREAS; i++) {
        CHECK((area[i] = malloc(side_bytes)) != NULL);
    }
    for (int i = 0; i <= AREAS; i++) {
        CHECK((was[i] = malloc(side_bytes)) != NULL);
    }
    side_area = area[SIDE];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &whole);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &all, &one, 0, &ring);
    MPI_Cart_create(MPI_COMM_SELF, 1, &one, &none, 0, &alone);
    open_across();
    MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
    make_types();
    for (int i = 0; i < FLAVORS; i++) {
        open_window(i);
    }
    open_files();
}

static void stop(void)
{
    void *none;
    int bytes;

    close(file_fd);
    MPI_File_close(&files[1]);
    MPI_File_close(&files[0]);
    for (int i = 0; i < FLAVORS; i++) {
        close_window(i);
    }
    for (int i = 0; i < 2; i++) {
        MPI_Op_free(&ops[i]);
        MPI_Type_free(&layout[i]);
        MPI_Type_free(&absolute[i][IN]);
        MPI_Type_free(&absolute[i][OUT]);
    }
    MPI_Buffer_detach(&none, &bytes);
    MPI_Comm_free(&alone);
    if (across != MPI_COMM_NULL) {
        MPI_Comm_free(&across);
    }
    MPI_Comm_free(&ring);
    MPI_Comm_free(&whole);
    for (int i = 0; i < AREAS; i++) {
        free(area[i]);
    }
    for (int i = 0; i <= AREAS; i++) {
        free(was[i]);
    }
    MPI_Finalize();
}

/* All rows ("all"), those whose name holds `only`, or ("few") all with few elements only. These go ten times,
 * so that what a communicator does after some calls is met too; calls with large counts, which are the same
 * routines, go as often there and seldom with more elements. */
static int play(const struct row *rows, size_t n, const char *only)
{
    static const struct {
        MPI_Count count;
        int times, times_large;
    } plans[] = {{3, 10, 10}, {700, 3, 1}, {MOST, 1, 0}};

    bool few = strcmp(only, "few") == 0, all = strcmp(only, "all") == 0;

    start();
    for (size_t i = 0; i < n; i++) {
        const struct row *r = &rows[i];
        if (!few && !all && strstr(r->name, only) == NULL) {
            continue;
        }
        for (size_t k = 0; k < (few ? 1 : sizeof plans / sizeof plans[0]); k++) {
            int times = (r->flags & LARGE) != 0 ? plans[k].times_large : plans[k].times;
            MPI_Count count = plans[k].count;
            if (times > 0) { /* layouts with holes go to a window in pieces */
                play_row(r, (int)i, r->kind == RMA && count == MOST ? MOST / 16 : count, times);
            }
        }
        play_empty(r, (int)i);
        play_nobody(r, (int)i);
    }
    stop();
    return 0;
}

#endif
