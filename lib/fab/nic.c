/* Network cards that are there and not used. The conditions for their use are looked at in the order in which
 * they build on each other, and the first that does not hold is told. */
#include "nic.h"

#include "fab.h"

#include "conf.h"
#include "util.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define IB "/sys/class/infiniband"
#define CXI "/sys/class/cxi"
#define ROOM 512 /* bytes for a path: the kernel's names are short, and callers may have little stack */

struct nic {
    char name[64];
    const struct hl_provider *row; /* of the provider that serves it */
    bool active;
    char port[200]; /* states of its ports in words */
};

struct nic_search {
    const char *root;
    struct nic *card;
    char name[64]; /* of the entry that was found */
};

/* Calls fn for each entry of a folder until it returns true. Returns whether it did. */
static bool search_folder(const char *root, const char *folder, bool (*fn)(const char *entry, void *arg),
                          void *arg)
{
    char path[ROOM];
    bool found = false;
    snprintf(path, sizeof path, "%s%s", root, folder);
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

static bool take_entry(const char *entry, void *arg)
{
    struct nic_search *s = arg;
    snprintf(s->name, sizeof s->name, "%.60s", entry);
    return true;
}

/* Adds a port's state (the file has "4: ACTIVE" or the like) to the card's words; true: the port is
 * active. */
static bool note_port(const char *entry, void *arg)
{
    struct nic_search *s = arg;
    char path[ROOM], state[64];
    size_t at = strlen(s->card->port);
    snprintf(path, sizeof path, IB "/%s/ports/%.20s/state", s->card->name, entry);
    if (hl_read_line(s->root, path, state, sizeof state)) {
        const char *word = strchr(state, ' ') != NULL ? strchr(state, ' ') + 1 : state;
        snprintf(s->card->port + at, sizeof s->card->port - at, "%sport %.20s: %.30s", at > 0 ? ", " : "",
                 entry, word);
        return strcmp(word, "ACTIVE") == 0;
    }
    return false;
}

/* The row of the provider that serves the card: the kernel's driver decides that. */
static const struct hl_provider *find_server(const char *root, const char *card)
{
    char path[ROOM], target[ROOM] = "";
    snprintf(path, sizeof path, "%s" IB "/%s/device/driver", root, card);
    ssize_t n = readlink(path, target, sizeof target - 1);
    return hl_provider_of_driver(n > 0 && strrchr(target, '/') != NULL ? strrchr(target, '/') + 1 : "");
}

static bool look_at_card(const char *entry, void *arg)
{
    struct nic_search *s = arg;
    char path[ROOM];
    struct nic one = {0};
    snprintf(one.name, sizeof one.name, "%.60s", entry);
    one.row = find_server(s->root, one.name);
    snprintf(path, sizeof path, IB "/%s/ports", one.name);
    one.active =
        search_folder(s->root, path, note_port, &(struct nic_search){.root = s->root, .card = &one}) ||
        one.port[0] == '\0';
    if (one.active || s->card->name[0] == '\0') {
        *s->card = one;
    }
    return one.active;
}

/* Finds the first card with an active port, else the first card. False: there is none. */
static bool find_card(const char *root, struct nic *out)
{
    struct nic_search s = {.root = root, .card = out};
    memset(out, 0, sizeof *out);
    if (search_folder(root, IB, look_at_card, &s) || out->name[0] != '\0') {
        return true;
    }
    out->row = hl_provider_of_driver(strrchr(CXI, '/') + 1);
    out->active = true;
    if (!search_folder(root, CXI, take_entry, &s)) {
        return false;
    }
    snprintf(out->name, sizeof out->name, "%s", s.name);
    return true;
}

static bool is_real(const char *entry, void *unused)
{
    char path[ROOM];
    (void)unused;
    snprintf(path, sizeof path, IB "/%.60s/parent", entry); /* only soft RoCE has it: the interface below */
    return access(path, F_OK) != 0;
}

bool hl_nic_is_there(void)
{
    struct nic_search s;
    return search_folder("", IB, take_entry, &s);
}

bool hl_nic_is_emulated(void)
{
    return hl_nic_is_there() && !search_folder("", IB, is_real, NULL);
}

/* ---- what keeps the card from being used ---- */

static void say_fix(struct hl_nic *out, const char *why, const char *fix)
{
    snprintf(out->why, sizeof out->why, "%s", why);
    snprintf(out->fix, sizeof out->fix, "%s", fix);
}

static bool is_device(const char *entry, void *arg)
{
    struct nic_search *s = arg;
    char path[ROOM], name[64];
    snprintf(path, sizeof path, "/sys/class/infiniband_verbs/%.60s/ibdev", entry);
    snprintf(s->name, sizeof s->name, "%.60s", entry);
    return hl_read_line(s->root, path, name, sizeof name) && strcmp(name, s->card->name) == 0;
}

/* True when the card's device file is missing or may not be opened; `out` then says so. */
static bool tell_device(const char *root, struct nic *card, struct hl_nic *out)
{
    struct nic_search s = {.root = root, .card = card};
    char path[ROOM];
    if (!search_folder(root, "/sys/class/infiniband_verbs", is_device, &s)) {
        say_fix(out, "the kernel has no device of ib_uverbs for it", "sudo modprobe ib_uverbs");
        return true;
    }
    snprintf(path, sizeof path, "%s/dev/infiniband/%s", root, s.name);
    if (access(path, R_OK | W_OK) == 0) {
        return false;
    }
    bool missing = errno == ENOENT;
    say_fix(out, "",
            missing ? "docker run --device=/dev/infiniband    # in a container; else: sudo udevadm trigger"
                    : "ls -l /dev/infiniband    # who may");
    snprintf(out->why, sizeof out->why, "/dev/infiniband/%s %s", s.name,
             missing ? "is not there" : "may not be opened by this user");
    return true;
}

/* 1 when libibverbs has a driver for the card, 0 when not, -1: unknown. Under a root, the file ibv_devices
 * there has the answer instead. */
static int has_driver(const char *root, const char *card)
{
    char line[64];
    if (root[0] != '\0') {
        return hl_read_line(root, "/ibv_devices", line, sizeof line) ? strcmp(line, card) == 0 : -1;
    }
    void *so = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
    if (so == NULL) {
        return 0;
    }
    struct {
        void **(*list)(int *);
        const char *(*name)(void *);
        void (*end)(void **);
    } lib;
    *(void **)&lib.list = dlsym(so, "ibv_get_device_list");
    *(void **)&lib.name = dlsym(so, "ibv_get_device_name");
    *(void **)&lib.end = dlsym(so, "ibv_free_device_list");
    int n = 0, found = -1;
    void **all = lib.list != NULL && lib.name != NULL && lib.end != NULL ? lib.list(&n) : NULL;
    if (all != NULL) {
        found = 0;
        for (int i = 0; i < n; i++) {
            found |= strcmp(lib.name(all[i]), card) == 0;
        }
        lib.end(all);
    }
    return found;
}

static bool has_address(const char *entry, void *arg)
{
    struct ifaddrs *all;
    bool found = false;
    (void)arg;
    if (getifaddrs(&all) != 0) {
        return true; /* not known, so it is not told as a cause */
    }
    for (const struct ifaddrs *i = all; i != NULL; i = i->ifa_next) {
        found |= strcmp(i->ifa_name, entry) == 0 && i->ifa_addr != NULL &&
                 (i->ifa_addr->sa_family == AF_INET || i->ifa_addr->sa_family == AF_INET6);
    }
    freeifaddrs(all);
    return found;
}

/* True for cards of the row that serves all drivers without a row of their own: verbs. */
static bool is_verbs(const struct nic *card)
{
    return card->row->driver[0] == '\0';
}

/* Says why libfabric does not offer the card's provider. */
static void tell_provider(const char *root, const struct nic *card, struct hl_nic *out)
{
    char path[ROOM];
    int core = (int)hl_provider_core(card->row);
    snprintf(path, sizeof path, IB "/%s/device/net", card->name);
    if (!hl_fab_has(card->row)) {
        say_fix(out, "", "FI_LOG_LEVEL=warn fi_info -l    # (libfabric-bin) what it has, and why not more");
        snprintf(out->why, sizeof out->why, "this libfabric lists no provider %.*s", core, card->row->name);
    } else if (root[0] == '\0' && is_verbs(card) && !search_folder(root, path, has_address, NULL)) {
        say_fix(out, "its ports have no IP address, by which its connections are made",
                "ip addr    # sudo ip addr add ADDRESS dev ...: that of the card (IPoIB, RoCE)");
    } else {
        snprintf(out->why, sizeof out->why,
                 "libfabric's provider %.*s does not offer all that is needed (%s)", core, card->row->name,
                 hl_fab_why());
        snprintf(out->fix, sizeof out->fix,
                 "FI_LOG_LEVEL=warn fi_info -p %.*s    # (libfabric-bin) what it offers, and why not more",
                 core, card->row->name);
    }
}

bool hl_nic_unused(const char *root, struct hl_nic *out)
{
    struct nic card;
    const char *only = hl_conf_env("FI_PROVIDER");
    *out = (struct hl_nic){.by_choice = hl_conf.provider[0] != '\0' || only != NULL};
    if (hl_fab.row->driver != NULL || !find_card(root, &card)) {
        return false;
    }
    memcpy(out->name, card.name, sizeof out->name);
    out->active = card.active;
    if (hl_conf.provider[0] != '\0') {
        snprintf(out->why, sizeof out->why, "HOTLANE_PROVIDER=%s says so", hl_conf.provider);
        snprintf(out->fix, sizeof out->fix, "unset HOTLANE_PROVIDER");
    } else if (only != NULL) {
        snprintf(out->why, sizeof out->why, "with FI_PROVIDER=%s libfabric offers nothing else", only);
        snprintf(out->fix, sizeof out->fix, "unset FI_PROVIDER");
    } else if (!card.active) {
        snprintf(out->why, sizeof out->why, "no port is active (%s)", card.port);
        snprintf(out->fix, sizeof out->fix,
                 "rdma link    # (iproute2) its ports: cable, switch, sudo ip link set ... up");
    } else if (card.row->ibverbs && tell_device(root, &card, out)) {
        return true;
    } else if (card.row->ibverbs && has_driver(root, card.name) == 0) {
        say_fix(out, "libibverbs has no driver for it", "sudo apt-get install ibverbs-providers");
    } else {
        tell_provider(root, &card, out);
    }
    return true;
}

bool hl_nic_warning(const char *root, char *text, size_t cap)
{
    struct hl_nic card;
    if (!hl_nic_unused(root, &card) || !card.active || card.by_choice) {
        return false;
    }
    snprintf(text, cap,
             "provider %s is used, and not the network card %s: %s. Try: %s (HOTLANE_PROVIDER=\"%s\" says "
             "that this is meant)",
             hl_fab.provider, card.name, card.why, card.fix, hl_fab.provider);
    return true;
}
