/* A kick of the receive thread that comes before it is there, or after it has ended. Part of test_rx.c. */
#ifndef RX_KICK_H
#define RX_KICK_H

#include "alive.h"
#include "boot.h"
#include "conf.h"
#include "fab_lib.h"
#include "job.h"
#include "model.h"
#include "rx_internal.h"
#include "unit.h"
#include "util.h"

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

/* Without a descriptor to sleep on the queue is read every millisecond: that is no wait for a connection. */
START_TEST(a_process_that_holds_all_descriptors_and_needs_none_goes_on)
{
    struct rlimit old, none;
    void *board = calloc((size_t)hl_job.node_size, sizeof(struct hl_rx_ring));
    model.waits = MODEL_NO_WAIT;
    hl_fab_lib = (struct hl_fab_lib)MODEL_LIB;
    ck_assert_int_eq(hl_conf_load(), 0);
    hl_conf.provider = "model";
    ck_assert_int_eq(hl_boot_open(), 0); /* a job of one rank */
    ck_assert_int_eq(hl_rx_open(board), 0);
    ck_assert_int_eq(hl_rx_network(), 0);
    int next = dup(STDOUT_FILENO); /* the lowest free number */
    close(next);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &old), 0);
    none = (struct rlimit){(rlim_t)next, old.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    while (dup(STDOUT_FILENO) >= 0) { /* the thread may have had one for a moment */
    }
    for (uint64_t begin = hl_now_ns(); hl_now_ns() - begin < 6 * HL_RX_SECOND_NS;) {
        usleep(10000); /* the thread looks once a second, and ends the job after a few looks in vain */
    }
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &old), 0);
    hl_rx_stop();
    ck_assert_int_eq(model.objects, 0);
    free(board);
}
END_TEST

#endif
