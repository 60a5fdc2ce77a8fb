/* Inside the module: the rule that sorts memory nodes into kinds. */
#ifndef HL_TOPO_KINDS_H
#define HL_TOPO_KINDS_H

#include "topo.h"

#include <hwloc.h>

/* Fills `out` from a loaded topology; `fastmem` has the words of HOTLANE_FASTMEM_NODES. Returns 0, or
 * HL_ERR_ARG with the text when `fastmem` does not parse or names a node that is not there. */
int hl_topo_classify(hwloc_topology_t t, const char *fastmem, struct hl_topo *out);

#endif
