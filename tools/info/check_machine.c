/* Checks what the machine offers: cores for the threads, the network, memory. */
#include "check.h"

#include "cgroup.h"
#include "fab.h"
#include "nic.h"
#include "util.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Threads of OpenMP's outermost level; 0: not given, -1: not a number. */
static long threads_asked(const char **text)
{
    char *end;
    *text = hl_conf_env("OMP_NUM_THREADS");
    if (*text == NULL || (*text)[0] == '\0') {
        return 0;
    }
    long n = strtol(*text, &end, 10);
    return end != *text && n > 0 && (*end == '\0' || *end == ',') ? n : -1;
}

void check_cores(struct check *c, int ranks, int cpus)
{
    const char *text;
    long threads = threads_asked(&text), own = c->facts->cpus, all = cpus > own ? cpus : own;
    if (cpus == 0 && c->facts->topo != NULL && c->facts->topo->cpus > all) {
        all = c->facts->topo->cpus;
    }
    long share = all / ranks > 0 ? all / ranks : 1, each = own < share ? own : share;
    if (threads < 0) {
        check_say(c, CHECK_BETTER, "cores", "OMP_NUM_THREADS=%s is not a number of threads", text);
        check_fix(c, "export OMP_NUM_THREADS=%ld", each);
    } else if (threads == 0 && own * ranks > all) {
        check_say(c, CHECK_BETTER, "cores",
                  "OMP_NUM_THREADS is not set: OpenMP takes %ld thread%s in each of %d rank%s, on %ld CPU%s",
                  own, hl_plural(own), ranks, hl_plural(ranks), all, hl_plural(all));
        check_fix(c, "export OMP_NUM_THREADS=%ld", each);
    } else if (threads > own) {
        check_say(c, CHECK_BETTER, "cores", "%ld threads on the %ld CPU%s of a rank: they take turns",
                  threads, own, hl_plural(own));
        check_fix(c, "export OMP_NUM_THREADS=%ld%s", own,
                  own < all ? "    # or more CPUs for a rank: mpiexec --bind-to none" : "");
    } else if (threads * ranks > all) {
        check_say(c, CHECK_BETTER, "cores", "%d rank%s x %ld thread%s on %ld CPU%s: they take turns", ranks,
                  hl_plural(ranks), threads, hl_plural(threads), all, hl_plural(all));
        check_fix(c, "export OMP_NUM_THREADS=%ld    # or fewer ranks", each);
    } else {
        check_say(c, CHECK_OK, "cores", "%d x %ld thread%s on %ld CPU%s, of which a rank may use %ld", ranks,
                  threads > 0 ? threads : own, hl_plural(threads > 0 ? threads : own), all, hl_plural(all),
                  own);
    }
}

/* ---- network ---- */

/* What to do about a network that does not open with error `said`: libfabric may be missing, or something
 * else. */
static const char *network_fix(const char *said)
{
    bool absent = strstr(said, "libfabric.so.1: cannot open") != NULL;
    return absent ? "sudo apt-get install libfabric1    # ranks of one node work without it"
           : strstr(said, "cannot be loaded") != NULL
               ? "ldconfig -p | grep libfabric    # which one is found; ldd on it shows what is missing"
               : "fi_info    # (libfabric-bin) what libfabric offers; ranks of one node work without it";
}

/* A libfabric 1.x with all of a distribution's providers takes this long and more: their libraries measure
 * the clock and read the kernel's symbols, whether or not their adapters are there. */
#define SLOW_START_NS UINT64_C(100000000)

static void check_network_start(struct check *c)
{
    if (hl_fab.version < FI_VERSION(2, 0) && hl_fab.start_ns >= SLOW_START_NS) {
        check_say(c, CHECK_BETTER, "network start",
                  "libfabric %u.%u took %.2f s to start just now, and starts in each rank",
                  FI_MAJOR(hl_fab.version), FI_MINOR(hl_fab.version), (double)hl_fab.start_ns * 1e-9);
        check_fix(c,
                  "export LD_LIBRARY_PATH=FOLDER    # of a libfabric 2.x, which starts in a fraction of it");
    }
}

void check_network(struct check *c)
{
    if (c->facts->net_rc != 0) {
        check_say(c, CHECK_BROKEN, "network", "%s", c->facts->net);
        if (strstr(c->facts->net, "HOTLANE_PROVIDER=") != NULL) {
            check_unset(c, &hl_conf.provider);
        } else {
            bool named = strstr(c->facts->net, "FI_PROVIDER=") != NULL;
            check_fix(c, "%s", named ? "unset FI_PROVIDER" : network_fix(c->facts->net));
        }
        return;
    }
    if (!hl_fab_is_open()) {
        check_say(c, CHECK_OK, "network", "%s", c->facts->net);
        return;
    }
    struct hl_nic card;
    if (!hl_nic_unused(c->root, &card)) {
        check_say(c, CHECK_OK, "network", "%s; usable: %s", c->facts->net, hl_fab_usable());
        check_network_start(c);
        return;
    }
    check_say(c, CHECK_BETTER, "network", "provider %s is used, and not the card %s: %s", hl_fab.provider,
              card.name, card.why);
    if (hl_conf.provider[0] != '\0') {
        check_unset(c, &hl_conf.provider);
    } else {
        check_fix(c, "%s", card.fix);
    }
}

/* ---- memory ---- */

static bool must(const struct facts *f)
{
    return f->wish.rule == HL_MEM_MANDATORY;
}

static void check_kinds(struct check *c)
{
    const struct facts *f = c->facts;
    char fast[HL_TOPO_TEXT], ddr[HL_TOPO_TEXT], why[300];
    if (f->topo == NULL) {
        check_say(c, CHECK_BROKEN, "memory kinds", "cannot be told apart: %s", hl_topo_why());
        if (strstr(hl_topo_why(), "HOTLANE_FASTMEM_NODES") != NULL) {
            check_unset(c, &hl_conf.fastmem_nodes);
        } else {
            check_fix(c, "%s",
                      access("/sys/devices/system", R_OK) == 0 ? "lstopo    # what it says"
                                                               : "mount -t sysfs sysfs /sys");
        }
        return;
    }
    hl_topo_set have = hl_topo_of(f->topo, HL_TOPO_FAST);
    hl_topo_text(hl_topo_of(f->topo, HL_TOPO_DDR), ddr, sizeof ddr);
    if (have == 0 && f->wish.kind == HL_MEM_FAST) {
        check_say(c, must(f) ? CHECK_BROKEN : CHECK_BETTER, "memory kinds", "fast memory is asked for: %s",
                  hl_topo_no_fast(f->topo, why, sizeof why));
        check_unset(c, &hl_conf.mem_kind);
    } else if (have == 0 && f->topo->unknown != 0) {
        check_say(c, CHECK_BETTER, "memory kinds", "%s", hl_topo_no_fast(f->topo, why, sizeof why));
        check_fix(c, "export HOTLANE_FASTMEM_NODES=%s    # if that is MCDRAM or HBM",
                  hl_topo_text(f->topo->unknown, fast, sizeof fast));
    } else {
        check_say(c, CHECK_OK, "memory kinds", "DDR: node %s; fast: %s%s", ddr, have != 0 ? "node " : "",
                  have != 0 ? hl_topo_text(have, fast, sizeof fast) : "none");
    }
}

static void check_pools(struct check *c)
{
    const struct facts *f = c->facts;
    struct hl_topo_pool pool;
    char size[32], all[300] = "";
    uint64_t there = 0, wished = 0;
    size_t want = hl_topo_page_natural(f->pages, f->page_count, f->wish.page), of = 0;
    for (size_t i = 1; i < f->page_count; i++) {
        if (hl_topo_page_pool(f->pages[i], &pool)) {
            info_bytes(f->pages[i], size, sizeof size);
            of += (size_t)snprintf(all + of, sizeof all - of, "%s%s: %" PRIu64 " free of %" PRIu64,
                                   of > 0 ? "; " : "", size, pool.unused, pool.total);
            of = hl_min_size(of, sizeof all - 1);
            there += pool.total + pool.overcommit;
            wished += f->pages[i] == want ? pool.unused + pool.overcommit : 0;
        }
    }
    if (f->page_count < 2) {
        check_say(c, CHECK_OK, "huge pages", "this kernel offers none");
        return;
    }
    /* The command writes the size of the whole pool, of which other programs may use pages. */
    size_t page = want > hl_topo_page() ? want : f->pages[1];
    uint64_t more = hl_max_size(((size_t)1 << 30) / page, 1);
    more += hl_topo_page_pool(page, &pool) ? pool.total : 0;
    if (want > hl_topo_page() && wished == 0) {
        check_say(c, must(f) ? CHECK_BROKEN : CHECK_BETTER, "huge pages",
                  "%s=%s asks for them, and none is free (%s)", "MPICH_ALLOC_MEM_PG_SZ",
                  hl_conf_var_of(&hl_conf.mem_page)->value, all);
    } else if (there == 0) {
        check_say(c, CHECK_BETTER, "huge pages",
                  "none: large windows on pages of 2 MiB and more are faster to reach%s%s",
                  all[0] != '\0' ? "; " : "", all);
    } else {
        check_say(c, CHECK_OK, "huge pages", "%s", all);
        return;
    }
    check_fix(c, "echo %" PRIu64 " | sudo tee /sys/kernel/mm/hugepages/hugepages-%zukB/nr_hugepages%s", more,
              page >> 10, page == (size_t)1 << 30 ? "    # surer at boot: hugepagesz=1G hugepages=1" : "");
}

static void check_transparent(struct check *c)
{
    static const char *const files[] = {"/sys/kernel/mm/transparent_hugepage/enabled",
                                        "/sys/kernel/mm/transparent_hugepage/shmem_enabled"};
    char text[128], shared[128], *word;
    bool known = check_read(c, files[0], text, sizeof text) && (word = strchr(text, '[')) != NULL;
    if (!known) {
        check_say(c, CHECK_OK, "joined pages",
                  check_has(c, "/sys/kernel/mm")
                      ? "this kernel has no transparent huge pages, and none are needed"
                      : "not known: /sys is not there");
        return;
    }
    bool never = strncmp(word, "[never]", 7) == 0;
    if (!never && check_read(c, files[1], shared, sizeof shared) && strstr(shared, "[deny]") != NULL) {
        check_say(c, CHECK_BETTER, "joined pages", "are denied to shared memory (shmem_enabled)");
        check_fix(c, "echo advise | sudo tee %s", files[1]);
    } else if (never) {
        check_say(c, CHECK_BETTER, "joined pages",
                  "transparent huge pages are off: the program's own memory is on base pages");
        check_fix(c, "echo madvise | sudo tee %s", files[0]);
    } else {
        check_say(c, CHECK_OK, "joined pages", "transparent huge pages are on (%.*s)",
                  (int)strcspn(word + 1, "]"), word + 1);
    }
}

static void check_room(struct check *c)
{
    static char mine[PATH_MAX];
    if (c->root[0] != '\0') {
        snprintf(mine, sizeof mine, "%s%s", c->root, hl_cgroup_mine);
        hl_cgroup_mine = mine;
    }
    uint64_t room = hl_cgroup_room(0);
    if (room == HL_CGROUP_UNLIMITED) {
        check_say(c, CHECK_OK, "memory limit", "no control group limits memory");
    } else if (room < (uint64_t)1 << 28) {
        check_say(c, CHECK_BETTER, "memory limit",
                  "the control group of this process leaves %" PRIu64
                  " MiB: a process that takes more is killed",
                  room >> 20);
        check_fix(c, "%s",
                  hl_conf_env("SLURM_JOB_ID") != NULL ? "srun --mem=...    # more"
                  : check_is_contained(c)             ? "docker run --memory=...    # more"
                                                      : "cat /proc/self/cgroup    # whose memory.max it is");
    } else {
        check_say(c, CHECK_OK, "memory limit", "the control group of this process leaves %" PRIu64 " MiB",
                  room >> 20);
    }
}

void check_memory(struct check *c)
{
    check_kinds(c);
    check_pools(c);
    check_transparent(c);
    check_room(c);
}
