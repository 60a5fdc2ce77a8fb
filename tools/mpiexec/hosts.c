/* mpiexec: does a host name mean this machine? Without asking the name service, which may take seconds. */
#include "mx.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
    if (!strcmp(host, "localhost") || !strncmp(host, "127.", 4) || !strcmp(host, "::1")) {
        return true;
    }
    if (gethostname(me, sizeof me - 1)) {
        return false;
    }
    if (!strcmp(host, me)) {
        return true;
    }
    size_t a = strcspn(host, "."), b = strcspn(me, ".");
    if (a == b && !strncmp(host, me, a) && (!host[a] || !me[b])) {
        return true;
    }
    return address_is_mine(host);
}

/* Cuts ":slots" from a name, but leaves an IPv6 address alone. */
static void cut_slots(char *name)
{
    char *colon = strchr(name, ':');
    if (colon && !strchr(colon + 1, ':')) {
        *colon = 0;
    }
}

bool hl_mx_hosts_foreign(const char *list, char *name, size_t cap)
{
    char *copy = strcpy(hl_mx_alloc(strlen(list) + 1), list), *save = NULL;
    bool found = false;
    for (char *h = strtok_r(copy, ", ", &save); h && !found; h = strtok_r(NULL, ", ", &save)) {
        cut_slots(h);
        found = !is_here(h);
        if (found) {
            snprintf(name, cap, "%s", h);
        }
    }
    free(copy);
    return found;
}

int hl_mx_hostfile_foreign(const char *path, char *name, size_t cap)
{
    char line[1024];
    FILE *f = fopen(path, "re");
    if (!f) {
        return -errno;
    }
    int found = 0;
    while (!found && fgets(line, sizeof line, f)) {
        char *save = NULL;
        line[strcspn(line, "#\n")] = 0;
        char *h = strtok_r(line, " \t", &save);
        if (!h) {
            continue;
        }
        cut_slots(h);
        if (!is_here(h)) {
            snprintf(name, cap, "%s", h);
            found = 1;
        }
    }
    int rc = ferror(f) ? -errno : found; /* a folder */
    fclose(f);
    return rc;
}
