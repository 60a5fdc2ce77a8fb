/* Which PEs and objects can be reached, and which by plain loads and stores (OpenSHMEM 1.5, sections 9.1.5 to
 * 9.1.7; 1.6: team_ptr). */
#include <shmem.h>

#include "entry.h"
#include "shm.h"
#include "sym.h"
#include "team.h"

static void need_pe(const char *func, int pe, int size)
{
    hl_shmem_need_open(func);
    if ((uint32_t)pe >= (uint32_t)size) {
        hl_shmem_die(func, "PE %d does not exist: there are PEs 0 to %d", pe, size - 1);
    }
}

/* The address here of symmetric object `dest` of a PE, or NULL: it is not mapped, or not symmetric, which is
 * no error. My own object is at its own address, whatever way transfers take to it. */
static void *find_pointer(const void *dest, int pe)
{
    if (pe == hl_sym.my_pe) {
        return hl_sym_is(dest, 1) ? (void *)(uintptr_t)dest : NULL;
    }
    struct hl_sym_addr s;
    bool mapped = hl_sym_find(dest, 1, pe, &s) && hl_sym_addr_is_mapped(&s);
    return mapped ? (void *)(uintptr_t)s.where : NULL; /* NOLINT(performance-no-int-to-ptr) */
}

HL_SHMEM_API(shmem_ptr);
void *pshmem_ptr(const void *dest, int pe)
{
    need_pe("shmem_ptr", pe, hl_sym.n_pes);
    return find_pointer(dest, pe);
}

HL_SHMEM_API(shmem_team_ptr);
void *pshmem_team_ptr(shmem_team_t team, const void *dest, int pe)
{
    const struct hl_team *t = hl_team_must(team, "shmem_team_ptr");
    if (t == NULL) {
        return NULL;
    }
    need_pe("shmem_team_ptr", pe, t->size);
    return find_pointer(dest, t->start + pe * t->stride);
}

HL_SHMEM_API(shmem_pe_accessible);
int pshmem_pe_accessible(int pe)
{
    hl_shmem_need_open("shmem_pe_accessible");
    return (uint32_t)pe < (uint32_t)hl_sym.n_pes;
}

HL_SHMEM_API(shmem_addr_accessible);
int pshmem_addr_accessible(const void *addr, int pe)
{
    struct hl_sym_addr s;
    hl_shmem_need_open("shmem_addr_accessible");
    return hl_sym_find(addr, 1, pe, &s);
}
