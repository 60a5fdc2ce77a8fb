/* Small pieces of memory that are never freed and exist once for each content: for what MPI may use at any
 * later time. */
#ifndef HL_FORT_RECORDS_H
#define HL_FORT_RECORDS_H

#include <stdbool.h>
#include <stddef.h>

/* One for each kind of content. {0} is empty. */
struct hl_fort_records {
    struct record_block *blocks; /* the first one has room */
};

/* A copy of the size bytes at content, the same one for the same bytes; size is the same for all of records.
 * NULL: there is no memory. Any thread. */
const void *hl_fort_record(struct hl_fort_records *records, const void *content, size_t size);

/* Whether address is one that hl_fort_record has returned. Any thread. */
bool hl_fort_is_record(struct hl_fort_records *records, const void *address);

#endif
