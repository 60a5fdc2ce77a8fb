/* The ranks of a node meet while the launcher tells of deaths: the notices are kept. */
#ifndef BOOT_MEETING_H
#define BOOT_MEETING_H

#include "boot_node.h"

enum { DEATHS = 100 };

static int bound[2], told[2],
    notices[2]; /* pipes: the leader has bound; it may tell the list; the launcher speaks */

static void be_rank(int rank)
{
    hl_boot.secret[0] = (uint64_t)getpgrp();
    hl_boot.secret[1] = 43;
    hl_job.rank = rank;
    hl_job.size = 3;
}

/* The leader's fence lasts until the other rank has heard all notices. */
static int fence_of_leader(int also, void (*serve)(void *), void *arg)
{
    char c = 0;
    return write(bound[1], "b", 1) == 1 && read(told[0], &c, 1) == 1 ? 0 : HL_ERR_OTHER;
}

static int fence_of_member(int also, void (*serve)(void *), void *arg)
{
    static const char all[DEATHS];
    return write(notices[1], all, sizeof all) == DEATHS ? 0 : HL_ERR_OTHER;
}

static int notices_fd(void)
{
    return notices[0];
}

static int take_notice(int *rank, int *code)
{
    static int taken;
    char c;
    ck_assert_int_eq(read(notices[0], &c, 1), 1);
    *rank = taken++;
    *code = 9;
    if (taken == DEATHS) {
        ck_assert_int_eq(write(told[1], "t", 1), 1);
    }
    return 1;
}

START_TEST(deaths_that_are_told_while_the_node_meets_are_not_forgotten)
{
    static const struct hl_boot_method leader = {.fence = fence_of_leader, .watch_fd = notices_fd};
    static const struct hl_boot_method member = {
        .fence = fence_of_member, .watch_fd = notices_fd, .watch_take = take_notice};
    int rank = -1, code = -1, status = -1;
    char c;
    ck_assert(pipe(bound) == 0 && pipe(told) == 0 && pipe(notices) == 0);
    pid_t child = fork();
    if (!child) {
        be_rank(0);
        _exit(hl_boot_node_prove(&leader, 0) == 0 && hl_job.node_size == 2 ? 0 : 99);
    }
    ck_assert_int_eq(read(bound[0], &c, 1), 1);
    be_rank(1);
    ck_assert(!hl_boot_watch_waits());
    ck_assert_int_eq(hl_boot_node_prove(&member, 0), 0);
    ck_assert_int_eq(hl_job.node_size, 2);
    for (int i = 0; i < DEATHS; i++) {
        ck_assert(hl_boot_watch_waits());
        ck_assert_int_eq(hl_boot_watch_take(&rank, &code), 1);
        ck_assert(rank == i && code == 9);
    }
    ck_assert(!hl_boot_watch_waits());
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}
END_TEST

static int fence_that_frees_the_leader(int also, void (*serve)(void *), void *arg)
{
    return write(told[1], "t", 1) == 1 ? 0 : HL_ERR_OTHER;
}

/* The leader says that it is rank 5 of 3. */
START_TEST(a_list_of_ranks_that_are_none_is_refused)
{
    static const struct hl_boot_method leader = {.fence = fence_of_leader, .watch_fd = notices_fd};
    static const struct hl_boot_method member = {
        .fence = fence_that_frees_the_leader, .watch_fd = notices_fd, .watch_take = take_notice};
    int status = -1;
    char c;
    ck_assert(pipe(bound) == 0 && pipe(told) == 0 && pipe(notices) == 0);
    pid_t child = fork();
    if (!child) {
        be_rank(5);
        (void)hl_boot_node_prove(&leader, 0);
        _exit(0);
    }
    ck_assert_int_eq(read(bound[0], &c, 1), 1);
    be_rank(1);
    ck_assert_int_eq(hl_boot_node_prove(&member, 0), HL_ERR_OTHER);
    ck_assert(strstr(hl_err_text(HL_ERR_OTHER), "list of 2 ranks") != NULL);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}
END_TEST

#endif
