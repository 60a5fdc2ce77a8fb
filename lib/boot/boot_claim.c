/* Claims: only one program of a rank at a time speaks with its launcher, or answers would be mixed up. */
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

enum { TIMEOUT_MS = 100 };

/* The abstract socket name of a claim; it ends with the process. Returns the address's length. */
static socklen_t name_of(const char *launcher, struct sockaddr_un *a)
{
    uint64_t key[2] = {geteuid(), 0}; /* the hash makes the name short, not secret */
    *a = (struct sockaddr_un){.sun_family = AF_UNIX};
    int n = snprintf(a->sun_path + 1, sizeof a->sun_path - 1, "hotlane/%016jx/claim",
                     (uintmax_t)hl_siphash(key, launcher, strlen(launcher)));
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

/* The other living process of this user that holds the name; 0: none. Another user's claim does not count,
 * nor does one whose socket a forked child has kept: that of a dead process, or of this one. */
static pid_t claim_holder(const struct sockaddr_un *a, socklen_t len)
{
    struct ucred who;
    socklen_t size = sizeof who;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int no = fd < 0;
    /* ECONNREFUSED: the holder is between its bind and its listen. */
    for (int i = 0; i < TIMEOUT_MS && fd >= 0; i++) {
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
    bool other = known && who.uid == geteuid() && who.pid > 0 && who.pid != getpid();
    return other && kill(who.pid, 0) == 0 ? who.pid : 0;
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
