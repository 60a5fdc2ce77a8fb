/* The MPI functions that are not built yet. THE list is in the missing_*.h files: a function that gets built
 * loses its row there. */
#include "missing.h"

#include <stddef.h>

#include "api.h"
#include "args.h"

static int unsupported(MPI_Comm comm, const char *func)
{
    return hl_errh_comm(hl_comm_of(comm), func,
                        hl_err_say(HL_ERR_UNSUPPORTED_OPERATION, "%s is not built yet", func));
}

#define MISSING(name, comm, params)                                                                          \
    HL_API(name)                                                                                             \
    int P##name params                                                                                       \
    {                                                                                                        \
        return unsupported(comm, #name);                                                                     \
    }
#include "missing_coll.h"
#include "missing_other.h"
#include "missing_p2p.h"
#undef MISSING

/* Files start with MPI_ERRORS_RETURN and the tool interface has no error handlers: these only return. */
#define MISSING(name, comm, params)                                                                          \
    HL_API(name)                                                                                             \
    int P##name params                                                                                       \
    {                                                                                                        \
        return MPI_ERR_UNSUPPORTED_OPERATION;                                                                \
    }
#include "missing_file.h"
#include "missing_t.h"
#undef MISSING

#define MISSING(name, comm, params) #name,
static const char *const names[] = {
#include "missing_coll.h"
#include "missing_file.h"
#include "missing_other.h"
#include "missing_p2p.h"
#include "missing_t.h"
    NULL};

const char *const *hl_api_missing(void)
{
    return names;
}
