/* The report for programs. */
#include "info.h"

#include "fab.h"
#include "hl_build.h"

#include <inttypes.h>
#include <stdio.h>

static void string(const char *text)
{
    putchar('"');
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\') {
            printf("\\%c", *c);
        } else if (*c < 0x20 || *c >= 0x7f) {
            printf("\\u%04x", *c);
        } else {
            putchar(*c);
        }
    }
    putchar('"');
}

static void pair(const char *name, const char *value, const char *end)
{
    string(name);
    printf(": ");
    string(value);
    printf("%s", end);
}

static void memory(const struct facts *f)
{
    const char *comma = "";
    printf("  \"memory\": [");
    for (int i = 0; f->topo != NULL && i < HL_TOPO_NODES; i++) {
        if ((f->topo->all >> i & 1) != 0) {
            printf("%s\n    {\"node\": %d, \"bytes\": %" PRIu64 ", ", comma, i, f->topo->bytes[i]);
            pair("kind", hl_topo_kind_name(hl_topo_kind_of(f->topo, i)), ", ");
            pair("why", f->topo->why[i], "}");
            comma = ",";
        }
    }
    printf("\n  ],\n  \"pages\": [");
    comma = "";
    for (size_t i = 0; i < f->page_count; i++) {
        struct hl_topo_pool pool = {0, 0, 0};
        hl_topo_page_pool(f->pages[i], &pool);
        printf("%s\n    {\"bytes\": %zu, \"pool\": %" PRIu64 ", \"free\": %" PRIu64
               ", \"overcommit\": %" PRIu64 "}",
               comma, f->pages[i], pool.total, pool.unused, pool.overcommit);
        comma = ",";
    }
    printf("\n  ],\n");
}

static void variables(const struct facts *f)
{
    printf("  \"variables\": [");
    for (size_t i = 0; i < f->var_count; i++) {
        const struct hl_var *v = &f->vars[i];
        char values[256];
        info_values(v, values, sizeof values);
        printf("%s\n    {", i > 0 ? "," : "");
        pair("name", v->name, ", ");
        pair("value", v->value, ", ");
        pair("origin", v->origin, ", ");
        pair("default", v->fallback, ", ");
        pair("values", values, ", ");
        pair("help", v->help, "}");
    }
    printf("\n  ],\n  \"notes\": [");
    for (int i = 0; hl_conf_note(i) != NULL; i++) {
        printf("%s", i > 0 ? ", " : "");
        string(hl_conf_note(i));
    }
    printf("]\n");
}

void info_json(const struct facts *f)
{
    const char *name, *value;
    printf("{\n  ");
    pair("version", HL_VERSION, ",\n  ");
    pair("abi", "MPI 5.0", ",\n  ");
    pair("prefix", f->prefix, ",\n  \"build\": {");
    for (int i = 0; info_build(i, &name, &value); i++) {
        printf("%s", i > 0 ? ", " : "");
        pair(name, value, "");
    }
    printf("},\n  \"network\": {");
    pair("provider", hl_fab_is_open() ? hl_fab.provider : "", ", ");
    pair("why", f->net, "},\n");
    printf("  \"lanes\": %d,\n  \"cpus\": {\"usable\": %d, \"machine\": %d},\n", f->lanes, f->cpus,
           f->topo != NULL ? f->topo->cpus : 0);
    memory(f);
    variables(f);
    printf("}\n");
}
