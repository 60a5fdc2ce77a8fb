/* shmem: static data keeps its values and addresses when it is shared, stays sparse, and a forked child has
 * its own. */
#include "unit.h"

#include "fork.h"
#include "mem.h"
#include "objects.h"
#include "share.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>

#define HUGE_BYTES ((size_t)1 << 30)

static long first = 5;
static double table[3] = {1.5, 2.5, 3.5};
static long zeroed[100000];
static char *text = "text";
static char huge[HUGE_BYTES];
static const long constant = 77;

static const struct hl_stretch *stretch_of(const void *addr)
{
    for (int i = 0; i < hl_share.objects.n_stretches; i++) {
        const struct hl_stretch *s = &hl_share.objects.stretches[i];
        if ((size_t)((const char *)addr - s->base) < s->len) {
            return s;
        }
    }
    return NULL;
}

/* Shares; false where a sanitizer has a thread of its own, which forbids it. */
static bool share(void)
{
    ck_assert_int_eq(hl_share_statics(true), 0);
    bool beside = SANITIZED && strstr(hl_share.why, "threads") != NULL;
    ck_assert(beside || hl_share.why[0] == '\0');
    return !beside;
}

/* Where a peer would see it. */
static void *other_view(const void *addr)
{
    const struct hl_stretch *s = stretch_of(addr);
    ck_assert(s != NULL && s->shared && hl_share.piece.seg != NULL);
    return hl_share.piece.seg->base + s->off + ((const char *)addr - s->base);
}

/* Bytes of the file that have pages. */
static size_t pages_taken(void)
{
    struct hl_piece p = hl_share.piece;
    uint64_t bytes[8] = {0};
    ck_assert_int_eq(hl_mem_where(&p, bytes, 1), 0);
    return bytes[0];
}

START_TEST(values_stay)
{
    first = 6;
    zeroed[99999] = 8;
    huge[12345678] = 1;
    const long *before = &first;
    if (!share()) {
        return;
    }
    ck_assert(before == &first && first == 6 && table[2] == 3.5 && zeroed[99999] == 8 && zeroed[5] == 0);
    ck_assert(huge[12345678] == 1 && huge[12345679] == 0);
    ck_assert_str_eq(text, "text");
    printf("before and after\n");
    ck_assert_int_eq(setenv("HL_STATICS", "1", 1), 0);
    ck_assert_str_eq(getenv("HL_STATICS"), "1");
}
END_TEST

START_TEST(peers_see_it)
{
    if (!share()) {
        return;
    }
    long *there = other_view(&first);
    ck_assert(there != &first && *there == 5);
    *(volatile long *)there = 9;
    ck_assert_int_eq(*(volatile long *)&first, 9);
    *(volatile double *)&table[1] = 0.25;
    ck_assert(*(volatile double *)other_view(&table[1]) == 0.25);
    huge[HUGE_BYTES - 1] = 3;
    ck_assert_int_eq(*(volatile char *)other_view(&huge[HUGE_BYTES - 1]), 3);
}
END_TEST

START_TEST(huge_stays_sparse)
{
    huge[HUGE_BYTES / 2] = 1;
    if (!share()) {
        return;
    }
    ck_assert(stretch_of(&huge[7]) != NULL && stretch_of(&huge[7])->shared);
    (void)*(volatile char *)other_view(&huge[HUGE_BYTES / 2]);
    ck_assert_uint_lt(pages_taken(), SANITIZED ? (size_t)64 << 20 : (size_t)4 << 20);
}
END_TEST

START_TEST(constants_are_not_symmetric)
{
    ck_assert_int_eq(hl_share_statics(true), 0);
    int here = 0;
    ck_assert(stretch_of(&constant) == NULL && stretch_of(&here) == NULL);
    void *heap = malloc(1);
    ck_assert(stretch_of(heap) == NULL && stretch_of((void *)(uintptr_t)&printf) == NULL);
    free(heap);
}
END_TEST

START_TEST(names_of_libraries_are_foreign)
{
    ck_assert_int_eq(hl_share_statics(true), 0);
    const struct hl_objects *o = &hl_share.objects;
    bool has_stdout = stretch_of(&stdout) == NULL;
    for (int i = 0; i < o->n_foreign; i++) {
        has_stdout = has_stdout || (const void *)o->foreign[i].base == (void *)&stdout;
        ck_assert_ptr_ne(o->foreign[i].base, &first);
    }
    ck_assert(has_stdout);
}
END_TEST

static sem_t done;

static void *wait_for_end(void *arg)
{
    while (sem_wait(&done) != 0) {
    }
    return arg;
}

START_TEST(a_second_thread_forbids_it)
{
    pthread_t thread;
    ck_assert_int_eq(sem_init(&done, 0, 0), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_end, NULL), 0);
    ck_assert_int_eq(hl_share_statics(true), 0);
    ck_assert(hl_share.piece.seg == NULL && strstr(hl_share.why, "threads") != NULL);
    ck_assert(stretch_of(&first) != NULL && !stretch_of(&first)->shared);
    sem_post(&done);
    pthread_join(thread, NULL);
    ck_assert_int_eq(first, 5);
}
END_TEST

static int child_of(void (*body)(void))
{
    int status = -1;
    fflush(NULL);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        body();
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return status;
}

static int pipe_ends[2];

static void change_all(void)
{
    char go;
    if (read(pipe_ends[0], &go, 1) != 1 || first != 5 || zeroed[7] != 0 || huge[HUGE_BYTES / 3] != 4) {
        _exit(3); /* it sees what its parent stored after the fork */
    }
    first = 100;
    table[0] = -1;
    huge[0] = 1;
    huge[HUGE_BYTES / 3] = 5;
    setenv("HL_OF_CHILD", "1", 1);
    if (first != 100 || huge[HUGE_BYTES / 3] != 5) {
        _exit(4);
    }
}

START_TEST(a_child_has_its_own)
{
    int status = -1;
    huge[HUGE_BYTES / 3] = 4;
    ck_assert_int_eq(pipe(pipe_ends), 0);
    if (!share()) {
        return;
    }
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        change_all();
        _exit(child_of(change_all) == 0x300 ? 0 : 5); /* a grandchild sees what the child changed */
    }
    *(volatile long *)&first = 7;
    zeroed[7] = 1;
    ck_assert_int_eq(write(pipe_ends[1], "gg", 2), 2);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    ck_assert(first == 7 && table[0] == 1.5 && huge[0] == 0 && huge[HUGE_BYTES / 3] == 4);
    ck_assert_ptr_eq(getenv("HL_OF_CHILD"), NULL);
    ck_assert_int_eq(*(volatile long *)other_view(&first), 7);
}
END_TEST

START_TEST(commands_run)
{
    ck_assert_int_eq(hl_share_statics(true), 0);
    ck_assert_int_eq(system("exit 3") >> 8, 3);
    FILE *p = popen("echo word", "r");
    char word[16] = "";
    ck_assert(p != NULL && fgets(word, sizeof word, p) != NULL && strcmp(word, "word\n") == 0);
    ck_assert_int_eq(pclose(p), 0);
    ck_assert_int_eq(first, 5);
}
END_TEST

static char *view;

static void store_in_view(void)
{
    view[0] = 2;
    if (view[0] != 2 || view[4096] != 1) {
        _exit(3);
    }
}

static void store_at_peer(void)
{
    *(volatile char *)view = 2;
}

START_TEST(large_memory_is_copied_by_the_page)
{
    struct hl_mem_ask ask = {.own_segment = true};
    struct hl_piece piece;
    ck_assert_int_eq(hl_mem_alloc((size_t)1 << 20, &ask, &piece), 0);
    view = piece.addr;
    view[4096] = 1;
    ck_assert_int_eq(hl_fork_keep(view, piece.len, piece.seg->fd, 0, HL_FORK_VIEW), 0);
    ck_assert_int_eq(child_of(store_in_view), 0);
    ck_assert_int_eq(view[0], 0);
    hl_fork_forget(view);
    ck_assert_int_eq(hl_fork_keep(view, piece.len, -1, 0, HL_FORK_LOOK), 0);
    ck_assert_int_ne(child_of(store_at_peer), 0);
    ck_assert_int_eq(view[0], 0);
    hl_fork_forget(view);
    ck_assert_int_eq(child_of(store_at_peer), 0);
    ck_assert_int_eq(view[0], 2);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *s = suite_create("statics");
    TCase *t = tcase_create("statics");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, values_stay);
    tcase_add_test(t, peers_see_it);
    tcase_add_test(t, huge_stays_sparse);
    tcase_add_test(t, constants_are_not_symmetric);
    tcase_add_test(t, names_of_libraries_are_foreign);
    tcase_add_test(t, a_second_thread_forbids_it);
    tcase_add_test(t, a_child_has_its_own);
    tcase_add_test(t, commands_run);
    tcase_add_test(t, large_memory_is_copied_by_the_page);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(make_suite)
