/* base: errors keep their words, handles are told apart, hashes are the published ones. */
#include "unit.h"

#include "atomic.h"
#include "copy.h"
#include "err.h"
#include "handle.h"
#include "job.h"
#include "range.h"
#include "util.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

START_TEST(an_error_keeps_the_words_of_who_said_it)
{
    ck_assert_int_eq(hl_err_say(HL_ERR_RANK, "rank %d of %d", 7, 4), HL_ERR_RANK);
    ck_assert_str_eq(hl_err_text(HL_ERR_RANK), "rank 7 of 4");
    ck_assert_str_eq(hl_err_text(HL_ERR_TAG), "invalid tag");
    ck_assert_int_eq(hl_err_say(HL_ERR_RANK, "in front of it: %s", hl_err_text(HL_ERR_RANK)), HL_ERR_RANK);
    ck_assert_str_eq(hl_err_text(HL_ERR_RANK), "in front of it: rank 7 of 4");
    hl_err_reported();
    ck_assert_str_eq(hl_err_text(HL_ERR_RANK), "in front of it: rank 7 of 4");
    ck_assert_str_eq(hl_err_text_unreported(HL_ERR_RANK), "invalid rank");
    hl_err_say(HL_ERR_RANK, "rank 8 of 4");
    ck_assert_str_eq(hl_err_text_unreported(HL_ERR_RANK), "rank 8 of 4");
    ck_assert_int_eq(hl_err_class(HL_ERR_RMA_RANGE), 48);
    ck_assert_int_eq(hl_err_class(HL_ERR_AGAIN), 16);
    ck_assert_int_eq(hl_err_class(0), 0);
}
END_TEST

START_TEST(no_memory_names_the_limit_once)
{
    struct rlimit no_limit, data;
    ck_assert_int_eq(getrlimit(RLIMIT_DATA, &no_limit), 0);
    data = no_limit;
    data.rlim_cur = RLIM_INFINITY - 1;
    ck_assert_int_eq(setrlimit(RLIMIT_DATA, &data), 0);
    hl_err_say(HL_ERR_NO_MEM, "no memory for a table");
    hl_err_say(HL_ERR_NO_MEM, "4096 bytes: %s", hl_err_text(HL_ERR_NO_MEM));
    ck_assert_str_eq(hl_err_text(HL_ERR_NO_MEM),
                     "4096 bytes: no memory for a table (private memory is limited, ulimit -d)");
    ck_assert_int_eq(setrlimit(RLIMIT_DATA, &no_limit), 0);
}
END_TEST

/* Asked from the kernel, without a fault. */
static bool is_writable(char *at)
{
    int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    ck_assert_int_ge(zero, 0);
    bool writable = read(zero, at, 1) == 1;
    close(zero);
    return writable;
}

START_TEST(ranges_grow_from_their_begin)
{
    const size_t most = (size_t)64 << 20;
    struct hl_range r = {0};
    ck_assert(hl_range_reserve(&r, most, most, true));
    ck_assert_uint_eq((uintptr_t)r.base % most, 0);
    ck_assert(!is_writable(r.base));
    for (size_t end = 1; end <= most; end += end / 2 + 1) {
        ck_assert(hl_range_reach(&r, end));
        ck_assert(is_writable(r.base + end - 1));
        ck_assert_uint_le(r.open, end < ((size_t)512 << 10) ? (size_t)512 << 10 : 2 * end);
        ck_assert(r.open == r.len || !is_writable(r.base + r.open));
        ck_assert_int_eq(r.base[r.len - 1], 0);
    }
    ck_assert(hl_range_reach(&r, most));
    ck_assert(is_writable(r.base + most - 1));
    ck_assert(!hl_range_reach(&r, most + 1));
    munmap(r.base, r.len);
}
END_TEST

START_TEST(handles_of_any_bit_pattern_are_judged)
{
    void *a = hl_handle_new(HL_KIND_COMM);
    ck_assert_ptr_eq(hl_handle_get(a, HL_KIND_COMM), a);
    ck_assert_ptr_null(hl_handle_get(a, HL_KIND_TYPE));
    ck_assert_ptr_null(hl_handle_get((char *)a + 8, HL_KIND_COMM));
    ck_assert_ptr_null(hl_handle_get(NULL, HL_KIND_COMM));
    ck_assert_ptr_null(hl_handle_get((void *)0x101, HL_KIND_COMM));
    ck_assert_ptr_null(hl_handle_get((void *)~(uintptr_t)0, HL_KIND_COMM));
    /* In what is only reserved. */
    ck_assert_ptr_null(hl_handle_get(hl_handle_base + hl_handle_range - HL_HANDLE_SIZE, HL_KIND_COMM));
    hl_handle_free(a);
    ck_assert_ptr_null(hl_handle_get(a, HL_KIND_COMM));
}
END_TEST

START_TEST(the_place_freed_longest_ago_is_reused_first)
{
    void *a = hl_handle_new(HL_KIND_WIN), *b = hl_handle_new(HL_KIND_WIN);
    hl_handle_free(a);
    hl_handle_free(b);
    ck_assert_ptr_eq(hl_handle_new(HL_KIND_INFO), a);
    ck_assert_ptr_eq(hl_handle_new(HL_KIND_INFO), b);
    hl_handle_free(a);
    hl_handle_free(b);
}
END_TEST

START_TEST(a_name_is_cut_where_it_is_set_and_where_it_is_read)
{
    char *slot = NULL, out[8];
    hl_handle_name_get(&slot, NULL, out, sizeof out);
    ck_assert_str_eq(out, "");
    hl_handle_name_get(&slot, "otherwise", out, sizeof out);
    ck_assert_str_eq(out, "otherwi");
    ck_assert_int_eq(hl_handle_name_set(&slot, "a first name", 6), 0);
    hl_handle_name_get(&slot, "otherwise", out, sizeof out);
    ck_assert_str_eq(out, "a fir");
    ck_assert_int_eq(hl_handle_name_set(&slot, "", 6), 0);
    hl_handle_name_get(&slot, "otherwise", out, sizeof out);
    ck_assert_str_eq(out, "");
    free(slot);
}
END_TEST

START_TEST(an_array_grows_before_it_is_full)
{
    int *rows = NULL;
    size_t room = 0;
    for (int i = 0; i < 1000; i++) {
        ck_assert(hl_grow(&rows, (size_t)i, &room, sizeof *rows));
        ck_assert_uint_gt(room, (size_t)i);
        rows[i] = i;
    }
    for (int i = 0; i < 1000; i++) {
        ck_assert_int_eq(rows[i], i);
    }
    free(rows);
}
END_TEST

/* The guards on both sides stay, wherever both lie in their pages. */
START_TEST(an_ordinary_copy_is_a_copy)
{
    enum { PAGE = 4096, MOST = 16 * PAGE, GUARD = 64 };
    static _Alignas(PAGE) unsigned char from[MOST + PAGE], to[GUARD + MOST + PAGE + GUARD];
    static const size_t sizes[] = {0, 1, 2032, 2047, 2048, 2049, 4063, 4064, 4065, PAGE, 3 * PAGE + 7, MOST};

    for (size_t i = 0; i < sizeof from; i++) {
        from[i] = (unsigned char)(1 + i % 251);
    }
    for (size_t further = 0; further < 2 * GUARD; further += further < 3 ? 1 : 30) {
        for (size_t k = 0; k < HL_COUNT_OF(sizes); k++) {
            size_t n = sizes[k];
            unsigned char *at = to + GUARD + further;
            memset(to, 0, sizeof to);
            hl_copy(at, from + GUARD, n);
            ck_assert_mem_eq(at, from + GUARD, n);
            ck_assert_int_eq(at[-1], 0);
            ck_assert_int_eq(at[n], 0);
        }
    }
}
END_TEST

/* The guards on both sides stay, whatever the place in the line. */
START_TEST(a_copy_past_the_caches_is_a_copy)
{
    enum { MOST = 8192 + 64, GUARD = 64 };
    static unsigned char from[MOST], to[GUARD + MOST + GUARD];

    for (int i = 0; i < MOST; i++) {
        from[i] = (unsigned char)(1 + i % 251);
    }
    for (int at = 0; at < 64; at += 5) {
        for (int n = 0; n <= 8192; n = n < 200 ? n + 1 : n * 2 + 1) {
            memset(to, 0, sizeof to);
            hl_copy_past(to + GUARD + at, from + at / 3, (size_t)n);
            ck_assert_mem_eq(to + GUARD + at, from + at / 3, (size_t)n);
            ck_assert_int_eq(to[GUARD + at - 1], 0);
            ck_assert_int_eq(to[GUARD + at + n], 0);
        }
    }
}
END_TEST

START_TEST(copies_go_past_the_caches_after_two_slow_ones_and_come_back)
{
    struct hl_copy_out o = {0};
    static char from[8192], to[8192];

    hl_copy_judge(&o, 8192, 1000000); /* an interruption */
    ck_assert(!o.past);
    hl_copy_judge(&o, 8192, 200);
    hl_copy_judge(&o, 8192, 1000000);
    ck_assert(!o.past);
    hl_copy_judge(&o, 8192, 4000);
    ck_assert(o.past);
    memset(from, 7, sizeof from);
    hl_copy_out(&o, to, from, sizeof to);
    ck_assert_mem_eq(to, from, sizeof to);
    hl_copy_judge(&o, 8192, 4000);
    ck_assert(o.past);
    hl_copy_judge(&o, 8192, 400);
    ck_assert(!o.past);
}
END_TEST

/* A trial is several ordinary copies, of which the last is timed: so the lines are where they were without
 * copies past the caches. */
START_TEST(a_trial_begins_with_copies_that_are_not_timed)
{
    struct hl_copy_out o = {.past = true, .doubt = true};
    static char from[8192], to[8192];
    unsigned judged = 0, quickly = 0;

    for (unsigned i = 1; i <= 2000; i++) {
        uint32_t before = o.since;
        hl_copy_out(&o, to, from, sizeof to);
        if (o.since != before + 1) {
            judged++;
            quickly += before < 512 + 16;
            o.past = o.doubt = true; /* as if it had been slow */
            o.since = 0;
        }
    }
    ck_assert_uint_eq(judged, 3);
    ck_assert_uint_eq(quickly, 0);
}
END_TEST

START_TEST(copies_of_what_others_wrote_are_whole)
{
    enum { MOST = 40000 };
    static unsigned char from[MOST], to[MOST + 1];

    for (int i = 0; i < MOST; i++) {
        from[i] = (unsigned char)(1 + i % 251);
    }
    for (size_t n = 0; n < MOST; n = n * 2 + 1) {
        memset(to, 0, sizeof to);
        hl_copy_in(to, from + 1, n);
        ck_assert_mem_eq(to, from + 1, n);
        ck_assert_int_eq(to[n], 0);
    }
}
END_TEST

START_TEST(a_job_that_nobody_opened_is_one_rank)
{
    int appnum;
    ck_assert(hl_job.rank == 0 && hl_job.size == 1 && hl_job.node_size == 1);
    ck_assert(hl_job_node_of(0) == 0 && hl_job_node_of(1) == -1 && !hl_job_appnum(&appnum));
    ck_assert_str_eq(hl_job_end_words(), "the job ends");
}
END_TEST

START_TEST(ranks_of_the_node_are_found)
{
    static int world[100];
    for (int i = 0; i < 100; i++) {
        world[i] = 7 * i + 3;
    }
    hl_job.rank = world[42];
    hl_job.size = 1000;
    hl_job.node_size = 100;
    hl_job.node_world = world;
    ck_assert_int_eq(hl_job_index_node(), 0);
    ck_assert_int_eq(hl_job.node_rank, 42);
    for (int r = 0; r < 1000; r++) {
        ck_assert_int_eq(hl_job_node_of(r), r % 7 == 3 && r < 700 ? r / 7 : -1);
    }
}
END_TEST

START_TEST(an_abort_never_ends_with_0)
{
    static const int codes[][2] = {{0, 1}, {7, 7}, {256, 1}, {0x107, 7}};
    for (unsigned i = 0; i < HL_COUNT_OF(codes); i++) {
        int status;
        pid_t pid = fork();
        if (pid == 0) {
            hl_job_abort(codes[i][0]);
        }
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert(WIFEXITED(status));
        ck_assert_int_eq(WEXITSTATUS(status), codes[i][1]);
    }
}
END_TEST

START_TEST(siphash_gives_the_published_value)
{
    /* The test vector of the SipHash paper: key 00..0f, message 00..0e. */
    uint64_t key[2] = {0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL};
    unsigned char message[15];
    for (unsigned char i = 0; i < 15; i++) {
        message[i] = i;
    }
    ck_assert_uint_eq(hl_siphash(key, message, sizeof message), 0xa129ca6149be45e5ULL);
}
END_TEST

static Suite *base_suite(void)
{
    Suite *s = suite_create("base");
    TCase *c = tcase_create("base");
    tcase_add_test(c, an_error_keeps_the_words_of_who_said_it);
    tcase_add_test(c, no_memory_names_the_limit_once);
    tcase_add_test(c, handles_of_any_bit_pattern_are_judged);
    tcase_add_test(c, ranges_grow_from_their_begin);
    tcase_add_test(c, the_place_freed_longest_ago_is_reused_first);
    tcase_add_test(c, a_name_is_cut_where_it_is_set_and_where_it_is_read);
    tcase_add_test(c, an_array_grows_before_it_is_full);
    tcase_add_test(c, an_ordinary_copy_is_a_copy);
    tcase_add_test(c, a_copy_past_the_caches_is_a_copy);
    tcase_add_test(c, copies_go_past_the_caches_after_two_slow_ones_and_come_back);
    tcase_add_test(c, a_trial_begins_with_copies_that_are_not_timed);
    tcase_add_test(c, copies_of_what_others_wrote_are_whole);
    tcase_add_test(c, a_job_that_nobody_opened_is_one_rank);
    tcase_add_test(c, ranks_of_the_node_are_found);
    tcase_add_test(c, an_abort_never_ends_with_0);
    tcase_add_test(c, siphash_gives_the_published_value);
    suite_add_tcase(s, c);
    return s;
}

UNIT_MAIN(base_suite)
