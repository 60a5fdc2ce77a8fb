/* Start and end of OpenSHMEM, and how a wrong program ends. */
#include <ctype.h>
#include <mpi.h>
#include <shmem.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll.h"
#include "comm.h"
#include "ctx.h"
#include "entry.h"
#include "err.h"
#include "heap.h"
#include "job.h"
#include "life.h"
#include "log.h"
#include "parts.h"
#include "rx.h"
#include "shm.h"
#include "show.h"
#include "statics.h"
#include "sym.h"
#include "team.h"
#include "xfer.h"

struct hl_comm *hl_shmem_comm;

/* ---- the end of wrong programs ---- */

_Noreturn void hl_shmem_die(const char *func, const char *fmt, ...)
{
    char text[HL_ERR_TEXT];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    hl_log(HL_LOG_ERROR, "%s: %s", func, text);
    hl_job_abort(1);
}

static bool ended_by_exit; /* the end of the program has ended OpenSHMEM; used by the exiting thread */

static const char *name_reason_closed(void)
{
    return hl_life_is_forked()             ? "a forked child of a PE cannot use the library"
           : ended_by_exit                 ? "called after exit, which has ended OpenSHMEM"
           : hl_life_closed(HL_LIFE_SHMEM) ? "called after shmem_finalize"
                                           : "called before shmem_init";
}

void hl_shmem_need_open(const char *func)
{
    if (HL_UNLIKELY(hl_sym.n_pes == 0)) {
        hl_shmem_die(func, "%s", name_reason_closed());
    }
}

_Noreturn void hl_shmem_null(const char *func, const char *name)
{
    hl_shmem_die(func, "%s is NULL", name);
}

_Noreturn void hl_shmem_bad_access(const char *func, const void *addr, size_t len, int pe)
{
    hl_shmem_need_open(func);
    if ((uint32_t)pe >= (uint32_t)hl_sym.n_pes) {
        hl_shmem_die(func, "PE %d does not exist: there are PEs 0 to %d", pe, hl_sym.n_pes - 1);
    }
    char text[256];
    if (hl_statics_explain(addr, len, pe, text, sizeof text)) {
        hl_shmem_die(func, "%s", text);
    }
    if (hl_sym_is(addr, 1)) {
        hl_shmem_die(func,
                     "%zu bytes from address %p on reach beyond the end of the symmetric memory that has it",
                     len, addr);
    }
    hl_shmem_die(
        func,
        "address %p is not symmetric: it is neither in the heap (shmem_malloc) nor static data of the "
        "program",
        addr);
}

/* Does the word rank, or ranks, begin at `at`? */
static bool is_rank_word(const char *text, const char *at)
{
    if (strncmp(at, "rank", 4) != 0 || (at != text && (isalnum((unsigned char)at[-1]) || at[-1] == '_'))) {
        return false;
    }
    const char *end = at + 4 + (at[4] == 's');
    return !isalnum((unsigned char)*end) && *end != '_';
}

void hl_shmem_words(const char *text, char *out, size_t cap)
{
    size_t n = 0;
    for (const char *at = text; *at != '\0' && n + 3 <= cap;) {
        if (is_rank_word(text, at)) {
            out[n++] = 'P';
            out[n++] = 'E';
            at += 4;
        } else {
            out[n++] = *at++;
        }
    }
    out[n] = '\0';
}

void hl_shmem_fail(int rc, const char *func, int pe)
{
    const char *said = hl_err_text(rc);
    char *text = malloc(HL_ERR_TEXT); /* not on the stack: deep calls end here */
    if (text != NULL) {
        hl_shmem_words(said, text, HL_ERR_TEXT);
        said = text;
    }
    if (pe >= 0) {
        hl_shmem_die(func, "PE %d: %s", pe, said);
    }
    hl_shmem_die(func, "%s", said);
}

/* ---- start ---- */

/* MPI's number of each thread level of OpenSHMEM. */
static const int levels[] = {[SHMEM_THREAD_SINGLE] = MPI_THREAD_SINGLE,
                             [SHMEM_THREAD_FUNNELED] = MPI_THREAD_FUNNELED,
                             [SHMEM_THREAD_SERIALIZED] = MPI_THREAD_SERIALIZED,
                             [SHMEM_THREAD_MULTIPLE] = MPI_THREAD_MULTIPLE};

static int level_now(void)
{
    int level = SHMEM_THREAD_MULTIPLE;
    while (level > SHMEM_THREAD_SINGLE && levels[level] != hl_life_level()) {
        level--;
    }
    return level;
}

static void forget_job(void)
{
    hl_team_close();
    hl_ctx_close();
    hl_shmem_xfer_close();
    hl_statics_close();
    hl_heap_close();
    hl_sym = (struct hl_sym){.n_pes = 0};
}

/* Opens what OpenSHMEM needs after the library's own start. Collective; an error is the same on all PEs. */
static int open_pe(void)
{
    /* The communicator is made from the group, since the program may be creating some from MPI_COMM_WORLD
     * meanwhile. */
    int rc = hl_coll_comm_from_group(hl_comm_world_object.group, 0, "hotlane shmem_init", &hl_shmem_comm);
    if (rc != 0) {
        return rc;
    }
    (void)hl_comm_set_name(hl_shmem_comm, "SHMEM_TEAM_WORLD"); /* for the watchdog's words only */
    hl_sym.my_pe = hl_job.rank;
    hl_sym.n_pes = hl_job.size;
    hl_shmem_show();
    rc = hl_heap_open(); /* an error: the PE with the cause ends the job before the others return */
    rc = rc != 0 ? rc : hl_statics_open();
    rc = rc != 0 ? rc : hl_parts_agree(hl_shmem_xfer_open());
    hl_ctx_open();
    return rc != 0 ? rc : hl_team_open();
}

static void finalize_shmem(const char *func)
{
    hl_shmem_must(hl_life_may_close(HL_LIFE_SHMEM), func, -1);
    hl_ctx_end_team(NULL, func); /* contexts that the program has left */
    hl_shmem_last_barrier(func);
    hl_shmem_must(hl_life_may_close(HL_LIFE_SHMEM), func, -1); /* again: the barrier took time */
    hl_quiets_close();
    forget_job();
    hl_comm_free(hl_shmem_comm);
    hl_shmem_comm = NULL;
    hl_shmem_must(hl_life_close(HL_LIFE_SHMEM), func, -1);
}

/* A program that leaves main ends SHMEM (OpenSHMEM 1.5, section 4) if its status is 0: a PE that leaves with
 * an error must not wait for the others. */
static void end_shmem_at_exit(int status, void *unused)
{
    if (status == 0 && hl_sym.n_pes != 0 && !hl_life_is_forked()) {
        finalize_shmem("exit");
        ended_by_exit = true;
    }
}

/* Starts less ends so far: a library within the program may start and end SHMEM for itself (1.6). The
 * standard has only one thread at a time call them. */
static int starts;

static int start_shmem(const char *func, int requested, int *provided)
{
    int level;
    if (requested < SHMEM_THREAD_SINGLE || requested > SHMEM_THREAD_MULTIPLE) {
        hl_shmem_die(func,
                     "requested is %d: it must be SHMEM_THREAD_SINGLE, _FUNNELED, _SERIALIZED or _MULTIPLE",
                     requested);
    }
    if (hl_sym.n_pes == 0) {
        hl_shmem_must(hl_life_open(HL_LIFE_SHMEM, levels[requested], &level), func, -1);
        hl_shmem_must(open_pe(), func, -1);
        on_exit(end_shmem_at_exit, NULL); /* runs before that of lib/life, registered earlier */
    }
    starts++;
    *provided = level_now();
    return 0;
}

HL_SHMEM_API(shmem_init);
void pshmem_init(void)
{
    int provided;
    start_shmem("shmem_init", SHMEM_THREAD_SINGLE, &provided);
}

HL_SHMEM_API(shmem_init_thread);
int pshmem_init_thread(int requested, int *provided)
{
    int level;
    return start_shmem("shmem_init_thread", requested, provided != NULL ? provided : &level);
}

HL_SHMEM_OLD_API(start_pes, pshmem_start_pes);
void pshmem_start_pes(int npes)
{
    int provided;
    if (hl_sym.n_pes == 0) { /* further calls have no effect */
        start_shmem("start_pes", SHMEM_THREAD_SINGLE, &provided);
    }
}

/* ---- forked children ---- */

/* From here on all calls in the child end it with the reason. (Tables that the child inherited stay.) */
static void close_in_child(void)
{
    hl_sym = (struct hl_sym){.n_pes = 0};
}

/* ---- deaths ---- */

/* A death ends the job: calls cannot return an error, and a wait for a word that the dead PE was to write
 * would never end. */
static void pe_died(int pe)
{
    if (hl_life_opened(HL_LIFE_SHMEM) && !hl_life_closed(HL_LIFE_SHMEM)) {
        hl_log(HL_LOG_ERROR, "PE %d has died, and OpenSHMEM cannot go on without it; the job ends", pe);
        hl_job_abort(1);
    }
}

static void watch_deaths_early(enum hl_life_who unused)
{
    (void)unused;
    (void)hl_rx_on_death(pe_died); /* cannot fail: there is room for all modules */
}

__attribute__((constructor)) static void enrol_shmem(void)
{
    static struct hl_life_row row = {.early = watch_deaths_early, .child = close_in_child};
    hl_life_enrol(&row);
}

/* ---- end ---- */

HL_SHMEM_API(shmem_finalize);
void pshmem_finalize(void)
{
    if (HL_UNLIKELY(ended_by_exit)) {
        return; /* a handler or destructor from before shmem_init, which runs after end_shmem_at_exit */
    }
    hl_shmem_need_open("shmem_finalize");
    starts--;
    if (starts > 0) {
        hl_shmem_barrier("shmem_finalize");
        return;
    }
    finalize_shmem("shmem_finalize");
}

HL_SHMEM_API(shmem_global_exit);
_Noreturn void pshmem_global_exit(int status)
{
    if (hl_life_is_forked()) {
        hl_log(HL_LOG_ERROR, "shmem_global_exit was called with code %d; %s", status, hl_job_end_words());
    }
    hl_job_exit(status);
}

/* ---- questions ---- */

HL_INLINE int my_pe(const char *func)
{
    hl_shmem_need_open(func);
    return hl_sym.my_pe;
}

HL_INLINE int n_pes(const char *func)
{
    hl_shmem_need_open(func);
    return hl_sym.n_pes;
}

HL_SHMEM_CALL(shmem_my_pe, int, (void), return my_pe("shmem_my_pe"))
HL_SHMEM_CALL(shmem_n_pes, int, (void), return n_pes("shmem_n_pes"))
HL_SHMEM_OLD_CALL(_my_pe, int, (void), return my_pe("_my_pe"))
HL_SHMEM_OLD_CALL(_num_pes, int, (void), return n_pes("_num_pes"))

HL_SHMEM_API(shmem_query_thread);
void pshmem_query_thread(int *provided)
{
    hl_shmem_need_open("shmem_query_thread");
    hl_shmem_need(provided, "shmem_query_thread", "provided");
    *provided = level_now();
}

HL_SHMEM_API(shmem_query_initialized);
void pshmem_query_initialized(int *initialized)
{
    hl_shmem_need(initialized, "shmem_query_initialized", "initialized");
    *initialized = hl_sym.n_pes != 0;
}

HL_SHMEM_API(shmem_info_get_version);
void pshmem_info_get_version(int *major, int *minor)
{
    hl_shmem_need(major, "shmem_info_get_version", "major");
    hl_shmem_need(minor, "shmem_info_get_version", "minor");
    *major = SHMEM_MAJOR_VERSION;
    *minor = SHMEM_MINOR_VERSION;
}

HL_SHMEM_API(shmem_info_get_name);
void pshmem_info_get_name(char *name)
{
    hl_shmem_need(name, "shmem_info_get_name", "name");
    snprintf(name, SHMEM_MAX_NAME_LEN, "%s", SHMEM_VENDOR_STRING);
}

/* Does nothing: profilers that come before the library define their own. */
HL_SHMEM_API(shmem_pcontrol);
void pshmem_pcontrol(int level, ...)
{
}
