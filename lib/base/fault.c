/* The planted defect, in builds with the option `faults` only. */
#include "fault.h"

#include "err.h"

#include <string.h>

enum hl_fault hl_fault_now;

static const char *const names[] = {"",
#define NAME(name, words) #name,
                                    HL_FAULT_ROWS(NAME) HL_FAULT_MATCH_ROWS(NAME)
#undef NAME
};

int hl_fault_plant(const char *name)
{
    for (int i = 0; i < (int)(sizeof names / sizeof names[0]); i++) {
        if (strcmp(names[i], name) == 0) {
            hl_fault_now = (enum hl_fault)i;
            return 0;
        }
    }
    return hl_err_say(HL_ERR_ARG, "HOTLANE_FAULT=%s: there is no such defect", name);
}
