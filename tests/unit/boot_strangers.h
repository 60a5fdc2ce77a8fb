/* The node socket of a rank takes messages of its user and its job, and at most one descriptor with each. */
#ifndef BOOT_STRANGERS_H
#define BOOT_STRANGERS_H

#include "boot_node.h"
#include "stat.h"

#include <sys/un.h>

/* What boot puts in front of each message. */
struct datagram {
    uint64_t nonce;
    int32_t from;
    uint32_t len;
    char text[8];
};

/* Sends it with two descriptors to rank 0's node socket, from a socket of nobody. 0 or -errno. */
static int drop_in(uint64_t nonce, int32_t from)
{
    union {
        char room[CMSG_SPACE(2 * sizeof(int))];
        struct cmsghdr align;
    } c = {.room = {0}};
    int two[2] = {0, 1}, s = socket(AF_UNIX, SOCK_DGRAM, 0);
    struct datagram datagram = {nonce, from, sizeof datagram.text, "hello"};
    struct iovec v = {&datagram, sizeof datagram};
    struct sockaddr_un to;
    struct msghdr m = {.msg_name = &to, .msg_iov = &v, .msg_iovlen = 1};
    m.msg_namelen = hl_boot_node_address(&to, "rank", 0);
    m.msg_control = c.room;
    m.msg_controllen = sizeof c.room;
    struct cmsghdr *h = CMSG_FIRSTHDR(&m);
    h->cmsg_level = SOL_SOCKET;
    h->cmsg_type = SCM_RIGHTS;
    h->cmsg_len = CMSG_LEN(sizeof two);
    memcpy(CMSG_DATA(h), two, sizeof two);
    int rc = sendmsg(s, &m, MSG_DONTWAIT) < 0 ? -errno : 0;
    close(s);
    return rc;
}

static void open_node_socket(void)
{
    hl_boot.secret[0] = (uint64_t)getpid();
    hl_boot.secret[1] = 42;
    hl_job.nonce = 77;
    hl_job.rank = hl_job.node_rank = 0;
    hl_job.size = hl_job.node_size = 1;
    ck_assert_int_eq(hl_boot_socket_open(), 0);
}

static int receive_datagram(int *fd)
{
    char text[64];
    size_t len = 0;
    int from = -1;
    *fd = -1;
    int rc = hl_boot_node_recv(text, sizeof text, &len, &from, fd);
    ck_assert(rc != 0 || (len == 8 && strcmp(text, "hello") == 0 && from == 0));
    return rc;
}

START_TEST(nobody_leaves_descriptors_here)
{
    int fd;
    open_node_socket();
    int before = fds_open();
    ck_assert_int_eq(drop_in(hl_boot_node_nonce(), 0), 0);
    ck_assert_int_eq(receive_datagram(&fd), 0);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(fds_open(), before + 1); /* the first; the other was closed */
    close(fd);
    ck_assert_int_eq(drop_in(hl_boot_node_nonce(), 1), 0); /* no such node rank */
    ck_assert_int_eq(receive_datagram(&fd), HL_ERR_AGAIN);
    ck_assert_int_eq(fds_open(), before);
    hl_boot_socket_close();
}
END_TEST

/* The nonce of the network is no password here, and messages without the right one take no place. */
START_TEST(strangers_take_no_place_in_the_queue)
{
    int fd;
    open_node_socket();
    int before = fds_open();
    for (int i = 0; i < 500; i++) {
        int rc = drop_in(i % 2 ? hl_job.nonce : hl_boot_node_nonce() ^ UINT64_C(1) << i % 64, 0);
        ck_assert(rc == 0 || rc == -EAGAIN); /* it is full where the kernel forbids filters */
        if (rc == -EAGAIN) {
            ck_assert_int_eq(receive_datagram(&fd), HL_ERR_AGAIN);
        }
    }
    ck_assert_int_eq(receive_datagram(&fd), HL_ERR_AGAIN);
    ck_assert_int_eq(fds_open(), before);
    ck_assert_int_eq(drop_in(hl_boot_node_nonce(), 0), 0);
    ck_assert_int_eq(receive_datagram(&fd), 0);
    close(fd);
    hl_boot_socket_close();
}
END_TEST

/* Who knows even the nonce is still asked for his user. */
START_TEST(other_users_are_not_heard)
{
    int fd;
    uint64_t dropped = 0, now = 0;
    if (geteuid() != 0) {
        printf("no other user can be played without root\n");
        return;
    }
    open_node_socket();
    int before = fds_open();
    ck_assert_int_eq(hl_stat_get("rx_dropped", &dropped), 0);
    pid_t child = fork();
    if (child == 0) {
        _exit(setgid(65534) != 0 || setuid(65534) != 0 || drop_in(hl_boot_node_nonce(), 0) != 0);
    }
    int status = 1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(receive_datagram(&fd), HL_ERR_AGAIN);
    ck_assert_int_eq(fds_open(), before);
    ck_assert_int_eq(hl_stat_get("rx_dropped", &now), 0);
    ck_assert_uint_eq(now, dropped + 1);
    hl_boot_socket_close();
}
END_TEST

/* From one name nobody can tell the next. */
START_TEST(names_have_nothing_in_common)
{
    struct sockaddr_un a, b;
    hl_boot.secret[0] = 7;
    hl_boot_node_address(&a, "rank", 0);
    hl_boot_node_address(&b, "rank", 1);
    ck_assert_int_ne(memcmp(a.sun_path + 1, b.sun_path + 1, 24), 0);
    hl_boot_node_address(&b, "meet", 0);
    ck_assert_int_ne(memcmp(a.sun_path + 1, b.sun_path + 1, 24), 0);
}
END_TEST

#endif
