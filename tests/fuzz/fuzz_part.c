/* Symmetric partitions: a value is taken whole or refused with a reason and without a trace; what was taken
 * means the same when it is written out. Sizes round up and agree with what is strict. */
#include "part.h"

#include <inttypes.h>
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
    uint64_t loose, strict, again;
    char out[32];
    if (hl_part_parse_size(text, false, &strict) == 0) {
        must(hl_part_parse_size(text, true, &loose) == 0 && loose == strict);
        snprintf(out, sizeof out, "%" PRIu64, strict);
        must(hl_part_parse_size(out, false, &again) == 0 && again == strict);
    }
}

static void try_part(const char *text)
{
    struct hl_part p, before, again;
    char why[HL_PART_WHY] = "", out[128];
    memset(&p, 0x5a, sizeof p);
    before = p;
    if (hl_part_parse(text, &p, why) != 0) {
        must(why[0] != '\0' && memcmp(&p, &before, sizeof p) == 0);
        return;
    }
    must(p.page >= 4096 && (p.page & (p.page - 1)) == 0);
    again = before;
    snprintf(out, sizeof out, "pgsize=%" PRIu64 ":kind=%s:size=%" PRIu64 ":policy=%s", p.page,
             hl_part_kind_word(p.kind), p.size, hl_part_policy_word(p.policy));
    must(hl_part_parse(out, &again, why) == 0 && memcmp(&again, &p, sizeof p) == 0);
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
    if (data[0] % 4 == 0) {
        try_size(value);
    } else {
        try_part(value);
    }
    free(value);
    return 0;
}
