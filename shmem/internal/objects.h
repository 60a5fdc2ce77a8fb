/* Which objects have symmetric static data, and where it lies.
 *
 * An object is the executable or a shared library. Its data is symmetric when
 *   - it is the executable of a program that was linked with OpenSHMEM,
 *   - or a library that was loaded with such a program, but for the system's libraries (those in /lib,
 *     /usr/lib and where libc lies) and Hotlane with what it needs,
 *   - or any library that was itself linked with OpenSHMEM (libsma.so.1), loaded by dlopen too.
 *
 * A stretch is the writable part of an object's data: whole pages from the end of what the loader made
 * read-only (RELRO) to the end of .bss. */
#ifndef HL_SHMEM_OBJECTS_H
#define HL_SHMEM_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HL_STRETCH_NAME 64

struct hl_stretch {
    char *base;                 /* a page's address */
    size_t len;                 /* bytes, whole pages */
    size_t filled;              /* bytes at its beginning that came from the file; behind them is .bss */
    uint64_t id;                /* PEs with equal ids have the same data at the same offsets */
    bool shared;                /* set by share.c: it lies in hl_share.piece now */
    size_t off;                 /* set by share.c: its offset there, whole pages */
    char name[HL_STRETCH_NAME]; /* "the executable", or the library's file name */
};

/* A variable of another library whose data the linker has put into the executable (copy relocation): stdout,
 * environ. It lies within a stretch, but does not belong to the program. */
struct hl_foreign {
    char *base;
    size_t len;
    const char *name; /* the loader's string */
};

struct hl_objects {
    struct hl_stretch *stretches; /* the executable's first, libraries as they were loaded */
    int n_stretches;
    struct hl_foreign *foreign; /* sorted by address */
    int n_foreign;
    bool is_static; /* the executable is static: its data cannot be told apart from libc's */
};

/* Looks at all objects that are loaded now and keeps those with symmetric data in memory (dlclose will not
 * unload them). Returns 0 or HL_ERR_NO_MEM; the arrays are the caller's. Any thread,
 * but not from a dl_iterate_phdr callback. */
int hl_objects_find(struct hl_objects *out);

/* Was a loaded object linked with OpenSHMEM, or is the library part of the executable? */
bool hl_objects_have_shmem(void);

/* The file name of the object in which an address lies, or "" when it lies in none. */
const char *hl_objects_name_at(const void *addr);

#endif
