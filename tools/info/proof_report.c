/* Prints the report of hotlane-info --prove, as text that can be mailed, or as JSON. */
#include "proof.h"

#include "hl_build.h"
#include "util.h"

#include <rdma/fabric.h>
#include <stdio.h>
#include <string.h>

/* The first rank behind `r` that does not run on the same host in the same way. */
static int same_as(const struct proof *p, int r)
{
    int next = r + 1;
    while (next < p->ranks && memcmp(&p->hosts[next], &p->hosts[r], sizeof p->hosts[r]) == 0) {
        next++;
    }
    return next;
}

static const char *ranks_text(int first, int next, char text[40])
{
    if (next - first == 1) {
        snprintf(text, 40, "rank %d", first);
    } else {
        snprintf(text, 40, "ranks %d to %d", first, next - 1);
    }
    return text;
}

static void host_text(const struct proof_host *h, char *out, size_t cap)
{
    if (h->provider[0] == '\0') {
        snprintf(out, cap, "no network");
        return;
    }
    snprintf(out, cap, "%s %u.%u of libfabric %u.%u, device %s, network %s", h->provider,
             FI_MAJOR(h->version), FI_MINOR(h->version), FI_MAJOR(h->libfabric), FI_MINOR(h->libfabric),
             h->device, h->fabric);
}

static void print_text(const struct proof *p)
{
    char ranks[40], network[300];
    printf("Hotlane %s: what was proven on this network\n", HL_VERSION);
    for (int r = 0, next; r < p->ranks; r = next) {
        const struct proof_host *h = &p->hosts[r];
        next = same_as(p, r);
        host_text(h, network, sizeof network);
        printf("host         %s, %s (%s)\n             %s\n", h->name, ranks_text(r, next, ranks), h->system,
               network);
    }
    info_network(p->facts);
    for (int i = 0; i < p->count; i++) {
        const struct proof_step *s = &p->steps[i];
        printf("%-12s %-12s %s\n", s->found.failed ? "FAILED" : "ok", s->name, s->found.text);
    }
    if (p->failed == 0) {
        printf("%d of %d steps proven\n", p->count, p->count);
    } else {
        printf("%d of %d steps FAILED\n", p->failed, p->count);
    }
}

static void print_json(const struct proof *p)
{
    char ranks[40], network[300];
    printf("{\n  ");
    info_json_pair("version", HL_VERSION, ",\n  \"hosts\": [");
    for (int r = 0, next; r < p->ranks; r = next) {
        const struct proof_host *h = &p->hosts[r];
        next = same_as(p, r);
        host_text(h, network, sizeof network);
        printf("%s\n    {", r > 0 ? "," : "");
        info_json_pair("name", h->name, ", ");
        info_json_pair("ranks", ranks_text(r, next, ranks), ", ");
        info_json_pair("system", h->system, ", ");
        info_json_pair("network", network, "}");
    }
    printf("\n  ],\n");
    info_network_json(p->facts);
    printf("  \"steps\": [");
    for (int i = 0; i < p->count; i++) {
        const struct proof_step *s = &p->steps[i];
        printf("%s\n    {", i > 0 ? "," : "");
        info_json_pair("name", s->name, ", ");
        info_json_pair("state", s->found.failed ? "failed" : "ok", ", ");
        info_json_pair("text", s->found.text, "}");
    }
    printf("\n  ],\n  \"figures\": {\"puts_per_second\": %.0f, \"put_flush_s\": %.9f, \"latency_s\": %.9f, "
           "\"bytes_per_second\": %.0f},\n  \"failed\": %d\n}\n",
           p->figures.put_rate, p->figures.put_flush, p->figures.latency, p->figures.bandwidth, p->failed);
}

void proof_report(const struct proof *p)
{
    (p->json ? print_json : print_text)(p);
}
