/* Wishes: what kind of memory, page size and rule is asked for. Only data, no system calls.
 *
 * A wish comes from the environment (MPICH_ALLOC_MEM_*), from info keys laid over that, or from a partition
 * of the symmetric heap; hl_mem_ask carries it to hl_mem_alloc. */
#ifndef HL_MEM_WISH_H
#define HL_MEM_WISH_H

#include <stdbool.h>
#include <stddef.h>

enum hl_mem_kind {
    HL_MEM_ANY, /* SYS_DEFAULT: the system places */
    HL_MEM_DDR,
    HL_MEM_FAST /* MCDRAM, HBM */
};

enum hl_mem_rule {
    HL_MEM_PREFERRED,  /* give up the node first, then the page size */
    HL_MEM_MANDATORY,  /* exactly what is asked, or an error */
    HL_MEM_INTERLEAVED /* page by page over all nodes of the kind */
};

struct hl_mem_wish {
    enum hl_mem_kind kind;
    enum hl_mem_rule rule;
    size_t page;       /* asked page size in bytes, a power of two; 0 = nothing asked (base pages, lazily) */
    bool rule_on_base; /* MANDATORY holds for base pages as well; set by info keys and partitions, never by
                          MPICH_ variables */
};

/* Fills `out` with the environment's wish (hl_conf, whose values were checked when they were loaded). */
void hl_mem_wish_of_env(struct hl_mem_wish *out);

/* Lays one info key over a wish. Returns 0, HL_ERR_INFO_VALUE with the text (the wish is unchanged) when the
 * value does not parse, or HL_ERR_INFO_KEY without a text when the key is not in hl_mem_wish_keys. */
int hl_mem_wish_set(struct hl_mem_wish *wish, const char *key, const char *value);

/* The info keys of wishes, in the order in which callers lay them: hotlane_mem_kind wins over
 * mpich_buf_type. */
#define HL_MEM_WISH_KEYS 4
extern const char *const hl_mem_wish_keys[HL_MEM_WISH_KEYS];

/* The words by which kinds and rules are asked for ("MCDRAM", "M"). */
const char *hl_mem_kind_word(enum hl_mem_kind kind);
const char *hl_mem_rule_word(enum hl_mem_rule rule);

#endif
