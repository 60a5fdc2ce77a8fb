/* A kick of the receive thread that comes before it is there, or after it has ended. Part of test_rx.c. */
#ifndef RX_KICK_H
#define RX_KICK_H

#include "inner.h"
#include "job.h"
#include "unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

START_TEST(a_kick_writes_into_nothing_but_the_bell)
{
    struct stat st;
    close(STDIN_FILENO);
    int fd = memfd_create("zero", 0);
    ck_assert_int_eq(fd, STDIN_FILENO);
    hl_rx_kick(); /* nothing is open */
    hl_rx.bells = calloc((size_t)hl_job.node_size, sizeof *hl_rx.bells);
    hl_rx.bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    hl_rx.epoll = epoll_create1(EPOLL_CLOEXEC);
    int number = hl_rx.bell;
    hl_rx_stop();
    int later = memfd_create("later", 0);
    ck_assert_int_eq(later, number);
    hl_rx_kick();
    ck_assert(fstat(fd, &st) == 0 && st.st_size == 0);
    ck_assert(fstat(later, &st) == 0 && st.st_size == 0);
}
END_TEST

/* Without descriptors nothing stays open, and nothing is closed that is not ours. */
START_TEST(a_receive_side_that_does_not_open_leaves_nothing)
{
    struct rlimit old, few;
    int next = dup(STDOUT_FILENO); /* the lowest free number */
    close(next);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &old), 0);
    few = (struct rlimit){(rlim_t)next + 1, old.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
    void *board = calloc((size_t)hl_job.node_size, sizeof(struct hl_rx_ring));
    ck_assert_int_eq(hl_rx_open(board), HL_ERR_OTHER);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &old), 0);
    ck_assert(hl_rx.bells == NULL && hl_rx.dead == NULL && hl_rx.bell < 0);
    ck_assert_int_eq(dup(STDOUT_FILENO), next);
    hl_rx_stop();
    ck_assert_int_eq(fcntl(next, F_GETFD), 0);
    free(board);
}
END_TEST

#endif
