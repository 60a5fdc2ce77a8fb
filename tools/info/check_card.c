/* A network card that is there and not used: each condition for its use is looked at, in the order in which
 * they build on each other, and the first that does not hold is told. */
#include "check.h"

#include "fab.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define IB "/sys/class/infiniband"
#define CXI "/sys/class/cxi"

struct card {
    char name[64];
    const char *provider; /* libfabric's for it */
    bool verbs;           /* reached by libibverbs */
    bool active;          /* some port is, or ports are not told of */
    char port[200];       /* states of its ports in words */
};

/* Calls fn for each entry of a folder until it returns true: did it? */
static bool any_in(const struct check *c, const char *folder, bool (*fn)(const char *entry, void *arg),
                   void *arg)
{
    char path[PATH_MAX];
    bool found = false;
    snprintf(path, sizeof path, "%s%s", c->root, folder);
    DIR *dir = opendir(path);
    const struct dirent *e;
    while (dir != NULL && !found && (e = readdir(dir)) != NULL) {
        found = e->d_name[0] != '.' && fn(e->d_name, arg);
    }
    if (dir != NULL) {
        closedir(dir);
    }
    return found;
}

struct search {
    const struct check *c;
    struct card *card;
    char name[64]; /* of what was found */
};

static bool take_entry(const char *entry, void *arg)
{
    struct search *s = arg;
    snprintf(s->name, sizeof s->name, "%.60s", entry);
    return true;
}

/* "4: ACTIVE" and so on. */
static bool note_port(const char *entry, void *arg)
{
    struct search *s = arg;
    char path[PATH_MAX], state[64];
    size_t at = strlen(s->card->port);
    snprintf(path, sizeof path, IB "/%s/ports/%.20s/state", s->card->name, entry);
    if (check_read(s->c, path, state, sizeof state)) {
        const char *word = strchr(state, ' ') != NULL ? strchr(state, ' ') + 1 : state;
        snprintf(s->card->port + at, sizeof s->card->port - at, "%sport %.20s: %.30s", at > 0 ? ", " : "",
                 entry, word);
        return strcmp(word, "ACTIVE") == 0;
    }
    return false;
}

/* The kernel's driver decides who speaks to it. */
static void find_provider(const struct check *c, struct card *card)
{
    char path[PATH_MAX], target[PATH_MAX] = "";
    snprintf(path, sizeof path, "%s" IB "/%s/device/driver", c->root, card->name);
    ssize_t n = readlink(path, target, sizeof target - 1);
    const char *driver = n > 0 && strrchr(target, '/') != NULL ? strrchr(target, '/') + 1 : "";
    bool hfi = strcmp(driver, "hfi1") == 0;
    card->provider = hfi ? "opx" : strcmp(driver, "efa") == 0 ? "efa" : "verbs";
    card->verbs = !hfi;
}

static bool look_at_card(const char *entry, void *arg)
{
    struct search *s = arg;
    char path[PATH_MAX];
    struct card one = {0};
    snprintf(one.name, sizeof one.name, "%.60s", entry);
    find_provider(s->c, &one);
    snprintf(path, sizeof path, IB "/%s/ports", one.name);
    one.active =
        any_in(s->c, path, note_port, &(struct search){.c = s->c, .card = &one}) || one.port[0] == '\0';
    if (one.active || s->card->name[0] == '\0') {
        *s->card = one;
    }
    return one.active;
}

/* The first with an active port, else the last one; false: there is none. */
static bool find_card(const struct check *c, struct card *out)
{
    struct search s = {.c = c, .card = out};
    memset(out, 0, sizeof *out);
    if (any_in(c, IB, look_at_card, &s) || out->name[0] != '\0') {
        return true;
    }
    out->provider = "cxi";
    out->active = true;
    if (!any_in(c, CXI, take_entry, &s)) {
        return false;
    }
    snprintf(out->name, sizeof out->name, "%s", s.name);
    return true;
}

/* ---- what keeps it from being used ---- */

static bool is_device(const char *entry, void *arg)
{
    struct search *s = arg;
    char path[PATH_MAX], name[64];
    snprintf(path, sizeof path, "/sys/class/infiniband_verbs/%.60s/ibdev", entry);
    snprintf(s->name, sizeof s->name, "%.60s", entry);
    return check_read(s->c, path, name, sizeof name) && strcmp(name, s->card->name) == 0;
}

static bool tell_device(struct check *c, struct card *card)
{
    struct search s = {.c = c, .card = card};
    char path[PATH_MAX];
    if (!any_in(c, "/sys/class/infiniband_verbs", is_device, &s)) {
        check_say(c, CHECK_BETTER, "network",
                  "%s is taken, and not the card %s: the kernel has no device of ib_uverbs for it",
                  hl_fab.provider, card->name);
        check_fix(c, "sudo modprobe ib_uverbs");
        return true;
    }
    snprintf(path, sizeof path, "%s/dev/infiniband/%s", c->root, s.name);
    if (access(path, R_OK | W_OK) == 0) {
        return false;
    }
    bool missing = errno == ENOENT;
    check_say(c, CHECK_BETTER, "network", "%s is taken, and not the card %s: /dev/infiniband/%s %s",
              hl_fab.provider, card->name, s.name,
              missing ? "is not there" : "may not be opened by this user");
    check_fix(c, missing
                     ? "docker run --device=/dev/infiniband    # in a container; else: sudo udevadm trigger"
                     : "ls -l /dev/infiniband    # who may");
    return true;
}

/* Is the card among those that libibverbs has a driver for? -1: it cannot be asked. Under a root the file
 * ibv_devices there says what it would. */
static int has_driver(const struct check *c, const char *card)
{
    char line[64];
    if (c->root[0] != '\0') {
        return check_read(c, "/ibv_devices", line, sizeof line) ? strcmp(line, card) == 0 : -1;
    }
    void *so = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
    if (so == NULL) {
        return 0;
    }
    void **(*list)(int *);
    const char *(*name)(void *);
    void (*end)(void **);
    *(void **)&list = dlsym(so, "ibv_get_device_list");
    *(void **)&name = dlsym(so, "ibv_get_device_name");
    *(void **)&end = dlsym(so, "ibv_free_device_list");
    int n = 0, found = -1;
    void **all = list != NULL && name != NULL && end != NULL ? list(&n) : NULL;
    if (all != NULL) {
        found = 0;
        for (int i = 0; i < n; i++) {
            found |= strcmp(name(all[i]), card) == 0;
        }
        end(all);
    }
    return found;
}

static bool has_address(const char *entry, void *arg)
{
    struct ifaddrs *all;
    bool found = false;
    if (getifaddrs(&all) != 0) {
        return true; /* not known */
    }
    for (const struct ifaddrs *i = all; i != NULL; i = i->ifa_next) {
        found |= strcmp(i->ifa_name, entry) == 0 && i->ifa_addr != NULL &&
                 (i->ifa_addr->sa_family == AF_INET || i->ifa_addr->sa_family == AF_INET6);
    }
    freeifaddrs(all);
    return found;
}

/* What libfabric says of it. */
static void tell_provider(struct check *c, const struct card *card)
{
    char path[PATH_MAX];
    if (!hl_fab_has(card->provider)) {
        check_say(c, CHECK_BETTER, "network",
                  "%s is taken, and not the card %s: this libfabric lists no provider %s", hl_fab.provider,
                  card->name, card->provider);
        check_fix(c, "FI_LOG_LEVEL=warn fi_info -l    # (libfabric-bin) what it has, and why not more");
        return;
    }
    snprintf(path, sizeof path, IB "/%s/device/net", card->name);
    if (c->root[0] == '\0' && strcmp(card->provider, "verbs") == 0 && !any_in(c, path, has_address, NULL)) {
        check_say(c, CHECK_BETTER, "network",
                  "%s is taken, and not the card %s: its ports have no IP address, by which its connections "
                  "are made",
                  hl_fab.provider, card->name);
        check_fix(c, "ip addr    # sudo ip addr add ADDRESS dev ...: that of the card (IPoIB, RoCE)");
        return;
    }
    check_say(
        c, CHECK_BETTER, "network",
        "%s is taken, and not the card %s: libfabric's provider %s does not offer all that is needed (%s)",
        hl_fab.provider, card->name, card->provider, c->facts->net);
    check_fix(c, "FI_LOG_LEVEL=warn fi_info -p %s    # (libfabric-bin) what it offers, and why not more",
              card->provider);
}

bool check_card(struct check *c)
{
    struct card card;
    const char *only = hl_conf_env("FI_PROVIDER");
    if (!find_card(c, &card)) {
        return false;
    }
    if (hl_conf.provider[0] != '\0') {
        check_say(c, CHECK_BETTER, "network",
                  "%s is taken, and not the card %s, because HOTLANE_PROVIDER=%s says so", hl_fab.provider,
                  card.name, hl_conf.provider);
        check_unset(c, &hl_conf.provider);
    } else if (only != NULL) {
        check_say(c, CHECK_BETTER, "network",
                  "%s is taken, and not the card %s: with FI_PROVIDER=%s libfabric offers nothing else",
                  hl_fab.provider, card.name, only);
        check_fix(c, "unset FI_PROVIDER");
    } else if (!card.active) {
        check_say(c, CHECK_BETTER, "network",
                  "%s is taken, and not the card %s, of which no port is active (%s)", hl_fab.provider,
                  card.name, card.port);
        check_fix(c, "rdma link    # (iproute2) its ports: cable, switch, sudo ip link set ... up");
    } else if (card.verbs && tell_device(c, &card)) {
        return true;
    } else if (card.verbs && has_driver(c, card.name) == 0) {
        check_say(c, CHECK_BETTER, "network",
                  "%s is taken, and not the card %s: libibverbs has no driver for it", hl_fab.provider,
                  card.name);
        check_fix(c, "sudo apt-get install ibverbs-providers");
    } else {
        tell_provider(c, &card);
    }
    return true;
}
