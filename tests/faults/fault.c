/* Which planted defect shows, in builds with -Dfaults=true. */
#include "fault.h"

#include "err.h"

#include <stdlib.h>

const char *hl_fault_now = "";

int hl_fault_plant(const char *name)
{
    const char *const *known = hl_fault_names;
    while (*known != NULL && strcmp(*known, name) != 0) {
        known++;
    }
    if (*known == NULL && name[0] != '\0') {
        return hl_err_say(HL_ERR_ARG, "HOTLANE_FAULT=%s: there is no such defect", name);
    }
    hl_fault_now = *known != NULL ? *known : "";
    return 0;
}

int hl_fault_read(void)
{
    const char *name = getenv("HOTLANE_FAULT");
    return hl_fault_plant(name != NULL ? name : "");
}
