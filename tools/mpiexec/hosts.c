/* mpiexec: reads lists and files of hosts: whether each name means this machine, and how many slots it has.
 * It does not ask the name service, which may take seconds. */
#include "mx.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static bool address_is_mine(const char *text)
{
    struct in6_addr want;
    int family = inet_pton(AF_INET, text, &want) == 1    ? AF_INET
                 : inet_pton(AF_INET6, text, &want) == 1 ? AF_INET6
                                                         : 0;
    struct ifaddrs *list = NULL;
    bool mine = false;
    if (!family || getifaddrs(&list)) {
        return false;
    }
    for (struct ifaddrs *i = list; i && !mine; i = i->ifa_next) {
        if (!i->ifa_addr || i->ifa_addr->sa_family != family) {
            continue;
        }
        mine = family == AF_INET
                   ? !memcmp(&((struct sockaddr_in *)(void *)i->ifa_addr)->sin_addr, &want,
                             sizeof(struct in_addr))
                   : !memcmp(&((struct sockaddr_in6 *)(void *)i->ifa_addr)->sin6_addr, &want, sizeof want);
    }
    freeifaddrs(list);
    return mine;
}

static bool is_here(const char *host)
{
    char me[256] = "";
    if (!strcasecmp(host, "localhost") || !strncmp(host, "127.", 4) || !strcmp(host, "::1")) {
        return true;
    }
    if (gethostname(me, sizeof me - 1)) {
        return false;
    }
    if (!strcasecmp(host, me)) {
        return true;
    }
    size_t a = strcspn(host, "."), b = strcspn(me, ".");
    if (a == b && !strncasecmp(host, me, a) && (!host[a] || !me[b])) {
        return true;
    }
    return address_is_mine(host);
}

enum { SLOTS_MOST = 100000 };

#define REFUSE(...) (hl_mx_say(__VA_ARGS__), 2)

/* Adds the number of slots of an entry. Returns -1, or, after an error message, the exit code. */
static int add_slots(const char *arg, const char *host, const char *text, struct hl_mx_slots *slots)
{
    char *end;
    long n = strtol(text, &end, 10);
    if (end == text || *end || n < 1 || n > SLOTS_MOST) {
        return REFUSE("%s: %s: the slots must be 1 to %d, not %s", arg, host, SLOTS_MOST, text);
    }
    slots->n += n;
    return -1;
}

/* Takes one entry: a name, perhaps with ":slots" behind it (an IPv6 address is not cut), then the further
 * words of a file's line. */
static int take_host(const char *arg, char *host, char **words, struct hl_mx_slots *slots)
{
    char *colon = strchr(host, ':'), *number = NULL;
    if (colon && !strchr(colon + 1, ':')) {
        *colon = 0;
        number = colon + 1;
    }
    if (!is_here(host)) {
        return REFUSE("%s: %s is not this machine, and this launcher starts ranks on this machine only; "
                      "for several machines start the same program with srun, Hydra's mpiexec or prterun",
                      arg, host);
    }
    for (char *w; words && (w = strtok_r(NULL, " \t\r", words));) {
        if (strncmp(w, "slots=", 6) != 0) {
            hl_mx_say("%s: %s: %s: accepted, it has no effect here", arg, host, w);
            continue;
        }
        number = w + 6;
    }
    if (!number) {
        slots->open = true;
        return -1;
    }
    return add_slots(arg, host, number, slots);
}

int hl_mx_hosts_list(const char *arg, const char *list, struct hl_mx_slots *slots)
{
    char *copy = strcpy(hl_mx_alloc(strlen(list) + 1), list), *save = NULL;
    int rc = -1;
    for (char *h = strtok_r(copy, ", ", &save); h && rc < 0; h = strtok_r(NULL, ", ", &save)) {
        rc = take_host(arg, h, NULL, slots);
    }
    free(copy);
    return rc;
}

int hl_mx_hosts_file(const char *arg, const char *path, struct hl_mx_slots *slots)
{
    char *line = NULL;
    size_t cap = 0;
    FILE *f = fopen(path, "re");
    if (!f) {
        return REFUSE("%s %s: %s", arg, path, strerror(errno));
    }
    int rc = -1;
    while (rc < 0 && getline(&line, &cap, f) >= 0) {
        char *save = NULL;
        line[strcspn(line, "#\n")] = 0;
        char *h = strtok_r(line, " \t\r", &save);
        rc = h ? take_host(arg, h, &save, slots) : -1;
    }
    if (ferror(f)) { /* a folder */
        rc = REFUSE("%s %s: %s", arg, path, strerror(errno));
    }
    free(line);
    fclose(f);
    return rc;
}
