/* shmem.h: OpenSHMEM in C, version 1.5 whole with the additions of 1.6. Works in C99, C11 (with the generic
 * forms) and C++ (without them; complex types are GNU's double _Complex).
 *
 * Order: version, handles, constants, then what has no type in its name: start and end, memory, teams,
 * contexts, ordering, locks. What exists for many types stands in one file a chapter, shmem/rma.h to
 * shmem/wait.h; shmem/old.h holds what is deprecated, shmem/generic.h the forms that choose by the type of
 * their arguments, shmem/profile.h the pshmem_ names.
 *
 * Words of all files: a PE is one process of the job, numbered from 0; `pe` is a number in the team of the
 * context (default context: in the whole job). A symmetric object exists at all PEs: memory of shmem_malloc
 * and its kin, and global and static variables; a PE names another's by the address of its own. Sizes in
 * bytes are `size` or `mem`, nelems counts elements. A call with a PE, address or handle that does not exist
 * ends the job with one line naming it, as do calls before shmem_init or after shmem_finalize. All calls are
 * free for all threads at SHMEM_THREAD_MULTIPLE. */
#ifndef HOTLANE_SHMEM_H
#define HOTLANE_SHMEM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Version: 1.6, for all of its functions are here; shmem_info_get_version says the same ---- */
#define SHMEM_MAJOR_VERSION 1
#define SHMEM_MINOR_VERSION 6
#define SHMEM_MAX_NAME_LEN 256 /* bytes of shmem_info_get_name's text, the ending 0 included */
#define SHMEM_VENDOR_STRING "Hotlane"

/* ---- Handles: pointers to incomplete structures; predefined ones are small constants, 0 is none ---- */
typedef struct shmem_ctx *shmem_ctx_t;
typedef struct shmem_team *shmem_team_t;

#define SHMEM_CTX_INVALID ((shmem_ctx_t)0)
#define SHMEM_CTX_DEFAULT ((shmem_ctx_t)1)

#define SHMEM_TEAM_INVALID ((shmem_team_t)0)
#define SHMEM_TEAM_WORLD ((shmem_team_t)1)  /* all PEs */
#define SHMEM_TEAM_SHARED ((shmem_team_t)2) /* the PEs whose memory shmem_ptr reaches from here */

/* ---- Configurations, each with its mask: which members the caller has set ---- */
typedef struct {
    int num_contexts; /* how many contexts of the team will live at once; a hint: more are made as well */
} shmem_team_config_t;
#define SHMEM_TEAM_NUM_CONTEXTS 1L

typedef struct {
    size_t total_ops; /* how many operations the session will have; a hint */
} shmem_ctx_session_config_t;
#define SHMEM_CTX_SESSION_TOTAL_OPS 1L

/* ---- Options of contexts and of their sessions (1.6) ---- */
#define SHMEM_CTX_SERIALIZED 1L /* one thread at a time uses it */
#define SHMEM_CTX_PRIVATE 2L    /* only the thread that created it uses it */
#define SHMEM_CTX_NOSTORE 4L    /* its quiet and fence do not order this PE's own stores */
#define SHMEM_CTX_SESSION_BATCH 1L
#define SHMEM_CTX_SESSION_SAME_AMO 2L

/* ---- Thread levels ---- */
#define SHMEM_THREAD_SINGLE 0
#define SHMEM_THREAD_FUNNELED 1
#define SHMEM_THREAD_SERIALIZED 2
#define SHMEM_THREAD_MULTIPLE 3

/* ---- Comparisons of waiting and testing ---- */
#define SHMEM_CMP_EQ 0
#define SHMEM_CMP_NE 1
#define SHMEM_CMP_GT 2
#define SHMEM_CMP_GE 3
#define SHMEM_CMP_LT 4
#define SHMEM_CMP_LE 5

/* ---- Signals ---- */
#define SHMEM_SIGNAL_SET 0
#define SHMEM_SIGNAL_ADD 1

/* ---- Hints of shmem_malloc_with_hints ---- */
#define SHMEM_MALLOC_ATOMICS_REMOTE 1L
#define SHMEM_MALLOC_SIGNAL_REMOTE 2L

/* ---- Partitions of the symmetric heap (shmemx.h allocates from them) ---- */
#define SHMEM_MAX_PARTITIONS 7
#define SHMEM_MAX_PARTITION_ID 127

/* ---- Work arrays of the deprecated collectives of active sets: elements, and their value before the first
 * use ---- */
#define SHMEM_SYNC_VALUE 0L
#define SHMEM_SYNC_SIZE 64
#define SHMEM_BARRIER_SYNC_SIZE SHMEM_SYNC_SIZE
#define SHMEM_BCAST_SYNC_SIZE SHMEM_SYNC_SIZE
#define SHMEM_COLLECT_SYNC_SIZE SHMEM_SYNC_SIZE
#define SHMEM_REDUCE_SYNC_SIZE SHMEM_SYNC_SIZE
#define SHMEM_ALLTOALL_SYNC_SIZE SHMEM_SYNC_SIZE
#define SHMEM_ALLTOALLS_SYNC_SIZE SHMEM_SYNC_SIZE
#define SHMEM_REDUCE_MIN_WRKDATA_SIZE 16

/* ---- Deprecated names of constants ---- */
#define _SHMEM_MAJOR_VERSION SHMEM_MAJOR_VERSION
#define _SHMEM_MINOR_VERSION SHMEM_MINOR_VERSION
#define _SHMEM_MAX_NAME_LEN SHMEM_MAX_NAME_LEN
#define _SHMEM_VENDOR_STRING SHMEM_VENDOR_STRING
#define _SHMEM_CMP_EQ SHMEM_CMP_EQ
#define _SHMEM_CMP_NE SHMEM_CMP_NE
#define _SHMEM_CMP_GT SHMEM_CMP_GT
#define _SHMEM_CMP_GE SHMEM_CMP_GE
#define _SHMEM_CMP_LT SHMEM_CMP_LT
#define _SHMEM_CMP_LE SHMEM_CMP_LE
#define _SHMEM_SYNC_VALUE SHMEM_SYNC_VALUE
#define _SHMEM_BARRIER_SYNC_SIZE SHMEM_BARRIER_SYNC_SIZE
#define _SHMEM_BCAST_SYNC_SIZE SHMEM_BCAST_SYNC_SIZE
#define _SHMEM_COLLECT_SYNC_SIZE SHMEM_COLLECT_SYNC_SIZE
#define _SHMEM_REDUCE_SYNC_SIZE SHMEM_REDUCE_SYNC_SIZE
#define _SHMEM_ALLTOALL_SYNC_SIZE SHMEM_ALLTOALL_SYNC_SIZE
#define _SHMEM_ALLTOALLS_SYNC_SIZE SHMEM_ALLTOALLS_SYNC_SIZE
#define _SHMEM_REDUCE_MIN_WRKDATA_SIZE SHMEM_REDUCE_MIN_WRKDATA_SIZE

/* ---- Start and end (section 9.1) ---- */

/* Starts the library at all PEs: the symmetric heap exists on return. Collective. Starts are counted (1.6): the
 * library ends with the last of as many calls of shmem_finalize, and does not start again. */
void shmem_init(void);

/* Ends it; operations still open are completed first. Collective. A PE that returns from main without it ends
 * as if it had called it. */
void shmem_finalize(void);

/* *initialized becomes 1 between start and end, else 0 (1.6). Allowed at any time. */
void shmem_query_initialized(int *initialized);

/* Ends the job: every PE, whatever it does, ends with `status`. Any PE, any thread; does not return. */
void shmem_global_exit(int status) __attribute__((__noreturn__));

/* This PE's number, and how many there are. */
int shmem_my_pe(void);
int shmem_n_pes(void);

/* 1 if the PE exists and can be reached, else 0. */
int shmem_pe_accessible(int pe);

/* 1 if addr is symmetric and the PE can be reached, else 0. */
int shmem_addr_accessible(const void *addr, int pe);

/* The address at which plain loads and stores of this PE reach dest of that PE (team form, 1.6: PE of the
 * team); NULL if they cannot, if dest is not symmetric or the team is SHMEM_TEAM_INVALID. */
void *shmem_ptr(const void *dest, int pe);
void *shmem_team_ptr(shmem_team_t team, const void *dest, int pe);

/* SHMEM_MAJOR_VERSION and SHMEM_MINOR_VERSION of the library; its name, at most SHMEM_MAX_NAME_LEN bytes. */
void shmem_info_get_version(int *major, int *minor);
void shmem_info_get_name(char *name);

/* For profilers that put themselves before the library; does nothing here (section 10). */
void shmem_pcontrol(int level, ...);

/* ---- Threads (section 9.2) ---- */

/* As shmem_init, asking for a SHMEM_THREAD_ level; *provided is what the library gives. Returns 0, nonzero on
 * error. */
int shmem_init_thread(int requested, int *provided);
void shmem_query_thread(int *provided);

/* ---- Memory (section 9.3) ---- */

/* `size` bytes of symmetric memory, the same size asked for by all PEs; NULL for size 0, or when the heap is full (at
 * all PEs then, with a line saying why). Collective, with a barrier at the end (none for size 0). align: the address is a
 * multiple of `alignment`, a power of two (below sizeof(void *): of that). calloc: count * size bytes, all 0. */
void *shmem_malloc(size_t size);
void *shmem_align(size_t alignment, size_t size);
void *shmem_calloc(size_t count, size_t size);

/* As malloc, with SHMEM_MALLOC_ hints of how it will be used; they do not change where memory comes from. */
void *shmem_malloc_with_hints(size_t size, long hints);

/* Gives memory back; ptr NULL: does nothing. Collective, with a barrier at the beginning. */
void shmem_free(void *ptr);

/* Changes the size of what ptr points to, which may move; contents are kept up to the smaller size. ptr NULL:
 * as malloc. size 0: as free, returns NULL. When the heap is full: NULL, and ptr stays as it is. Collective,
 * with barriers at the beginning and the end. */
void *shmem_realloc(void *ptr, size_t size);

/* ---- Teams (section 9.4) ---- */

/* This PE's number in the team, and how many PEs it has; -1 for SHMEM_TEAM_INVALID (my_pe: also at PEs
 * outside). */
int shmem_team_my_pe(shmem_team_t team);
int shmem_team_n_pes(shmem_team_t team);

/* *config as given when the team was made, for the members in the mask. 0; nonzero for SHMEM_TEAM_INVALID. */
int shmem_team_get_config(shmem_team_t team, long config_mask, shmem_team_config_t *config);

/* The number in dest_team of PE src_pe of src_team; -1 if it is not in there or a team is invalid. */
int shmem_team_translate_pe(shmem_team_t src_team, int src_pe, shmem_team_t dest_team);

/* New team of PEs start, start + stride, ... (size of them) of the parent. stride may be negative; 0 with
 * size 1. All PEs of the parent call it alike; those outside get SHMEM_TEAM_INVALID. config may be NULL with
 * mask 0. Returns 0, nonzero if the team cannot be made (invalid parent; PEs that it does not have). */
int shmem_team_split_strided(shmem_team_t parent_team, int start, int stride, int size,
                             const shmem_team_config_t *config, long config_mask, shmem_team_t *new_team);

/* Two new teams: the parent's PEs as a grid with rows of xrange PEs; this PE's row (x axis) and column (y
 * axis). */
int shmem_team_split_2d(shmem_team_t parent_team, int xrange, const shmem_team_config_t *xaxis_config,
                        long xaxis_mask, shmem_team_t *xaxis_team, const shmem_team_config_t *yaxis_config,
                        long yaxis_mask, shmem_team_t *yaxis_team);

/* Ends a team and the contexts made on it that may be shared. Collective over the team. SHMEM_TEAM_INVALID:
 * nothing; SHMEM_TEAM_WORLD and _SHARED: an error. */
void shmem_team_destroy(shmem_team_t team);

/* ---- Contexts (section 9.5) ---- */

/* New context with SHMEM_CTX_ options, of all PEs or of a team's PEs: what is issued on it is ordered and
 * completed by its own fence and quiet. Returns 0; nonzero and SHMEM_CTX_INVALID if there is none (memory is
 * used up; team invalid). Local. */
int shmem_ctx_create(long options, shmem_ctx_t *ctx);
int shmem_team_create_ctx(shmem_team_t team, long options, shmem_ctx_t *ctx);

/* Completes the context's operations and ends it. SHMEM_CTX_INVALID: does nothing. SHMEM_CTX_DEFAULT: an
 * error. */
void shmem_ctx_destroy(shmem_ctx_t ctx);

/* The team whose PE numbers the context uses. 0; nonzero and SHMEM_TEAM_INVALID for SHMEM_CTX_INVALID. */
int shmem_ctx_get_team(shmem_ctx_t ctx, shmem_team_t *team);

/* Begin and end of a series of operations on the context, described by SHMEM_CTX_SESSION_ options and config
 * (1.6). Hints: they change nothing that a program can see. SHMEM_CTX_INVALID: do nothing. */
void shmem_ctx_session_start(shmem_ctx_t ctx, long options, const shmem_ctx_session_config_t *config,
                             long config_mask);
void shmem_ctx_session_stop(shmem_ctx_t ctx);

/* ---- Order and completion (section 9.11) ---- */

/* What was put to a PE before the fence arrives there before what is put to it after. */
void shmem_fence(void);
void shmem_ctx_fence(shmem_ctx_t ctx);

/* Returns when all that was issued on the context before has completed everywhere; other threads go on
 * meanwhile. */
void shmem_quiet(void);
void shmem_ctx_quiet(shmem_ctx_t ctx);

/* As quiet, for operations to the npes PEs of the list (1.6). */
void shmem_pe_quiet(const int *target_pes, size_t npes);
void shmem_ctx_pe_quiet(shmem_ctx_t ctx, const int *target_pes, size_t npes);

/* ---- Locks (section 9.12): symmetric longs, 0 at first ---- */

/* set waits for the lock, in turn of arrival; test takes it if it is free: 0 if this PE has it now, else 1.
 * clear completes the default context's operations and gives it up. */
void shmem_set_lock(long *lock);
int shmem_test_lock(long *lock);
void shmem_clear_lock(long *lock);

#ifdef __cplusplus
}
#endif

#include "shmem/rma.h"

#include "shmem/atomic.h"

#include "shmem/signal.h"

#include "shmem/coll.h"

#include "shmem/wait.h"

#include "shmem/old.h"

#include "shmem/profile.h"

#include "shmem/generic.h"

#endif
