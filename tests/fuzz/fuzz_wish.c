/* What is asked of memory: sizes, page sizes, kinds, policies and node lists are taken whole or refused, what
 * was taken means the same when it is written out, and a refusal changes nothing. */
#include "conf.h"
#include "err.h"
#include "util.h"
#include "wish.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
    if (!holds) {
        abort();
    }
}

static void try_size(const char *text)
{
    uint64_t bytes, again;
    char out[HL_BYTES_TEXT];
    if (hl_conf_parse_size(text, &bytes) == 0) {
        must(hl_conf_parse_size(hl_bytes_text(bytes, out), &again) == 0 && again == bytes);
    }
}

static void try_nodes(const char *text)
{
    uint64_t set, again;
    char out[256];
    int len = 0;
    if (hl_conf_parse_nodes(text, UINT64_MAX, &set) != 0) {
        return;
    }
    must(set != 0);
    for (int first = 0; first < 64; first++) {
        int last = first;
        if ((set >> first & 1) == 0) {
            continue;
        }
        while (last < 63 && (set >> (last + 1) & 1) != 0) {
            last++;
        }
        len += snprintf(out + len, sizeof out - (size_t)len, "%s%d-%d", len > 0 ? "," : "", first, last);
        first = last;
    }
    must(hl_conf_parse_nodes(out, 0, &again) == 0 && again == set);
}

static void try_key(const char *key, const char *value)
{
    struct hl_mem_wish wish = {HL_MEM_DDR, HL_MEM_INTERLEAVED, 8192, false}, before = wish, again = wish;
    char out[HL_BYTES_TEXT];
    int rc = hl_mem_wish_set(&wish, key, value);
    if (rc != 0) {
        must(rc == HL_ERR_INFO_VALUE && memcmp(&wish, &before, sizeof wish) == 0);
        must(strncmp(hl_err_text(rc), key, strlen(key)) == 0);
        return;
    }
    must((wish.page & (wish.page - 1)) == 0 && wish.page >= 4096 && wish.page <= (size_t)1 << 30);
    const char *words = wish.page != before.page   ? hl_bytes_text(wish.page, out)
                        : strstr(key, "kind")      ? hl_mem_kind_word(wish.kind)
                        : strstr(key, "policy")    ? hl_mem_rule_word(wish.rule)
                        : wish.kind == HL_MEM_FAST ? "hbm"
                                                   : "ddr";
    if (strcmp(key, "hotlane_page_size") != 0 || wish.page != before.page) {
        must(hl_mem_wish_set(&again, key, words) == 0 && memcmp(&again, &wish, sizeof wish) == 0);
    }
}

/* First byte: which grammar; the rest: the value. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1) {
        return 0;
    }
    char *value = malloc(size);
    memcpy(value, data + 1, size - 1);
    value[size - 1] = '\0';
    int which = data[0] % (HL_MEM_WISH_KEYS + 2);
    if (which < HL_MEM_WISH_KEYS) {
        try_key(hl_mem_wish_keys[which], value);
    } else if (which == HL_MEM_WISH_KEYS) {
        try_size(value);
    } else {
        try_nodes(value);
    }
    free(value);
    return 0;
}
