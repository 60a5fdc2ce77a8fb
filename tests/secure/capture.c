/* For LD_PRELOAD: keeps what a process sends on internet connections that it made itself, a file each, in the
 * folder CAPTURE. */
#include <dlfcn.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define FDS 1024
#define KEPT (256 << 10)
#define PUBLIC __attribute__((visibility("default")))

static int file_of[FDS]; /* 1 + descriptor of its file */
static size_t kept[FDS];

static void keep(int fd, const struct iovec *v, size_t n, ssize_t sent)
{
    for (size_t i = 0; i < n && sent > 0 && fd < FDS && file_of[fd] != 0 && kept[fd] < KEPT; i++) {
        size_t part = (size_t)sent < v[i].iov_len ? (size_t)sent : v[i].iov_len;
        (void)!write(file_of[fd] - 1, v[i].iov_base, part);
        kept[fd] += part;
        sent -= (ssize_t)part;
    }
}

/* What would be called without us; looked up each time, as threads would have to agree who keeps it. */
#define NEXT(name, type) __extension__((type)dlsym(RTLD_NEXT, #name))

/* Under a name of its own: the system's header declares the other with a union. */
PUBLIC int keep_connect(int fd, const struct sockaddr *addr, socklen_t len) __asm__("connect");

int keep_connect(int fd, const struct sockaddr *addr, socklen_t len)
{
    char path[512];
    const char *folder = getenv("CAPTURE");
    if (addr->sa_family == AF_INET && fd < FDS && folder != NULL) {
        snprintf(path, sizeof path, "%s/%d-%d", folder, (int)getpid(), fd);
        file_of[fd] = 1 + open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
        kept[fd] = 0;
    }
    return NEXT(connect, int (*)(int, const struct sockaddr *, socklen_t))(fd, addr, len);
}

PUBLIC ssize_t send(int fd, const void *bytes, size_t len, int flags)
{
    ssize_t sent = NEXT(send, ssize_t(*)(int, const void *, size_t, int))(fd, bytes, len, flags);
    struct iovec v = {(void *)(uintptr_t)bytes, len};
    keep(fd, &v, 1, sent);
    return sent;
}

PUBLIC ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
    ssize_t sent = NEXT(sendmsg, ssize_t(*)(int, const struct msghdr *, int))(fd, m, flags);
    keep(fd, m->msg_iov, m->msg_iovlen, sent);
    return sent;
}

PUBLIC ssize_t writev(int fd, const struct iovec *v, int n)
{
    ssize_t sent = NEXT(writev, ssize_t(*)(int, const struct iovec *, int))(fd, v, n);
    keep(fd, v, (size_t)n, sent);
    return sent;
}
