/* Handles as C integers: predefined handles keep their value, others become the number of their place. */
#include "api.h"
#include "req.h"

enum { FIRST_PLACE = 0x1000, REQUESTS = 0x40000000 };

static int to_int(const void *handle)
{
    uintptr_t value = (uintptr_t)handle;

    if (value < FIRST_PLACE) {
        return (int)value;
    }
    size_t at = (size_t)(value - (uintptr_t)hl_handle_base);
    if (at < hl_handle_range) {
        return (int)(FIRST_PLACE + at / HL_HANDLE_SIZE);
    }
    at = (size_t)(value - (uintptr_t)hl_req_base);
    return at < hl_req_range ? (int)(REQUESTS + at / sizeof(struct hl_req)) : -1;
}

/* The handle of an integer. Numbers that were never given out become a handle that every call refuses. */
static void *from_int(int value)
{
    if (value < FIRST_PLACE) {
        return (void *)(uintptr_t)(value < 0 ? 0 : value);
    }
    if (value >= REQUESTS) {
        return hl_req_base + (size_t)(value - REQUESTS) * sizeof(struct hl_req);
    }
    return hl_handle_base + (size_t)(value - FIRST_PLACE) * HL_HANDLE_SIZE;
}

/* One row for each handle type: both functions and the C type. */
#define HANDLE_ROWS(X)                                                                                       \
    X(MPI_Comm_toint, MPI_Comm_fromint, MPI_Comm)                                                            \
    X(MPI_Errhandler_toint, MPI_Errhandler_fromint, MPI_Errhandler)                                          \
    X(MPI_File_toint, MPI_File_fromint, MPI_File)                                                            \
    X(MPI_Group_toint, MPI_Group_fromint, MPI_Group)                                                         \
    X(MPI_Info_toint, MPI_Info_fromint, MPI_Info)                                                            \
    X(MPI_Message_toint, MPI_Message_fromint, MPI_Message)                                                   \
    X(MPI_Op_toint, MPI_Op_fromint, MPI_Op)                                                                  \
    X(MPI_Request_toint, MPI_Request_fromint, MPI_Request)                                                   \
    X(MPI_Session_toint, MPI_Session_fromint, MPI_Session)                                                   \
    X(MPI_Type_toint, MPI_Type_fromint, MPI_Datatype)                                                        \
    X(MPI_Win_toint, MPI_Win_fromint, MPI_Win)

#define X(toint, fromint, type)                                                                              \
    HL_API(toint);                                                                                           \
    int P##toint(type handle)                                                                                \
    {                                                                                                        \
        return to_int(handle);                                                                               \
    }                                                                                                        \
    HL_API(fromint);                                                                                         \
    type P##fromint(int handle)                                                                              \
    {                                                                                                        \
        return (type)from_int(handle);                                                                       \
    }
/* Defines: MPI_Comm_toint MPI_Comm_fromint MPI_Errhandler_toint MPI_Errhandler_fromint MPI_File_toint
 * MPI_File_fromint MPI_Group_toint MPI_Group_fromint MPI_Info_toint MPI_Info_fromint MPI_Message_toint
 * MPI_Message_fromint MPI_Op_toint MPI_Op_fromint MPI_Request_toint MPI_Request_fromint MPI_Session_toint
 * MPI_Session_fromint MPI_Type_toint MPI_Type_fromint MPI_Win_toint MPI_Win_fromint */
HANDLE_ROWS(X)
#undef X
