/* Symmetric partitions as variables ask for them: the families SHMEM_SYMMETRIC_PARTITION<n> and SMA_....
 *
 *   size=BYTES [:kind=D|N|S|F] [:policy=P|M|I|S] [:pgsize=4K|2M|...]
 *
 * Keys come in any order; keys and words in upper or lower case. The symmetric heap decides what they
 * mean on a machine. */
#ifndef HL_PART_H
#define HL_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HL_PART_MOST 7     /* most partitions of a program */
#define HL_PART_ID_MAX 127 /* ids are 1 to this */

enum hl_part_kind { HL_PART_DEFAULT, HL_PART_NORMAL, HL_PART_SYSTEM, HL_PART_FAST };
enum hl_part_policy { HL_PART_PREFERRED, HL_PART_MANDATORY, HL_PART_INTERLEAVED, HL_PART_BY_SYSTEM };

struct hl_part {
    int id;
    uint64_t size; /* bytes */
    uint64_t page; /* bytes of the page size asked for */
    enum hl_part_kind kind;
    enum hl_part_policy policy;
    const char *name, *value; /* the variable and its value; they live as long as the process */
};

#define HL_PART_WHY 160

/* Parses a value and fills all of `out` but id, name and value. Returns 0, or HL_ERR_ARG without a text:
 * `why` (HL_PART_WHY bytes) has the reason. */
int hl_part_parse(const char *value, struct hl_part *out, char *why);

/* The partitions in force, by id. *count = 0: none was asked for, and SHMEM_SYMMETRIC_SIZE gives the heap's
 * size. They are valid after hl_conf_load, which refuses ids out of range, more than HL_PART_MOST, others
 * without partition 1, and two spellings with different values. */
const struct hl_part *hl_part_all(int *count);

/* Parses "20m", "3.1M", ".5g" to bytes, rounded up. With `tail`, text behind the unit is ignored, as
 * OpenSHMEM says for SHMEM_SYMMETRIC_SIZE. Returns 0, or HL_ERR_ARG without a text. */
int hl_part_parse_size(const char *text, bool tail, uint64_t *bytes);

/* The letters by which kinds and policies are asked for ("N", "M"). */
const char *hl_part_kind_word(enum hl_part_kind kind);
const char *hl_part_policy_word(enum hl_part_policy policy);

#endif
