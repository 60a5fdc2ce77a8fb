/* The report as text, for people. */
#include "info.h"

#include "buffer.h"
#include "fab.h"
#include "hl_build.h"
#include "util.h"

#include <inttypes.h>
#include <stdio.h>

bool info_build(int which, const char **name, const char **value)
{
    static const struct {
        const char *name, *value;
    } rows[] = {
        {"type", HL_BUILD_TYPE},
        {"compiler", __VERSION__},
        {"atomics", HL_ATOMICS},
        {"checks", HL_CHECKS ? "on" : "off"},
    };
    if (which >= (int)(sizeof rows / sizeof rows[0])) {
        return false;
    }
    *name = rows[which].name;
    *value = rows[which].value;
    return true;
}

static void show_memory(const struct facts *f)
{
    if (f->topo == NULL) {
        printf("memory       unknown: %s\n", hl_topo_why());
        return;
    }
    for (int i = 0; i < HL_TOPO_NODES; i++) {
        if ((f->topo->all >> i & 1) != 0) {
            printf("memory       node %d: %s, %" PRIu64 " MiB (%s)%s\n", i,
                   hl_topo_kind_name(hl_topo_kind_of(f->topo, i)), f->topo->bytes[i] >> 20, f->topo->why[i],
                   (f->topo->allowed >> i & 1) != 0 ? "" : ", not allowed to this process");
        }
    }
    for (size_t i = 0; i < f->page_count; i++) {
        char size[32];
        struct hl_topo_pool pool;
        info_bytes(f->pages[i], size, sizeof size);
        printf("pages        %s", size);
        if (i > 0 && hl_topo_page_pool(f->pages[i], &pool)) {
            printf(": %" PRIu64 " free of %" PRIu64 ", %" PRIu64 " more on demand", pool.unused, pool.total,
                   pool.overcommit);
        }
        printf("\n");
    }
    char buffers[HL_MEM_BUFFER_TEXT];
    printf("buffers      %s (HOTLANE_INTERNAL_PG_SZ)\n", hl_mem_buffer_text(buffers, sizeof buffers));
}

void info_text(const struct facts *f)
{
    const char *name, *value;
    printf("Hotlane %s, MPI 5.0 ABI\n", HL_VERSION);
    printf("prefix       %s\n", f->prefix);
    for (int i = 0; info_build(i, &name, &value); i++) {
        printf("%s%s: %s", i == 0 ? "build        " : ", ", name, value);
    }
    printf("\n");
    info_network(f);
    printf("lanes        %d (HOTLANE_LANES=%lld; this process may use %d CPU%s)\n", f->lanes,
           (long long)hl_conf.lanes, f->cpus, hl_plural(f->cpus));
    if (f->topo != NULL) {
        printf("CPUs         %d of %d\n", f->cpus, f->topo->cpus);
    }
    show_memory(f);
    printf("\n");
    info_env(f);
}
