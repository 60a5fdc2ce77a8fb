/* Old names of settings, and variables that set another variable where that has no value. */
#include "conf_internal.h"

#include <string.h>
#include <strings.h>

/* True when a source has given the row of this field a value. */
static bool is_var_given(const void *field)
{
    return strcmp(hl_conf_var_of(field)->origin, "default") != 0;
}

/* MPICH_ALLOC_MEM_HUGE_PAGES switches huge pages on or off; MPICH_ALLOC_MEM_HUGE_PG_SZ gives their size and,
 * alone, switches them on. */
static int take_huge_pages(void)
{
    const struct hl_var *on = hl_conf_var_of(&hl_conf.mem_huge),
                        *size = hl_conf_var_of(&hl_conf.mem_huge_page),
                        *page = hl_conf_var_of(&hl_conf.mem_page);
    if (!is_var_given(&hl_conf.mem_huge) && !is_var_given(&hl_conf.mem_huge_page)) {
        return 0;
    }
    bool wanted = is_var_given(&hl_conf.mem_huge) ? hl_conf.mem_huge != 0 : true,
         wins = !is_var_given(&hl_conf.mem_page);
    const struct hl_var *old = is_var_given(&hl_conf.mem_huge_page) ? size : on;
    hl_conf_note_add("%s is an old name: %s%s=%s%s", old->name, wins ? "write " : "", page->name,
                     !wins    ? page->value
                     : wanted ? size->value
                              : page->fallback,
                     wins ? "" : " is set too and wins");
    return wins && wanted ? hl_conf_set(hl_conf_var_named(page->name), size->value, old->name) : 0;
}

/* If the variable of `flag` is set and `target` has no value from a source, gives `target` this value. */
static int give_value(const int *flag, const void *target, const char *value)
{
    return *flag != 0 && !is_var_given(target) ? hl_conf_set(hl_conf_var_named(hl_conf_var_of(target)->name),
                                                             value, hl_conf_var_of(flag)->name)
                                               : 0;
}

/* Notes that HOTLANE_LANES has no effect in a mode whose threads share one lane. */
static void note_lanes(void)
{
    const struct hl_var *lanes = hl_conf_var_of(&hl_conf.lanes), *mode = hl_conf_var_of(&hl_conf.rma_mode),
                        *cs = hl_conf_var_of(&hl_conf.cs);
    bool one_lock = strcasecmp(cs->value, "none") == 0 || strcasecmp(cs->value, "global") == 0 ||
                    strcasecmp(cs->value, "brief") == 0;
    if (hl_conf.lanes > 1 && (hl_conf.rma_mode != 0 || one_lock)) {
        const struct hl_var *why = hl_conf.rma_mode != 0 ? mode : cs;
        hl_conf_note_add("%s=%s has no effect with %s=%s, which uses one lane", lanes->name, lanes->value,
                         why->name, why->value);
    }
}

/* Notes that HOTLANE_STATS_FILE has no effect unless HOTLANE_STATS is json. */
static void note_idle(void)
{
    const struct hl_var *stats = hl_conf_var_of(&hl_conf.stats), *file = hl_conf_var_of(&hl_conf.stats_file);
    if (hl_conf.stats_file[0] != '\0' && strcasecmp(stats->value, "json") != 0) {
        hl_conf_note_add("%s=%s has no effect with %s=%s: write %s=json", file->name, file->value,
                         stats->name, stats->value, stats->name);
    }
}

int hl_conf_take_old_names(void)
{
    static const int *const reporters[] = {&hl_conf.env_display, &hl_conf.shmem_info, &hl_conf.shmem_meminfo};
    int rc = take_huge_pages();
    note_idle();
    note_lanes();
    for (size_t i = 0; rc == 0 && i < sizeof reporters / sizeof reporters[0]; i++) {
        rc = give_value(reporters[i], &hl_conf.mem_report, "2");
    }
    return rc == 0 ? give_value(&hl_conf.shmem_debug, &hl_conf.log, "debug") : rc;
}
