/* A kick of the receive thread that comes before it is there, or after it has ended. Part of test_rx.c. */
#ifndef RX_KICK_H
#define RX_KICK_H

#include "inner.h"
#include "job.h"
#include "unit.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
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

#endif
