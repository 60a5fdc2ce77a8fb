/* What a rank of a job of a million touches of memory: it opens everything and makes windows, whose exchanges are the
 * library's own schedules. The others are not there: what comes from them is what this rank sends, as if all were alike. */
#include "boot.h"
#include "conf.h"
#include "err.h"
#include "fab_lib.h"
#include "job.h"
#include "life.h"
#include "model.h"
#include "reach.h"
#include "repeat.h"
#include "schedule.h"
#include "unit.h"

#include <hotlane.h>
#include <sys/stat.h>

enum { RANKS = 1000000, NODE = 64, WINDOWS = 10 };

/* Bars, in KiB of a rank; docs/BARS.md has them, too. Goals: a start, ten windows and the making of one 8,192, or 16,384 where all
 * ranks of a node of 64 are counted; a window 32. */
struct bar {
    const char *what;
    double most;
};
static const struct bar bars[] = {
    {"a start", 3200},
    {"the first window, which brings lanes", 800},
    {"a window, alike on all ranks", 32},
    {"making a window, alike on all ranks, meanwhile", 200},
    {"a window, alike but for addresses or keys", 16200},
    {"making a window, alike but for addresses or keys, meanwhile", 16200},
    {"a window", 16200},
    {"making a window, meanwhile", 226000},
};
enum { ALIKE, TARGETS, UNLIKE, KINDS }; /* of windows */
/* of ranks that make a window: all that is not local */
static const int messages[] = {[ALIKE] = 2, [TARGETS] = 3, [UNLIKE] = 3};

/* ---- the others ---- */

__typeof__(hl_boot_get) __real_hl_boot_get, __wrap_hl_boot_get;
int __wrap_hl_boot_get(int rank, const char *key, void *data, size_t cap, size_t *len)
{
    (void)rank;
    return __real_hl_boot_get(0, key, data, cap, len);
}

static struct hl_coll_msg sent, coming[HL_SCHED_WINDOW];
static int waiting;

static int send_one(const struct hl_coll_msg *m, void **request)
{
    sent = *m;
    *request = &sent;
    return 0;
}

static int recv_one(const struct hl_coll_msg *m, void **request)
{
    ck_assert_int_lt(waiting, HL_SCHED_WINDOW);
    coming[waiting] = *m;
    *request = &coming[waiting++];
    return 0;
}

static bool test_one(void *request, int *err)
{
    struct hl_coll_msg *m = request;
    *err = 0;
    if (m != &sent && m->data.count > 0) {
        int64_t bytes = m->data.count * m->data.type->size;
        ck_assert_int_le(bytes, sent.data.count * sent.data.type->size);
        memcpy(m->data.buf, sent.data.buf, (size_t)bytes);
    }
    waiting = 0;
    return true;
}

static const struct hl_coll_net alike = {send_one, recv_one, test_one, NULL};

static int exchanges; /* that have begun */
static int kind;      /* of the windows that are made */

/* By what this rank hears, all ranks are alike. */
__typeof__(hl_win_compare) __real_hl_win_compare, __wrap_hl_win_compare;
int __wrap_hl_win_compare(struct hl_comm *comm, int rc, int need, struct hl_facts *f)
{
    int all = __real_hl_win_compare(comm, rc, need, f);
    ck_assert_int_eq(all, HL_ALIKE);
    return kind == UNLIKE ? HL_NEED_NONE : kind == TARGETS ? HL_ALIKE_BUT_TARGETS : all;
}

__typeof__(hl_sched_init) __real_hl_sched_init, __wrap_hl_sched_init;
void __wrap_hl_sched_init(struct hl_sched *s, const struct hl_coll_net *net, struct hl_comm *comm,
                          enum hl_plane plane)
{
    (void)net;
    exchanges++;
    __real_hl_sched_init(s, &alike, comm, plane);
}

__typeof__(hl_sched_init_tagged) __real_hl_sched_init_tagged, __wrap_hl_sched_init_tagged;
void __wrap_hl_sched_init_tagged(struct hl_sched *s, const struct hl_coll_net *net,
                                 const struct hl_comm *comm, enum hl_plane plane, int tag)
{
    (void)net;
    exchanges++;
    __real_hl_sched_init_tagged(s, &alike, comm, plane, tag);
}

/* ---- memory ---- */

/* KiB of files that windows have for their targets' records, one for all ranks of a node; no process shows
 * them. */
static double patterns;

__typeof__(hl_mem_pattern_make) __real_hl_mem_pattern_make, __wrap_hl_mem_pattern_make;
int __wrap_hl_mem_pattern_make(const struct hl_repeat *r)
{
    struct stat st;
    int fd = __real_hl_mem_pattern_make(r);
    if (fd >= 0) {
        ck_assert_int_eq(fstat(fd, &st), 0);
        patterns += (double)st.st_blocks * 512 / 1024;
    }
    return fd;
}

/* KiB of this process that are there now, shared ones too, or at most since the last reset. */
static double memory(bool most)
{
    char line[256];
    long kib = -1;
    FILE *f = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, f) != NULL) {
        (void)sscanf(line, most ? "VmHWM: %ld" : "VmRSS: %ld", &kib);
    }
    fclose(f);
    ck_assert_int_ge(kib, 0);
    return (double)kib;
}

static void reset_most(void)
{
    FILE *f = fopen("/proc/self/clear_refs", "w");
    ck_assert(f != NULL && fputs("5", f) >= 0 && fclose(f) == 0);
}

/* ---- the rank ---- */

static void open_rank(void)
{
    model_name = "cxi";
    model_libfabric = FI_VERSION(1, 17);
    model_mr_mode = FI_MR_PROV_KEY | FI_MR_ALLOCATED | FI_MR_ENDPOINT;
    model_key_size = 8;
    model_caps = FI_MSG | FI_RMA | FI_ATOMIC;
    model_endpoints = 128;
    model.inject = 192;
    model.waits = MODEL_WAIT;
    model.keys = true;
    hl_fab_lib = (struct hl_fab_lib)MODEL_LIB;
    setenv("HOTLANE_PROVIDER", model_name, 1);
    ck_assert_int_eq(hl_conf_load(), 0);
    ck_assert_int_eq(hl_boot_open(), 0);
    hl_job.size = RANKS;
    int provided;
    int rc = hl_life_open(HL_LIFE_MPI, MPI_THREAD_MULTIPLE, &provided);
    ck_assert_msg(rc == 0, "%s", hl_err_text(rc));
}

static void judge(int which, double kib)
{
    const struct bar *bar = &bars[which];
    printf("%d ranks: %s touches %.0f KiB (bar: %.0f)\n", RANKS, bar->what, kib, bar->most);
    fflush(stdout);
    ck_assert_double_le(kib, bar->most);
}

static void make_window(MPI_Win *win)
{
    void *base;
    ck_assert_int_eq(PMPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, win), MPI_SUCCESS);
}

/* Makes windows, and counts what stays of one, and what there was beside it. */
static void make_windows(int which)
{
    MPI_Win win[WINDOWS];
    double before = memory(false), most = 0;
    exchanges = 0;
    patterns = 0;
    kind = which;
    for (int i = 0; i < WINDOWS; i++) {
        reset_most();
        make_window(&win[i]);
        double beside = memory(true) - memory(false);
        most = beside > most ? beside : most;
    }
    ck_assert_int_eq(exchanges, WINDOWS * messages[which]);
    judge(2 * which + 2, (memory(false) - before + patterns / NODE) / WINDOWS);
    judge(2 * which + 3, most);
    for (int i = 0; i < WINDOWS; i++) {
        const struct hl_target *t = hl_win_of(win[i])->targets;
        ck_assert(hl_target_is_mapped(&t[0]) && hl_target_is_plain_far(&t[1]));
        ck_assert_int_eq(memcmp(&t[1], &t[RANKS / 2], sizeof *t), 0);
        ck_assert_int_eq(memcmp(&t[1], &t[RANKS - 1], sizeof *t), 0);
        ck_assert_int_eq(PMPI_Win_free(&win[i]), MPI_SUCCESS);
    }
}

START_TEST(a_rank_of_a_million_touches_little)
{
    mallopt(M_PERTURB, 0); /* Meson would have all of malloc's filled */
    double before = memory(false);
    open_rank();
    double start = memory(false);
    judge(0, start - before);
    MPI_Win first;
    make_window(&first);
    judge(1, memory(false) - start);
    for (int which = ALIKE; which < KINDS; which++) {
        make_windows(which);
    }
}
END_TEST

static Suite *make_suite(void)
{
    Suite *s = suite_create("scale");
    TCase *c = tcase_create("scale");
    if (!SANITIZED) { /* whose own memory is touched, too */
        tcase_add_test(c, a_rank_of_a_million_touches_little);
    }
    suite_add_tcase(s, c);
    return s;
}

UNIT_MAIN(make_suite)
