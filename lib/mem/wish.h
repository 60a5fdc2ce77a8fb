/* What somebody asked of memory, as data: no system calls.
 *
 * It comes from the environment (MPICH_ALLOC_MEM_*), from info keys laid over that, or from a symmetric
 * partition; hl_mem_ask carries it to hl_mem_alloc. */
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
    HL_MEM_MANDATORY,  /* exactly that or an error */
    HL_MEM_INTERLEAVED /* page by page over all nodes of the kind */
};

struct hl_mem_wish {
    enum hl_mem_kind kind;
    enum hl_mem_rule rule;
    size_t page;       /* asked page size in bytes, a power of two; 0 = nothing asked (base pages, lazily) */
    bool rule_on_base; /* MANDATORY holds for base pages as well: by info key or partition, not by MPICH_
                          variables */
};

/* The environment's wish (hl_conf, checked when it was loaded). */
void hl_mem_wish_of_env(struct hl_mem_wish *out);

/* Lays one info key over a wish. Returns 0, HL_ERR_INFO_VALUE (with the text, wish unchanged) when the value
 * does not parse, or HL_ERR_INFO_KEY (silent) when the key is not one of ours. */
int hl_mem_wish_set(struct hl_mem_wish *wish, const char *key, const char *value);

/* Our keys, in the order in which they are laid: our name for the kind wins over the other. */
#define HL_MEM_WISH_KEYS 4
extern const char *const hl_mem_wish_keys[HL_MEM_WISH_KEYS];

/* "MCDRAM", "M", as they are asked for. */
const char *hl_mem_kind_word(enum hl_mem_kind kind);
const char *hl_mem_rule_word(enum hl_mem_rule rule);

#endif
