/* The job's counters at the end. They travel by the launcher's key-value space, so that no rank waits for one
 * that is dead or leaves no counters. */
#include "modules.h"

#include "boot.h"
#include "err.h"
#include "job.h"
#include "log.h"
#include "stat.h"

#include <stdio.h>
#include <stdlib.h>

#define KEY 24

static unsigned ends; /* ends of the library so far: a key is put once; guarded by life.c's lock */

static void name_key(char key[KEY])
{
    snprintf(key, KEY, "counters-%u", ends);
}

void hl_modules_give_counters(void)
{
    char key[KEY];
    uint64_t *mine = hl_stat_is_of_job() ? malloc((size_t)hl_stat_count() * sizeof *mine) : NULL;
    ends++;
    if (mine == NULL || hl_job.rank == 0) {
        free(mine);
        return;
    }
    name_key(key);
    hl_stat_values(mine);
    if (hl_boot_put(key, mine, (size_t)hl_stat_count() * sizeof *mine) != 0) {
        hl_log(HL_LOG_WARN, "HOTLANE_STATS: %s", hl_err_text(HL_ERR_OTHER));
    }
    free(mine);
}

void hl_modules_tell_counters(void)
{
    char key[KEY];
    size_t bytes = (size_t)hl_stat_count() * sizeof(uint64_t), len;
    if (!hl_stat_is_of_job() || hl_job.rank != 0) {
        return;
    }
    uint64_t *all = calloc((size_t)hl_job.size, bytes);
    bool *here = calloc((size_t)hl_job.size, sizeof *here);
    if (all == NULL || here == NULL) {
        hl_log(HL_LOG_WARN, "HOTLANE_STATS: no memory for the counters of %d ranks", hl_job.size);
    } else {
        name_key(key);
        hl_stat_values(all);
        here[0] = true;
        for (int rank = 1; rank < hl_job.size; rank++) {
            here[rank] =
                hl_boot_get(rank, key, all + (size_t)rank * (size_t)hl_stat_count(), bytes, &len) == 0 &&
                len == bytes;
        }
        hl_stat_print_job(all, here, hl_job.size);
    }
    free(all);
    free(here);
}
