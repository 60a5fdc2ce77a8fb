/* Handles, which are INTEGER in Fortran and pointers in C. Predefined ones have the same value in both; the
 * MPI library numbers the others. (MPI 5.0, sections 19.3.4 and 20.3) */
#ifndef HL_FORT_HANDLE_H
#define HL_FORT_HANDLE_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

enum { HL_FORT_PREDEFINED = 0x1000 }; /* the first value that is not kept for predefined handles */
enum { HL_FORT_ROOM = 32 };           /* handles of a list that need no allocation */

/* Room for a list of handles; `made` is what was allocated. */
struct hl_fort_list {
    void *made;
    void *room[HL_FORT_ROOM];
};

/* Memory for n pointers (none when negative): within list, or allocated if they do not fit or list is NULL.
 * NULL: no memory. */
static inline void *hl_fort_list_begin(struct hl_fort_list *list, MPI_Count n)
{
    if (list == NULL) {
        return malloc(sizeof(void *) * (size_t)(n < 1 ? 1 : n));
    }
    list->made = n > HL_FORT_ROOM ? malloc(sizeof(void *) * (size_t)n) : NULL;
    return n > HL_FORT_ROOM ? list->made : list->room;
}

static inline void hl_fort_list_end(struct hl_fort_list *list)
{
    free(list->made);
}

/* What a handle is that C has not written; no handle has this value. */
#define HL_FORT_UNWRITTEN ((void *)~(uintptr_t)0)

/* Hotlane numbers objects by their places, which are of one size and lie in order (lib/api/convert.c), up to
 * HL_FORT_PLACES_END: their handles are found without a call. Other libraries are asked each time. */
enum { HL_FORT_PLACES_END = 0x40000000 };
struct hl_fort_places {
    char *first; /* the handle of the number HL_FORT_PREDEFINED; set before size */
    size_t size; /* atomic; 0: not known (yet), ask the library */
};
extern struct hl_fort_places hl_fort_places __attribute__((visibility("hidden")));
/* Looks whether the MPI library is one that numbers so; called with a number that it has given. Any thread.
 */
void hl_fort_look_at_places(void);

/* For each type of handle: NAME_in and NAME_out for one, NAMEs_in for n of them (NULL: no memory), NAMEs_room
 * for n that C is to write, and NAMEs_out, which leaves alone what C has not written. */
#define HL_FORT_HANDLE(name, type, fromint, toint)                                                           \
    static __attribute__((noinline, cold, unused)) type hl_fort_##name##_asked(int handle)                   \
    {                                                                                                        \
        hl_fort_look_at_places();                                                                            \
        return fromint(handle);                                                                              \
    }                                                                                                        \
    static inline type hl_fort_##name##_in(int handle)                                                       \
    {                                                                                                        \
        if ((unsigned)handle < HL_FORT_PREDEFINED) {                                                         \
            return (type)(uintptr_t)handle;                                                                  \
        }                                                                                                    \
        size_t size = __atomic_load_n(&hl_fort_places.size, __ATOMIC_ACQUIRE); /* acquire: first is set */   \
        return size != 0 && (unsigned)handle < HL_FORT_PLACES_END                                            \
                   ? (type)(void *)(hl_fort_places.first + (size_t)(handle - HL_FORT_PREDEFINED) * size)     \
                   : hl_fort_##name##_asked(handle);                                                         \
    }                                                                                                        \
    static inline int hl_fort_##name##_out(type handle)                                                      \
    {                                                                                                        \
        return (uintptr_t)handle < HL_FORT_PREDEFINED ? (int)(uintptr_t)handle : toint(handle);              \
    }                                                                                                        \
    static inline type *hl_fort_##name##s_in(struct hl_fort_list *list, const int *handles, MPI_Count n)     \
    {                                                                                                        \
        type *to = hl_fort_list_begin(list, n);                                                              \
        for (MPI_Count i = 0; to != NULL && i < n; i++) {                                                    \
            to[i] = hl_fort_##name##_in(handles[i]);                                                         \
        }                                                                                                    \
        return to;                                                                                           \
    }                                                                                                        \
    static inline type *hl_fort_##name##s_room(struct hl_fort_list *list, MPI_Count n)                       \
    {                                                                                                        \
        type *to = hl_fort_list_begin(list, n);                                                              \
        for (MPI_Count i = 0; to != NULL && i < n; i++) {                                                    \
            to[i] = HL_FORT_UNWRITTEN;                                                                       \
        }                                                                                                    \
        return to;                                                                                           \
    }                                                                                                        \
    static inline void hl_fort_##name##s_out(int *handles, type const *from, MPI_Count n)                    \
    {                                                                                                        \
        for (MPI_Count i = 0; i < n; i++) {                                                                  \
            if (from[i] != HL_FORT_UNWRITTEN) {                                                              \
                handles[i] = hl_fort_##name##_out(from[i]);                                                  \
            }                                                                                                \
        }                                                                                                    \
    }
HL_FORT_HANDLE(comm, MPI_Comm, PMPI_Comm_fromint, PMPI_Comm_toint)
HL_FORT_HANDLE(group, MPI_Group, PMPI_Group_fromint, PMPI_Group_toint)
HL_FORT_HANDLE(win, MPI_Win, PMPI_Win_fromint, PMPI_Win_toint)
HL_FORT_HANDLE(file, MPI_File, PMPI_File_fromint, PMPI_File_toint)
HL_FORT_HANDLE(session, MPI_Session, PMPI_Session_fromint, PMPI_Session_toint)
HL_FORT_HANDLE(message, MPI_Message, PMPI_Message_fromint, PMPI_Message_toint)
HL_FORT_HANDLE(info, MPI_Info, PMPI_Info_fromint, PMPI_Info_toint)
HL_FORT_HANDLE(errhandler, MPI_Errhandler, PMPI_Errhandler_fromint, PMPI_Errhandler_toint)
HL_FORT_HANDLE(request, MPI_Request, PMPI_Request_fromint, PMPI_Request_toint)
HL_FORT_HANDLE(op, MPI_Op, PMPI_Op_fromint, PMPI_Op_toint)
HL_FORT_HANDLE(datatype, MPI_Datatype, PMPI_Type_fromint, PMPI_Type_toint)
#undef HL_FORT_HANDLE

#endif
