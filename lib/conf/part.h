/* Symmetric partitions as they are asked for: the family of variables SHMEM_SYMMETRIC_PARTITION<n>, SMA_ too.
 *
 *   size=BYTES [:kind=D|N|S|F] [:policy=P|M|I|S] [:pgsize=4K|2M|...]
 *
 * Keys in any order and, as their words, in any case. What it means on a machine is the heap's business. */
#ifndef HL_PART_H
#define HL_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HL_PART_MOST 7     /* that a program has */
#define HL_PART_ID_MAX 127 /* ids are 1 to this */

enum hl_part_kind { HL_PART_DEFAULT, HL_PART_NORMAL, HL_PART_SYSTEM, HL_PART_FAST };
enum hl_part_policy { HL_PART_PREFERRED, HL_PART_MANDATORY, HL_PART_INTERLEAVED, HL_PART_BY_SYSTEM };

struct hl_part {
    int id;
    uint64_t size; /* bytes */
    uint64_t page; /* bytes of the page size asked for */
    enum hl_part_kind kind;
    enum hl_part_policy policy;
    const char *name, *value; /* the variable and what it says; stay */
};

#define HL_PART_WHY 160

/* Takes a value whole. 0, or HL_ERR_ARG without a text: `why` (HL_PART_WHY bytes) has the reason. Fills all
 * of `out` but id, name and value. */
int hl_part_parse(const char *value, struct hl_part *out, char *why);

/* The partitions in force, by id; *count = 0: none was asked for, SHMEM_SYMMETRIC_SIZE holds. Valid after
 * hl_conf_load, which refuses ids out of range, more than HL_PART_MOST, others without partition 1, and both
 * spellings with different values. */
const struct hl_part *hl_part_all(int *count);

/* "20m", "3.1M", ".5g" to bytes, rounded up. With `tail`, what follows the unit is ignored, as the standard
 * has it for SHMEM_SYMMETRIC_SIZE. 0, or HL_ERR_ARG without a text. */
int hl_part_parse_size(const char *text, bool tail, uint64_t *bytes);

/* "N", "M", as they are asked for. */
const char *hl_part_kind_word(enum hl_part_kind kind);
const char *hl_part_policy_word(enum hl_part_policy policy);

#endif
