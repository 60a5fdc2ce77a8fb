/* Wishes from variables and info keys: both are parsed by the grammar of the table of variables. */
#include "wish.h"

#include "conf.h"
#include "err.h"

#include <string.h>

/* In the order of the words of MPICH_ALLOC_MEM_AFFINITY and MPICH_ALLOC_MEM_POLICY in the table. */
static const enum hl_mem_kind kinds[] = {HL_MEM_ANY, HL_MEM_DDR, HL_MEM_FAST, HL_MEM_FAST, HL_MEM_FAST};
static const enum hl_mem_rule rules[] = {HL_MEM_PREFERRED,  HL_MEM_PREFERRED,   HL_MEM_MANDATORY,
                                         HL_MEM_MANDATORY,  HL_MEM_INTERLEAVED, HL_MEM_INTERLEAVED,
                                         HL_MEM_INTERLEAVED};

const char *const hl_mem_wish_keys[HL_MEM_WISH_KEYS] = {"mpich_buf_type", "hotlane_mem_kind",
                                                        "hotlane_page_size", "hotlane_mem_policy"};

void hl_mem_wish_of_env(struct hl_mem_wish *out)
{
    /* 4K is the default, so it counts as no wish. */
    *out = (struct hl_mem_wish){.kind = kinds[hl_conf.mem_kind],
                                .rule = rules[hl_conf.mem_policy],
                                .page = hl_conf.mem_page > 4096 ? (size_t)hl_conf.mem_page : 0};
}

/* Parses a key's value as that of the variable that fills `field`; `words` (NULL: none) replace the words of
 * the variable. */
static int parse_key(const void *field, const char *key, const char *words, const char *value, void *out)
{
    struct hl_var row = *hl_conf_var_of(field);
    row.name = key;
    row.choices = words != NULL ? words : row.choices;
    return hl_conf_parse(&row, value, out) == 0
               ? 0
               : hl_err_say(HL_ERR_INFO_VALUE, "%s", hl_err_text(HL_ERR_ARG));
}

int hl_mem_wish_set(struct hl_mem_wish *wish, const char *key, const char *value)
{
    int word, rc = HL_ERR_INFO_KEY;
    uint64_t bytes;
    if (strcmp(key, "mpich_buf_type") == 0) {
        rc = parse_key(&hl_conf.mem_kind, key, "ddr|hbm", value, &word);
        wish->kind = rc != 0 ? wish->kind : word == 0 ? HL_MEM_DDR : HL_MEM_FAST;
    } else if (strcmp(key, "hotlane_mem_kind") == 0) {
        rc = parse_key(&hl_conf.mem_kind, key, NULL, value, &word);
        wish->kind = rc != 0 ? wish->kind : kinds[word];
    } else if (strcmp(key, "hotlane_page_size") == 0) {
        rc = parse_key(&hl_conf.mem_page, key, NULL, value, &bytes);
        wish->page = rc != 0 ? wish->page : (size_t)bytes;
    } else if (strcmp(key, "hotlane_mem_policy") == 0) {
        rc = parse_key(&hl_conf.mem_policy, key, NULL, value, &word);
        wish->rule = rc != 0 ? wish->rule : rules[word];
        wish->rule_on_base = rc == 0 || wish->rule_on_base;
    }
    return rc;
}

const char *hl_mem_kind_word(enum hl_mem_kind kind)
{
    static const char *const words[] = {
        [HL_MEM_ANY] = "SYS_DEFAULT", [HL_MEM_DDR] = "DDR", [HL_MEM_FAST] = "MCDRAM"};
    return words[kind];
}

const char *hl_mem_rule_word(enum hl_mem_rule rule)
{
    static const char *const words[] = {
        [HL_MEM_PREFERRED] = "P", [HL_MEM_MANDATORY] = "M", [HL_MEM_INTERLEAVED] = "I"};
    return words[rule];
}
