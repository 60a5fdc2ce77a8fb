/* Events of the tool interface, of which there are none, so that no registration and no instance of one
 * exists; and its one source of time. */
#include <limits.h>

#include "api.h"
#include "info.h"
#include "tool.h"
#include "util.h"

/* The error of calls with an event's index, or with a handle that only events give out. */
static int no_event(void)
{
    return hl_tool_check_index(0, 0);
}

static int no_handle(void)
{
    int err = hl_tool_check();

    return err == MPI_SUCCESS ? MPI_T_ERR_INVALID_HANDLE : err;
}

HL_CALL_RETURN(MPI_T_event_get_num, (int *num_events), hl_tool_give_number(num_events, 0))
HL_API(MPI_T_event_get_index);
int PMPI_T_event_get_index(const char *name, int *event_index)
{
    int err = hl_tool_check_out(event_index);

    return err != MPI_SUCCESS ? err : name == NULL ? MPI_T_ERR_INVALID : MPI_T_ERR_INVALID_NAME;
}

HL_CALL_RETURN(MPI_T_event_get_info,
               (int event_index, char *name, int *name_len, int *verbosity, MPI_Datatype array_of_datatypes[],
                MPI_Aint array_of_displacements[], int *num_elements, MPI_T_enum *enumtype, MPI_Info *info,
                char *desc, int *desc_len, int *bind),
               no_event())
HL_CALL_RETURN(MPI_T_event_handle_alloc,
               (int event_index, void *obj_handle, MPI_Info info,
                MPI_T_event_registration *event_registration),
               no_event())
HL_CALL_RETURN(MPI_T_event_handle_set_info, (MPI_T_event_registration event_registration, MPI_Info info),
               no_handle())
HL_CALL_RETURN(MPI_T_event_handle_get_info,
               (MPI_T_event_registration event_registration, MPI_Info *info_used), no_handle())
HL_CALL_RETURN(MPI_T_event_handle_free,
               (MPI_T_event_registration event_registration, void *user_data,
                MPI_T_event_free_cb_function free_cb_function),
               no_handle())
HL_CALL_RETURN(MPI_T_event_register_callback,
               (MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety, MPI_Info info,
                void *user_data, MPI_T_event_cb_function event_cb_function),
               no_handle())
HL_CALL_RETURN(MPI_T_event_callback_set_info,
               (MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety, MPI_Info info),
               no_handle())
HL_CALL_RETURN(MPI_T_event_callback_get_info,
               (MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety, MPI_Info *info_used),
               no_handle())
HL_CALL_RETURN(MPI_T_event_set_dropped_handler,
               (MPI_T_event_registration event_registration,
                MPI_T_event_dropped_cb_function dropped_cb_function),
               no_handle())
HL_CALL_RETURN(MPI_T_event_read, (MPI_T_event_instance event_instance, int element_index, void *buffer),
               no_handle())
HL_CALL_RETURN(MPI_T_event_copy, (MPI_T_event_instance event_instance, void *buffer), no_handle())
HL_CALL_RETURN(MPI_T_event_get_timestamp, (MPI_T_event_instance event_instance, MPI_Count *event_timestamp),
               no_handle())
HL_CALL_RETURN(MPI_T_event_get_source, (MPI_T_event_instance event_instance, int *source_index), no_handle())

/* ---- Sources ---- */

enum { SOURCES = 1 };

HL_CALL_RETURN(MPI_T_source_get_num, (int *num_sources), hl_tool_give_number(num_sources, SOURCES))

static int give_empty_info(MPI_Info *info)
{
    struct hl_info *made;

    if (info != NULL && hl_info_make(&made) != 0) {
        return MPI_T_ERR_MEMORY;
    }
    if (info != NULL) {
        *info = made->handle;
    }
    return MPI_SUCCESS;
}

HL_API(MPI_T_source_get_info);
int PMPI_T_source_get_info(int source_index, char *name, int *name_len, char *desc, int *desc_len,
                           MPI_T_source_order *ordering, MPI_Count *ticks_per_second, MPI_Count *max_ticks,
                           MPI_Info *info)
{
    int err = hl_tool_check_index(source_index, SOURCES);

    err = err == MPI_SUCCESS ? give_empty_info(info) : err;
    if (err != MPI_SUCCESS) {
        return err;
    }
    hl_tool_give_text("clock", name, name_len);
    hl_tool_give_text("the system's monotonic clock", desc, desc_len);
    if (ordering != NULL) {
        *ordering = MPI_T_SOURCE_ORDERED;
    }
    if (ticks_per_second != NULL) {
        *ticks_per_second = 1000000000;
    }
    if (max_ticks != NULL) {
        *max_ticks = INT64_MAX;
    }
    return MPI_SUCCESS;
}

HL_API(MPI_T_source_get_timestamp);
int PMPI_T_source_get_timestamp(int source_index, MPI_Count *timestamp)
{
    int err = hl_tool_check_index(source_index, SOURCES);

    err = err == MPI_SUCCESS ? hl_tool_check_out(timestamp) : err;
    if (err == MPI_SUCCESS) {
        *timestamp = (MPI_Count)hl_now_ns();
    }
    return err;
}
