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
#define BLANKS " \t\r\f\v"

/* Words of a file's line, NAME=VALUE. The first ones give the slots, the others have no effect on a job of
 * one machine. A name may have - for each _, and may end before _per_. */
static const char *const words_known[] = {
    "slots",   "cpu",       "count",     "max_slots", "slots_max",         "max_cpu",
    "cpu_max", "max_count", "count_max", "user",      "username",          "user_name",
    "port",    "binding",   "ifname",    "boards",    "sockets_per_board", "cores_per_socket",
};
enum { WORDS = sizeof words_known / sizeof *words_known, WORDS_OF_SLOTS = 3 };

/* Adds the number of slots of an entry. `where` is the option, with the file and its line if it has one.
 * Returns -1, or, after an error message, the exit code. */
static int add_slots(const char *where, const char *host, const char *text, struct hl_mx_slots *slots)
{
    char *end;
    long n = strtol(text, &end, 10);
    if (end == text || *end || n < 1 || n > SLOTS_MOST) {
        return REFUSE("%s: %s: the slots must be 1 to %d, not %s", where, host, SLOTS_MOST,
                      *text ? text : "nothing");
    }
    slots->n += n;
    return -1;
}

/* The place of the name at the beginning of a word, up to its "=", in the table; WORDS: it is not there. */
static int find_word(const char *word)
{
    size_t n = strcspn(word, "="), k;
    for (int i = 0; i < WORDS; i++) {
        for (k = 0; k < n && (word[k] == '-' ? '_' : word[k]) == words_known[i][k]; k++) {
        }
        if (k == n && (!words_known[i][n] || !strncmp(&words_known[i][n], "_per_", 5))) {
            return i;
        }
    }
    return WORDS;
}

/* Takes a further word of a file's line; *number is its value where it gives the slots. */
static int take_word(const char *where, const char *host, char *word, char **number)
{
    char *value = strchr(word, '=');
    int i = find_word(word);
    if (i == WORDS) {
        if (value) {
            *value = 0;
        }
        const char *near = hl_mx_nearest(word, words_known, WORDS);
        return REFUSE("%s: %s: unknown word %s%s%s (slots=N gives the number of ranks)", where, host, word,
                      near ? "; the nearest is " : "", near ? near : "");
    }
    if (!value) {
        return REFUSE("%s: %s: %s has no value; write %s=VALUE", where, host, word, word);
    }
    if (i < WORDS_OF_SLOTS) {
        *number = value + 1;
    } else {
        hl_mx_say("%s: %s: %s: accepted, it has no effect here", where, host, word);
    }
    return -1;
}

/* Takes one entry: a name, perhaps with "user@" before it, which has no effect, and ":slots" behind it (an
 * IPv6 address is not cut), then the further words of a file's line. */
static int take_host(const char *where, char *host, char **words, struct hl_mx_slots *slots)
{
    char *colon = strchr(host, ':'), *number = NULL;
    if (colon && !strchr(colon + 1, ':')) {
        *colon = 0;
        number = colon + 1;
    }
    const char *at = strrchr(host, '@');
    if (!is_here(at ? at + 1 : host)) {
        return REFUSE("%s: %s is not this machine, and this launcher starts ranks on this machine only; "
                      "for several machines start the same program with srun, Hydra's mpiexec or prterun",
                      where, host);
    }
    for (char *w; words && (w = strtok_r(NULL, BLANKS, words));) {
        int rc = take_word(where, host, w, &number);
        if (rc >= 0) {
            return rc;
        }
    }
    if (!number) {
        slots->open = true;
        return -1;
    }
    return add_slots(where, host, number, slots);
}

/* Tells of a list or file, `which`, that has no host in it; `some`: it has. */
static void tell_if_empty(const char *arg, const char *which, bool some)
{
    if (!some) {
        hl_mx_say("%s '%s': names no machine; ranks start on this one", arg, which);
    }
}

int hl_mx_hosts_list(const char *arg, const char *list, struct hl_mx_slots *slots)
{
    char *copy = strcpy(hl_mx_alloc(strlen(list) + 1), list), *save = NULL;
    bool some = false;
    int rc = -1;
    for (char *h = strtok_r(copy, ", ", &save); h && rc < 0; h = strtok_r(NULL, ", ", &save)) {
        rc = take_host(arg, h, NULL, slots);
        some = true;
    }
    tell_if_empty(arg, list, some);
    free(copy);
    return rc;
}

/* Cuts off the end of a line of a file and its comment, and takes out the blanks round each "=". */
static void tidy_line(char *line)
{
    char *to = line, *comment = strstr(line, "//");
    line[strcspn(line, "#\n")] = 0;
    if (comment) {
        *comment = 0;
    }
    for (const char *from = line; *from;) {
        size_t blanks = strspn(from, BLANKS);
        from += blanks;
        if (blanks && *from != '=' && to > line && to[-1] != '=') {
            *to++ = ' ';
        }
        if (*from) {
            *to++ = *from++;
        }
    }
    *to = 0;
}

int hl_mx_hosts_file(const char *arg, const char *path, struct hl_mx_slots *slots)
{
    char *line = NULL;
    size_t cap = 0, room = strlen(arg) + strlen(path) + 32;
    FILE *f = fopen(path, "re");
    if (!f) {
        return REFUSE("%s %s: %s", arg, path, strerror(errno));
    }
    char *where = hl_mx_alloc(room);
    bool some = false;
    int rc = -1;
    for (long n = 1; rc < 0 && getline(&line, &cap, f) >= 0; n++) {
        char *save = NULL;
        snprintf(where, room, "%s %s, line %ld", arg, path, n);
        tidy_line(line);
        char *h = strtok_r(line, BLANKS, &save);
        rc = h ? take_host(where, h, &save, slots) : -1;
        some |= h != NULL;
    }
    if (ferror(f)) { /* a folder */
        rc = REFUSE("%s %s: %s", arg, path, strerror(errno));
    } else {
        tell_if_empty(arg, path, some);
    }
    free(where);
    free(line);
    fclose(f);
    return rc;
}
