/* One program of a rank at a time speaks with its launcher: what two would ask at once gets mixed answers. */
#include "boot_method.h"
#include "err.h"
#include "util.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { PATIENCE_MS = 100 };

/* An abstract name in /proc/net/unix, which goes with the process. */
static socklen_t name_of(const char *launcher, struct sockaddr_un *a)
{
    uint64_t key[2] = {geteuid(), 0}; /* makes it short, not secret */
    *a = (struct sockaddr_un){.sun_family = AF_UNIX};
    int n = snprintf(a->sun_path + 1, sizeof a->sun_path - 1, "hotlane/%016jx/claim",
                     (uintmax_t)hl_siphash(key, launcher, strlen(launcher)));
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

/* The process of this user that has the name, 0 for none: another user's claim is not believed, and a child
 * that its holder forked may keep the socket of a dead one. */
static pid_t claim_holder(const struct sockaddr_un *a, socklen_t len)
{
    struct ucred who;
    socklen_t size = sizeof who;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int no = fd < 0;
    /* Refused: it is between its bind and its listen. */
    for (int i = 0; i < PATIENCE_MS && fd >= 0; i++) {
        no = connect(fd, (const struct sockaddr *)a, len);
        if (!no || errno != ECONNREFUSED) {
            break;
        }
        usleep(1000);
    }
    bool known = !no && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0;
    if (fd >= 0) {
        close(fd);
    }
    return known && who.uid == geteuid() && who.pid > 0 && kill(who.pid, 0) == 0 ? who.pid : 0;
}

int hl_boot_claim(const char *launcher, struct hl_boot_job *job, int *claim)
{
    struct sockaddr_un a;
    socklen_t len = name_of(launcher, &a);
    *claim = -1;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return 0;
    }
    if (bind(fd, (const struct sockaddr *)&a, len) == 0 && listen(fd, SOMAXCONN) == 0) {
        *claim = fd;
        return 0;
    }
    pid_t pid = errno == EADDRINUSE ? claim_holder(&a, len) : 0;
    close(fd);
    if (pid == 0) {
        return 0;
    }
    job->taken = true;
    return hl_err_say(HL_ERR_OTHER, "process %d, another MPI program of this rank, speaks with the launcher",
                      (int)pid);
}

void hl_boot_unclaim(int *claim)
{
    if (*claim >= 0) {
        close(*claim);
        *claim = -1;
    }
}
