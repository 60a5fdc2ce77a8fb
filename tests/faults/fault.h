/* What copies of sources with planted defects ask (seams.py), in builds with -Dfaults=true. */
#ifndef HL_FAULT_H
#define HL_FAULT_H

#include "job.h"
#include "util.h"

#include <signal.h>
#include <stdbool.h>
#include <string.h>

/* The name of the defect that shows; "": none. Set before threads start. */
extern const char *hl_fault_now;
#define HL_FAULT(name) (strcmp(hl_fault_now, #name) == 0)

/* The names of planted.py, NULL behind the last (seams.py writes them). */
extern const char *const hl_fault_names[];

/* Shows the defect of this name; "": none. Returns 0, or HL_ERR_ARG with the text for an unknown name. */
int hl_fault_plant(const char *name);

/* hl_fault_plant with the value of HOTLANE_FAULT. */
int hl_fault_read(void);

#endif
