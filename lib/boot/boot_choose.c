/* How this process was started: the environment says so. It never runs alone when it is one of several. */
#include "boot_method.h"
#include "err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

enum { MARK = 160 }; /* bytes for the mark with its name */

/* In the order of preference; self is the last. */
static const struct hl_boot_method *const methods[] = {
    &hl_boot_pmi1,
#if HL_PMIX
    &hl_boot_pmix,
#endif
    &hl_boot_self,
};
enum { METHODS = sizeof methods / sizeof *methods };

#define NO_PMIX_FIX "or start it with Hotlane's mpiexec, MPICH's mpiexec, or `srun --mpi=pmi2`"
#if HL_PMIX
#define OUR_METHODS "pmi1, pmix and self"
#define PMIX_FIX "pass its PMIX_ variables on to the program"
#define NO_PMIX "its PMIx server cannot be used"
#else
#define OUR_METHODS "pmi1 and self: configure it with libpmix-dev installed to get pmix"
#define PMIX_FIX "configure Hotlane with libpmix-dev installed"
#define NO_PMIX "this build speaks PMI-1 only: configure Hotlane with libpmix-dev installed"
#endif

static const char one_program[] = "a rank may run one MPI program at a time, and under Hydra and `srun "
                                  "--mpi=pmi2` one in all: start the next one by a command of its own";

/* Variables that say "one of many". SLURM_NTASKS is not among them: every batch script has it. */
static const struct sign {
    const char *name;
    bool count; /* true: means "many" if its number is above 1; false: if it is set */
    const char *fix;
} signs[] = {
    {"SLURM_STEP_NUM_TASKS", true,
     "start it with `srun --mpi=pmi2` or `srun --mpi=pmix`, or with Hotlane's mpiexec on one node"},
    {"OMPI_COMM_WORLD_SIZE", true,
     "that is Open MPI's launcher, which speaks PMIx: " PMIX_FIX
     ", or start it with Hotlane's mpiexec, MPICH's mpiexec, or `srun --mpi=pmi2`"},
    {"PMI_SIZE", true,
     "the launcher's socket PMI_FD is missing or does not answer: if a wrapper closed it or emptied the "
     "environment, "
     "let it pass both on; else start it with Hotlane's mpiexec"},
    {"PMI_PORT", false,
     "that is PMI by TCP port: start Hydra's mpiexec without -pmi-port, or use Hotlane's mpiexec"},
    {"PALS_RANKID", false,
     "PALS serves no PMI-1 here: start it with srun, or with Hotlane's mpiexec on one node"},
};

static bool does_say_many(const struct sign *s, const char *value)
{
    return value && *value && (!s->count || strtol(value, NULL, 10) > 1);
}

/* Refuses to run alone when the environment says that there are others. `tried`: why other methods failed;
 * `taken`: that of struct hl_boot_job. */
static int refuse_if_many(hl_boot_env_fn *env, const char *tried, bool taken)
{
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        const char *v = env(signs[i].name);
        if (does_say_many(&signs[i], v)) {
            return hl_err_say(
                HL_ERR_OTHER,
                "%s=%s says this is one of several processes, but nobody serves the start-up%s%s; %s",
                signs[i].name, v, *tried ? ": " : "", tried, taken ? one_program : signs[i].fix);
        }
    }
    const char *size = env("OMPI_COMM_WORLD_SIZE");
    if (env("PMIX_NAMESPACE") && env("PMIX_RANK") && !(size && strtol(size, NULL, 10) == 1)) {
        return hl_err_say(HL_ERR_OTHER, "PMIX_RANK=%s: started by a PMIx launcher, but " NO_PMIX "%s%s; %s",
                          env("PMIX_RANK"), *tried ? ": " : "", tried, taken ? one_program : NO_PMIX_FIX);
    }
    return 0;
}

/* Writes the mark, which says under which launcher this rank runs. A launcher that the rank itself
 * starts changes some of these variables, even one that serves no start-up, and then the mark does not
 * count any more. */
static const char *launcher_mark(hl_boot_env_fn *env, char *out, size_t cap)
{
    static const char *const names[] = {"SLURM_STEP_NUM_TASKS", "SLURM_STEP_ID",        "SLURM_PROCID",
                                        "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "PALS_RANKID"};
    size_t at = (size_t)snprintf(out, cap, HL_BOOT_MARK "=");
    for (size_t i = 0; i < sizeof names / sizeof *names && at < cap; i++) {
        const char *value = env(names[i]);
        at += (size_t)snprintf(out + at, cap - at, ":%.20s", value ? value : "");
    }
    return out;
}

/* True when this process was started by a rank, and not by a launcher that the rank has started. (The PMI
 * variables of the rank's own launcher were removed.) */
static bool is_inside(hl_boot_env_fn *env)
{
    char mark[MARK];
    const char *given = env(HL_BOOT_MARK);
    return given && !strcmp(given, launcher_mark(env, mark, sizeof mark) + sizeof HL_BOOT_MARK) &&
           !env("PMI_SIZE") && !env("PMI_PORT") && !env("PMIX_RANK");
}

static int choose_forced(const char *forced, hl_boot_env_fn *env, const struct hl_boot_method **chosen,
                         struct hl_boot_job *job)
{
    for (int i = 0; i < METHODS; i++) {
        if (strcmp(methods[i]->name, forced) != 0) {
            continue;
        }
        if (!methods[i]->offered(env)) {
            return hl_err_say(HL_ERR_OTHER,
                              "HOTLANE_BOOT=%s, but the environment names no such launcher; unset it, or "
                              "start the program with Hotlane's mpiexec",
                              forced);
        }
        int rc = methods[i]->init(env, job);
        if (rc) {
            return rc;
        }
        *chosen = methods[i];
        snprintf(job->why, sizeof job->why, "HOTLANE_BOOT=%s", forced);
        return 0;
    }
    return hl_err_say(HL_ERR_OTHER, "HOTLANE_BOOT=%s: this build has only " OUR_METHODS, forced);
}

int hl_boot_choose(const char *forced, hl_boot_env_fn *env, const struct hl_boot_method **chosen,
                   struct hl_boot_job *job)
{
    char tried[HL_ERR_TEXT] = "";
    *job = (struct hl_boot_job){.size = 1};
    if (strcmp(forced, "auto") != 0) {
        return choose_forced(forced, env, chosen, job);
    }
    for (int i = 0; i < METHODS; i++) {
        if (!methods[i]->offered(env)) {
            continue;
        }
        if (methods[i] == &hl_boot_self) {
            bool inside = is_inside(env);
            int rc = inside ? 0 : refuse_if_many(env, tried, job->taken);
            if (rc) {
                return rc;
            }
            snprintf(job->why, sizeof job->why,
                     inside ? "started by a rank, not by a launcher" : "no launcher in the environment");
        }
        int rc = methods[i]->init(env, job);
        if (!rc) {
            *chosen = methods[i];
            return 0;
        }
        snprintf(tried, sizeof tried, "%s", hl_err_text(rc));
    }
    return hl_err_say(HL_ERR_OTHER, "%s", tried);
}

static bool is_launchers(const char *pair)
{
    return !strncmp(pair, "PMI_", 4) || !strncmp(pair, "PMIX_", 5);
}

/* The mark takes the place of a removed variable: adding one would move the array while other threads
 * may read it. */
void hl_boot_hide_launcher(hl_boot_env_fn *env)
{
    static char mark[MARK];
    char name[128];
    launcher_mark(env, mark, sizeof mark);
    bool marked = false;
    for (char **e = environ; e && *e;) {
        size_t n = strcspn(*e, "=");
        if (is_launchers(*e) && !marked) {
            *e = mark;
            marked = true;
        } else if (is_launchers(*e) && n < sizeof name) {
            memcpy(name, *e, n);
            name[n] = 0;
            unsetenv(name); /* moves the later variables down, so this place is looked at again */
        } else {
            e++;
        }
    }
    if (!marked) {
        setenv(HL_BOOT_MARK, mark + sizeof HL_BOOT_MARK, 1);
    }
}
