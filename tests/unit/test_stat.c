/* Counters sum over lanes, count from many threads, and are found by name; circles of waits are found. */
#include "hang.h"
#include "stat.h"
#include "stops.h"
#include "unit.h"
#include "util.h"

#include <fcntl.h>
#include <hotlane.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static struct hl_stat_lane counted[3];

/* ---- The watchdog ---- */

static const int all_ranks[] = {0, 1, 2, 3};

/* This process is rank `me` of four on one node from here on. */
static void be(void *board, int me)
{
    hl_hang_open(board, me, me, 4, all_ranks);
}

static struct hl_wait_desc waits_for(int rank, const char *call)
{
    struct hl_wait_desc t = {0};
    hl_desc_say(&t, "tag %d", rank);
    hl_desc_await(&t, rank);
    hl_desc_await(&t, rank);
    snprintf(t.call, sizeof t.call, "%s", call);
    return t;
}

START_TEST(circles_are_found_and_nothing_else)
{
    void *board = aligned_alloc(4096, hl_round_up(hl_hang_board_bytes(4), 4096));
    memset(board, 0, hl_hang_board_bytes(4));
    char words[512];
    int places[4] = {-1, -1, -1, -1};
    struct hl_wait_desc t;
    for (int rank = 1; rank < 4; rank++) { /* 1 waits for 2, 2 for 3, 3 for 1 */
        be(board, rank);
        t = waits_for(rank % 3 + 1, "MPI_Recv");
        hl_hang_post(&places[rank], &t);
        ck_assert_int_ge(places[rank], 0);
    }
    ck_assert_int_eq(t.n, 1);
    be(board, 3);
    ck_assert(hl_hang_circle(&t, words, sizeof words));
    ck_assert_str_eq(words,
                     "rank 3 waits for rank 1 in MPI_Recv (tag 1), rank 1 waits for rank 2 in MPI_Recv "
                     "(tag 2), rank 2 waits for rank 3 in MPI_Recv (tag 3)");
    struct hl_wait_desc any = t;
    hl_desc_await(&any, 2);
    any.any = 1;
    ck_assert(!hl_hang_circle(&any, words, sizeof words));
    be(board, 0); /* waits for one of a circle, and is not in it */
    t = waits_for(1, "MPI_Send");
    ck_assert(!hl_hang_circle(&t, words, sizeof words));
    be(board, 2);
    hl_hang_post(&places[2], NULL);
    ck_assert_int_eq(places[2], -1);
    be(board, 3);
    t = waits_for(1, "MPI_Recv");
    ck_assert(!hl_hang_circle(&t, words, sizeof words));
    free(board);
}
END_TEST

static int asked = -1;

static void note_question(int world, uint64_t id)
{
    asked = world;
}

START_TEST(ranks_of_other_nodes_are_asked)
{
    void *board = aligned_alloc(4096, hl_round_up(hl_hang_board_bytes(4), 4096));
    memset(board, 0, hl_hang_board_bytes(4));
    char words[512];
    struct hl_wait_desc t = waits_for(70, "MPI_Recv"), none = {0}, back = waits_for(0, "MPI_Barrier");
    hl_hang_names.ask = note_question;
    be(board, 0);
    ck_assert(!hl_hang_circle(&t, words, sizeof words));
    ck_assert_int_eq(asked, 70);
    hl_hang_heard(70, &none);
    hl_hang_heard(70, &back);
    ck_assert(hl_hang_circle(&t, words, sizeof words));
    ck_assert_str_eq(words, "rank 0 waits for rank 70 in MPI_Recv (tag 70), rank 70 waits for rank 0 in "
                            "MPI_Barrier (tag 0)");
    hl_hang_heard(70, &none);
    ck_assert(!hl_hang_circle(&t, words, sizeof words));
    hl_hang_heard_holder(70, 5, 3);
    ck_assert_int_eq(hl_hang_holder(70, 5), -1); /* nobody looks for circles */
    hl_conf.watchdog = 1;
    ck_assert_int_eq(hl_hang_holder(70, 5), -1);
    hl_hang_heard_holder(70, 5, 3);
    ck_assert_int_eq(hl_hang_holder(70, 5), 3);
    ck_assert_int_eq(hl_hang_holder(70, 6), -1); /* of another window */
    hl_conf.watchdog = 0;
    free(board);
}
END_TEST

START_TEST(lanes_are_summed)
{
    for (int i = 0; i < 3; i++) {
        hl_stat_lane_enrol(&counted[i]);
        hl_stat_lane_enrol(&counted[i]); /* a second time changes nothing */
        hl_stat_lane_add(&counted[i], HL_STAT_LANE_leases, (uint64_t)i + 1);
    }
    uint64_t value;
    ck_assert_int_eq(hl_stat_get("leases", &value), 0);
    ck_assert_uint_eq(value, 6);
    ck_assert_int_eq(hl_stat_get("lanes", &value), 0);
    ck_assert_uint_eq(value, 3);
    hl_stat_lane_retire(&counted[1]);
    hl_stat_lane_retire(&counted[1]);
    hl_stat_lane_add(&counted[1], HL_STAT_LANE_leases, 100); /* no more */
    ck_assert_int_eq(hl_stat_get("leases", &value), 0);
    ck_assert_uint_eq(value, 6);
}
END_TEST

static void *count(void *unused)
{
    for (int i = 0; i < 10000; i++) {
        hl_stat_rank_add(HL_STAT_RANK_flush_waits, 1);
    }
    return unused;
}

START_TEST(threads_count_together)
{
    pthread_t t[8];
    for (int i = 0; i < 8; i++) {
        pthread_create(&t[i], NULL, count, NULL);
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(t[i], NULL);
    }
    long long value;
    ck_assert_int_eq(hotlane_counter("flush_waits", &value), 0);
    ck_assert_int_eq(value, 80000);
}
END_TEST

START_TEST(lanes_are_counted_one_by_one)
{
    static struct hl_stat_lane one, two;
    static const char *const wrong[] = {"leases:2",  "leases:", "leases:x", "leases:1x",
                                        "leases:-1", ":1",      "lease:0",  "flush_waits:0"};
    long long value;
    hl_stat_lane_enrol(&one);
    hl_stat_lane_enrol(&two);
    hl_stat_lane_add(&one, HL_STAT_LANE_leases, 3);
    hl_stat_lane_add(&two, HL_STAT_LANE_leases, 4);
    ck_assert_int_eq(hotlane_counter("leases:0", &value), 0);
    ck_assert_int_eq(value, 3);
    ck_assert_int_eq(hotlane_counter("leases:1", &value), 0);
    ck_assert_int_eq(value, 4);
    ck_assert_int_eq(hotlane_counter("leases", &value), 0);
    ck_assert_int_eq(value, 7);
    for (size_t i = 0; i < HL_COUNT_OF(wrong); i++) {
        ck_assert_msg(hotlane_counter(wrong[i], &value) == -1, "%s", wrong[i]);
    }
    hl_stat_lane_retire(&one);
    hl_stat_lane_retire(&two);
}
END_TEST

static uint64_t kept_elsewhere(void)
{
    return 40;
}

START_TEST(what_a_module_counts_itself_is_added)
{
    uint64_t value;
    hl_stat_rank_add(HL_STAT_RANK_messages_eager, 2);
    hl_stat_keep(HL_STAT_RANK_messages_eager, kept_elsewhere);
    ck_assert_int_eq(hl_stat_get("messages_eager", &value), 0);
    ck_assert_uint_eq(value, 42);
    hl_stat_keep(HL_STAT_RANK_messages_eager, NULL);
    hl_stat_keep(HL_STAT_RANK_messages_eager, NULL); /* a second time changes nothing */
    ck_assert_int_eq(hl_stat_get("messages_eager", &value), 0);
    ck_assert_uint_eq(value, 42);
}
END_TEST

static hl_a32 turns_left;

static void *open_and_close(void *unused)
{
    while (hl_a32_load_relaxed(&turns_left) != 0) {
        hl_stat_keep(HL_STAT_RANK_messages_eager, kept_elsewhere);
        hl_stat_keep(HL_STAT_RANK_messages_eager, NULL);
        hl_a32_add_relaxed(&turns_left, UINT32_MAX);
    }
    return unused;
}

/* A module opens, has counted 40 at once, and closes, again and again, while a tool reads. */
START_TEST(no_reader_sees_a_counter_fall)
{
    pthread_t t;
    uint64_t value, before = 0;
    bool falls = false;
    hl_a32_store_relaxed(&turns_left, 20000);
    pthread_create(&t, NULL, open_and_close, NULL);
    while (hl_a32_load_relaxed(&turns_left) != 0) {
        (void)hl_stat_get("messages_eager", &value);
        falls = falls || value < before;
        before = value;
    }
    pthread_join(t, NULL);
    ck_assert(!falls);
    ck_assert_int_eq(hl_stat_get("messages_eager", &value), 0);
    ck_assert_uint_eq(value, 20000 * 40);
}
END_TEST

START_TEST(every_row_has_name_and_help)
{
    ck_assert_int_eq(hl_stat_count(), 1 + HL_STAT_LANE_COUNT + HL_STAT_RANK_COUNT);
    for (int i = 0; i < hl_stat_count(); i++) {
        uint64_t value;
        ck_assert_int_eq(hl_stat_get(hl_stat_name(i), &value), 0);
        ck_assert_uint_gt(strlen(hl_stat_help(i)), 8);
    }
    long long value;
    ck_assert_int_eq(hotlane_counter("no such counter", &value), -1);
    ck_assert_int_eq(hotlane_counter(NULL, &value), -1);
}
END_TEST

/* ---- Peers that are stopped or gone ---- */

#define SECOND UINT64_C(1000000000)

static bool peer_has_socket = true, peer_closes;
static int ended, said_ended;

static bool lives(int node_rank)
{
    return node_rank == 0 || peer_has_socket;
}

static void note_end(int node_rank, unsigned pid, bool first)
{
    ended += node_rank == 1;
    said_ended += first;
}

static void be_on(void *board, int me, bool told)
{
    struct hl_stops_node n = {board, me, 2, all_ranks, told, lives, note_end};
    hl_stops_open(&n);
}

/* Rank 1 of a new board: a process that stops itself `times` times, and ends; 0: waits for its end. */
static pid_t start_peer(void *board, bool told, int times)
{
    memset(board, 0, hl_stops_board_bytes(2)); /* stops of another process may have the same numbers */
    hl_stops_close();
    be_on(board, 0, false);
    int ready[2];
    char c;
    ck_assert_int_eq(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        be_on(board, 1, told);
        (void)!write(ready[1], "r", 1);
        if (times == 0) {
            pause();
        }
        while (times-- > 0) {
            raise(SIGSTOP);
        }
        if (peer_closes) {
            hl_stops_close();
        }
        _exit(0);
    }
    ck_assert_int_eq(read(ready[0], &c, 1), 1);
    return child;
}

/* How often it is said that this process is stopped; `text` is what was said so far. */
static int count_lines(char *text, size_t cap, int errors, pid_t child)
{
    char line[64];
    int n = 0;
    (void)!read(errors, text + strlen(text), cap - strlen(text) - 1);
    snprintf(line, sizeof line, "rank 1 (pid %d) on this node is stopped", (int)child);
    for (const char *at = text; (at = strstr(at, line)) != NULL; at++) {
        n++;
    }
    ck_assert_msg(n > 0 || text[0] == '\0', "%s", text);
    return n;
}

/* The same of a child that stops now, once it was said as often as it should be and two looks have passed,
 * so that it could have been said once more. A busy machine may need many looks. */
static int lines_about(pid_t child, int errors, int wanted)
{
    char said[4096] = "";
    int status;
    ck_assert_int_eq(waitpid(child, &status, WUNTRACED), child);
    ck_assert(WIFSTOPPED(status));
    uint64_t begin = hl_now_ns(), since = begin;
    while (hl_now_ns() - since < 5 * SECOND / 2 && since - begin < 30 * SECOND) {
        hl_stops_look(begin - SECOND);
        usleep(20000);
        since = count_lines(said, sizeof said, errors, child) < wanted ? hl_now_ns() : since;
    }
    return count_lines(said, sizeof said, errors, child);
}

START_TEST(each_stop_of_a_peer_is_said_once)
{
    void *board =
        mmap(NULL, hl_stops_board_bytes(2), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int p[2], status;
    ck_assert_int_eq(pipe2(p, O_NONBLOCK), 0);
    ck_assert_int_eq(dup2(p[1], STDERR_FILENO), STDERR_FILENO);
    ck_assert_int_eq(hl_stops_nap_ms(), -1);
    pid_t child = start_peer(board, false, 2);
    ck_assert_int_eq(hl_stops_nap_ms(), 1000);
    for (int stop = 0; stop < 2; stop++) {
        ck_assert_int_eq(lines_about(child, p[0], 1), 1);
        kill(child, SIGCONT);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    child = start_peer(board, true, 1);
    ck_assert_int_eq(lines_about(child, p[0], 0), 0); /* its launcher says it */
    kill(child, SIGCONT);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    child = start_peer(board, true, 0);
    if (ptrace(PTRACE_ATTACH, child, NULL, NULL) == 0) {
        ck_assert_int_eq(lines_about(child, p[0], 1), 1); /* which does not hear of a debugger */
    }
    kill(child, SIGKILL);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    hl_stops_close();
    ck_assert_int_eq(hl_stops_nap_ms(), -1);
}
END_TEST

/* How often an end is told of, in the looks of so many seconds or until it is `wanted` times. */
static int look_for_ends(int wanted, uint64_t seconds)
{
    uint64_t begin = hl_now_ns();
    while (ended < wanted && hl_now_ns() - begin < seconds * SECOND) {
        hl_stops_look(begin - SECOND);
        usleep(20000);
    }
    return ended;
}

/* Rank 1 ends, after it has closed or not; it is left a zombie or not. */
static void end_peer(void *board, bool closes, bool zombie)
{
    siginfo_t info;
    peer_closes = closes;
    pid_t child = start_peer(board, true, 1);
    ended = said_ended = 0;
    ck_assert_int_eq(waitpid(child, NULL, WUNTRACED), child);
    kill(child, SIGCONT);
    ck_assert_int_eq(waitid(P_PID, (id_t)child, &info, WEXITED | (zombie ? WNOWAIT : 0)), 0);
}

START_TEST(an_end_is_told_unless_it_was_announced)
{
    void *board =
        mmap(NULL, hl_stops_board_bytes(2), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int zombie = 0; zombie < 2; zombie++) {
        end_peer(board, false, zombie);
        ck_assert_int_eq(look_for_ends(2, 60), 2); /* again, but said once */
        ck_assert_int_eq(said_ended, 1);
        end_peer(board, true, zombie);
        ck_assert_int_eq(look_for_ends(1, 3), 0);
    }
    peer_closes = false;
    pid_t child = start_peer(board, true, 0);
    ended = 0;
    ck_assert_int_eq(look_for_ends(1, 3), 0);
    peer_has_socket = false; /* its number is another process's */
    ck_assert_int_eq(look_for_ends(1, 60), 1);
    peer_has_socket = true;
    kill(child, SIGKILL);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    hl_stops_close();
}
END_TEST

static Suite *make_suite(void)
{
    Suite *s = suite_create("stat");
    TCase *t = tcase_create("stat");
    tcase_add_test(t, lanes_are_summed);
    tcase_add_test(t, threads_count_together);
    tcase_add_test(t, lanes_are_counted_one_by_one);
    tcase_add_test(t, every_row_has_name_and_help);
    tcase_add_test(t, what_a_module_counts_itself_is_added);
    tcase_add_test(t, no_reader_sees_a_counter_fall);
    tcase_add_test(t, circles_are_found_and_nothing_else);
    tcase_add_test(t, ranks_of_other_nodes_are_asked);
    tcase_add_test(t, each_stop_of_a_peer_is_said_once);
    tcase_add_test(t, an_end_is_told_unless_it_was_announced);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(make_suite)
