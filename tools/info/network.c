/* The network in words: which provider was chosen, what is known about it, and why the others were not. */
#include "info.h"

#include "fab.h"

#include <stdio.h>

#define FACTS 10

static const char *describe_descriptor(void)
{
    return hl_fab.naps != NULL ? hl_fab.naps : "woken by the descriptor of a queue";
}

static const char *describe_keys(void)
{
    return hl_fab.key_size >= 8  ? "64 bits of ours"
           : hl_fab.key_size > 0 ? "ours, of less than 64 bits"
                                 : "the provider's own";
}

/* Row i of what is known about the chosen provider; false behind the last. */
static bool next_fact(int i, const char **name, const char **value)
{
    static char numbers[96];
    const struct hl_provider *row = hl_fab.row;
    const struct {
        const char *name, *value;
    } facts[FACTS] = {
        {"proven", row->wait == HL_PROVIDER_WAKES
                       ? "by this library's tests"
                       : "by a message and a put from endpoint to endpoint, just now"},
        {"small operations", row->chain ? "travel together" : "are posted one by one"},
        {"sleepers", describe_descriptor()},
        {"receives", hl_fab.ordered ? "complete in the order of the messages" : "complete in any order"},
        {"atomics", row->atomics ? "the provider's" : "done by the target's receive thread"},
        {"dead peers",
         row->tcp_listens ? "their hosts say so, by TCP" : "the launcher or their silence says so"},
        {"registered memory", hl_fab.pins ? "is locked (ulimit -l)" : "is not locked"},
        {"keys", describe_keys()},
        {"one host", row->loopback ? "kept on the loopback interface" : "by its ordinary address"},
        {"endpoints", numbers},
    };
    int n = snprintf(numbers, sizeof numbers, "at most %zu for one-sided operations", hl_fab.lanes_max);
    if (row->lanes_unasked != 0 && row->lanes_unasked < hl_fab.lanes_max) {
        snprintf(numbers + n, sizeof numbers - (size_t)n, ", %zu unless HOTLANE_LANES says more",
                 row->lanes_unasked);
    }
    if (i >= FACTS) {
        return false;
    }
    *name = facts[i].name;
    *value = facts[i].value;
    return true;
}

void info_network(const struct facts *f)
{
    const char *name, *value;
    struct hl_fab_report one;
    printf("network      %s%s\n", f->net_rc == 0 ? "" : "none: ", f->net);
    if (!hl_fab_is_open()) {
        return;
    }
    printf("             libfabric %u.%u, messages up to %zu bytes without hand-shake\n",
           hl_fab.version >> 16, hl_fab.version & 0xffff, hl_fab.eager);
    for (int i = 0; next_fact(i, &name, &value); i++) {
        printf("             %s: %s\n", name, value);
    }
    for (size_t i = 0; hl_fab_report(&i, &one);) {
        printf("  %-15s %s%s%s\n", one.row->name, one.state, one.why != NULL ? ": " : "",
               one.why != NULL ? one.why : "");
    }
}

void info_network_json(const struct facts *f)
{
    const char *name, *value, *comma = "";
    struct hl_fab_report one;
    printf("  \"network\": {");
    info_json_pair("provider", hl_fab_is_open() ? hl_fab.provider : "", ", ");
    info_json_pair("why", f->net, ",\n    \"facts\": {");
    for (int i = 0; hl_fab_is_open() && next_fact(i, &name, &value); i++) {
        printf("%s", i > 0 ? ", " : "");
        info_json_pair(name, value, "");
    }
    printf("},\n    \"providers\": [");
    for (size_t i = 0; hl_fab_is_open() && hl_fab_report(&i, &one); comma = ",") {
        printf("%s\n      {", comma);
        info_json_pair("name", one.row->name, ", ");
        info_json_pair("state", one.state, ", ");
        info_json_pair("why", one.why != NULL ? one.why : "", "}");
    }
    printf("]},\n");
}
