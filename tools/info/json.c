/* The report as JSON, for programs. */
#include "info.h"

#include "fab.h"
#include "hl_build.h"
#include "missing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The bytes of the character of UTF-8 that begins at c, one outside of ASCII; 1: there is none. */
static size_t utf8_length(const unsigned char *c)
{
    static const unsigned least[] = {[2] = 0x80, [3] = 0x800, [4] = 0x10000};
    size_t len = *c >= 0xf0 ? 4 : *c >= 0xe0 ? 3 : 2;
    unsigned code = *c & (0x7fu >> len);
    if (*c < 0xc0 || *c >= 0xf8) {
        return 1;
    }
    for (size_t i = 1; i < len; i++) {
        if ((c[i] & 0xc0) != 0x80) {
            return 1;
        }
        code = code << 6 | (c[i] & 0x3fu);
    }
    return code < least[len] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 1 : len;
}

static void string(const char *text)
{
    size_t len = 1;
    putchar('"');
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c += len) {
        len = *c >= 0x80 ? utf8_length(c) : 1;
        if (*c == '"' || *c == '\\') {
            printf("\\%c", *c);
        } else if (len > 1) {
            printf("%.*s", (int)len, (const char *)c);
        } else if (*c < 0x20 || *c >= 0x7f) {
            printf("\\u%04x", *c);
        } else {
            putchar(*c);
        }
    }
    putchar('"');
}

void info_json_pair(const char *name, const char *value, const char *end)
{
    string(name);
    printf(": ");
    string(value);
    printf("%s", end);
}

static void nodes(const struct facts *f)
{
    const char *comma = "";
    for (int i = 0; f->topo != NULL && i < HL_TOPO_NODES; i++) {
        if ((f->topo->all >> i & 1) != 0) {
            printf("%s\n    {\"node\": %d, \"bytes\": %" PRIu64 ", \"allowed\": %s, ", comma, i,
                   f->topo->bytes[i], (f->topo->allowed >> i & 1) != 0 ? "true" : "false");
            info_json_pair("kind", hl_topo_kind_name(hl_topo_kind_of(f->topo, i)), ", ");
            info_json_pair("why", f->topo->why[i], "}");
            comma = ",";
        }
    }
}

static void pages(const struct facts *f)
{
    for (size_t i = 0; i < f->page_count; i++) {
        struct hl_topo_pool pool = {0, 0, 0}, part;
        const char *comma = "";
        hl_topo_page_pool(f->pages[i], &pool);
        printf("%s\n    {\"bytes\": %zu, \"pool\": %" PRIu64 ", \"free\": %" PRIu64
               ", \"overcommit\": %" PRIu64 ", \"nodes\": [",
               i > 0 ? "," : "", f->pages[i], pool.total, pool.unused, pool.overcommit);
        for (int node = 0; node < HL_TOPO_NODES; node++) {
            if (hl_topo_page_pool_on(node, f->pages[i], &part)) {
                printf("%s{\"node\": %d, \"pool\": %" PRIu64 ", \"free\": %" PRIu64 "}", comma, node,
                       part.total, part.unused);
                comma = ", ";
            }
        }
        printf("]}");
    }
}

static void memory(const struct facts *f)
{
    printf("  \"memory\": [");
    nodes(f);
    printf("\n  ],\n  \"pages\": [");
    pages(f);
    printf("\n  ],\n");
}

static void list(const char *name, hl_topo_set set, const char *end)
{
    const char *comma = "";
    printf("\"%s\": [", name);
    for (int i = 0; i < HL_TOPO_NODES; i++) {
        if ((set >> i & 1) != 0) {
            printf("%s%d", comma, i);
            comma = ", ";
        }
    }
    printf("]%s", end);
}

static void nearest(const struct facts *f)
{
    struct info_home h;
    for (int i = 0; f->topo != NULL && info_homes(f->topo, i, &h); i++) {
        printf("%s\n    {", i > 0 ? "," : "");
        info_json_pair("cpus", h.cpus, ", ");
        printf("\"ddr\": %d, \"fast\": %d, ",
               hl_topo_nearest_in(f->topo, hl_topo_of(f->topo, HL_TOPO_DDR), h.cpu),
               hl_topo_nearest_in(f->topo, hl_topo_of(f->topo, HL_TOPO_FAST), h.cpu));
        list("wanted", info_wanted(f, h.cpu), "}");
    }
}

static void obtained(const struct trial *t)
{
    char where[HL_MEM_NODES_TEXT];
    printf("  \"obtained\": {\"tried\": %s", t->made ? "true" : "false");
    if (t->made) {
        printf(", \"bytes\": %zu, ", t->len);
        info_json_pair("error", t->error, "");
    }
    if (t->made && t->rc == 0) {
        printf(", \"page\": %zu, \"align\": %zu, \"pmd_share\": %g, ", t->got.page, t->got.align,
               t->got.pmd_share);
        info_json_pair("nodes", hl_mem_got_nodes_text(&t->got, where, sizeof where), "");
    }
    printf("},\n");
}

void info_memory_json(const struct facts *f)
{
    const struct hl_var *v;
    printf("{\n  ");
    info_json_pair("machine", f->machine != NULL ? f->machine : "", ",\n  \"memory\": [");
    nodes(f);
    printf("\n  ],\n  \"nearest\": [");
    nearest(f);
    printf("\n  ],\n  \"pages\": [");
    if (f->machine == NULL) {
        pages(f);
    }
    printf("\n  ],\n  \"asked\": {");
    for (int i = 0; (v = info_memory_var(f, i)) != NULL; i++) {
        printf("%s", i > 0 ? ", " : "");
        info_json_pair(v->name, v->value, "");
    }
    printf("},\n");
    obtained(&f->trial);
    printf("  \"notes\": [");
    for (int i = 0; i < f->note_count; i++) {
        printf("%s", i > 0 ? ", " : "");
        string(f->notes[i]);
    }
    printf("]\n}\n");
}

static void variables(const struct facts *f)
{
    static const char *const kinds[] = {
        [HL_CONF_BOOL] = "bool",   [HL_CONF_INT] = "int",       [HL_CONF_SIZE] = "size",
        [HL_CONF_PAGE] = "page",   [HL_CONF_TEXT] = "text",     [HL_CONF_CHOICE] = "choice",
        [HL_CONF_NODES] = "nodes", [HL_CONF_FLAG] = "flag",     [HL_CONF_HEAP] = "heap",
        [HL_CONF_PARTS] = "parts", [HL_CONF_SWITCH] = "switch",
    };
    printf("  \"variables\": [");
    for (size_t i = 0; i < f->var_count; i++) {
        const struct hl_var *v = &f->vars[i];
        char values[256];
        info_values(v, values, sizeof values);
        printf("%s\n    {", i > 0 ? "," : "");
        info_json_pair("name", v->name, ", ");
        info_json_pair("value", v->value, ", ");
        info_json_pair("origin", v->origin, ", ");
        info_json_pair("default", v->fallback, ", ");
        info_json_pair("values", values, ", ");
        info_json_pair("kind", kinds[v->kind], ", ");
        info_json_pair("choices", v->choices, ", ");
        printf("\"least\": %" PRIu64 ", \"most\": %" PRIu64 ", ", v->min, v->max);
        info_json_pair("help", v->help, "}");
    }
    printf("\n  ],\n  \"notes\": [");
    for (int i = 0; hl_conf_note(i) != NULL; i++) {
        printf("%s", i > 0 ? ", " : "");
        string(hl_conf_note(i));
    }
    printf("],\n  \"others\": [");
    struct hl_carried_set *set;
    size_t count = hl_conf_carried_set(&set);
    for (size_t i = 0; i < count; i++) {
        char text[256];
        hl_conf_carried_text(set[i].row, true, text, sizeof text);
        printf("%s\n    {", i > 0 ? "," : "");
        info_json_pair("set", set[i].pair, ", ");
        info_json_pair("here", text, "}");
    }
    free(set);
    printf("]\n");
}

void info_env_json(const struct facts *f)
{
    printf("{\n");
    variables(f);
    printf("}\n");
}

void info_functions_json(const struct facts *f)
{
    const char *const *names = hl_api_missing();
    (void)f;
    printf("{\n  \"functions\": [");
    for (int i = 0; names[i] != NULL; i++) {
        printf("%s\n    ", i > 0 ? "," : "");
        string(names[i]);
    }
    printf("\n  ]\n}\n");
}

void info_json(const struct facts *f)
{
    const char *name, *value;
    printf("{\n  ");
    info_json_pair("version", HL_VERSION, ",\n  ");
    info_json_pair("abi", "MPI 5.0", ",\n  ");
    info_json_pair("prefix", f->prefix, ",\n  \"build\": {");
    for (int i = 0; info_build(i, &name, &value); i++) {
        printf("%s", i > 0 ? ", " : "");
        info_json_pair(name, value, "");
    }
    printf("},\n");
    info_network_json(f);
    printf("  \"lanes\": %d,\n  \"cpus\": {\"usable\": %d, \"machine\": %d},\n", f->lanes, f->cpus,
           f->topo != NULL ? f->topo->cpus : 0);
    memory(f);
    variables(f);
    printf("}\n");
}
