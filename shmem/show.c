/* What a program's user may ask to see at start. (OpenSHMEM 1.5, section 8; SHMEM_ENV_DISPLAY: Cray.) */
#include "show.h"

#include <shmem.h>
#include <stdio.h>
#include <string.h>

#include "conf.h"
#include "hl_build.h"
#include "sym.h"

static void show_variables(bool all)
{
    size_t count;
    const struct hl_var *vars = hl_conf_vars(&count);
    for (size_t i = 0; i < count; i++) {
        const struct hl_var *v = &vars[i];
        bool set = strcmp(v->origin, "default") != 0;
        if (all) {
            fprintf(stderr, "%s=%s (%s)\n    %s\n", v->name, v->value, v->origin, v->help);
        } else if (set) {
            fprintf(stderr, "%s=%s\n", v->name, v->value);
        }
    }
}

void hl_shmem_show(void)
{
    if (hl_sym.my_pe != 0) {
        return;
    }
    if (hl_conf.shmem_version != 0) {
        fprintf(stderr, "Hotlane %s: OpenSHMEM %d.%d, MPI 5.0 ABI\n", HL_VERSION, SHMEM_MAJOR_VERSION,
                SHMEM_MINOR_VERSION);
    }
    if (hl_conf.shmem_info != 0 || hl_conf.shmem_env != 0) {
        show_variables(hl_conf.shmem_info != 0);
    }
}
