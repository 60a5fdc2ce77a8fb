/* Inside the module: the methods of being started, each a table of functions; boot_choose.c has their
 * list. */
#ifndef HL_BOOT_METHOD_H
#define HL_BOOT_METHOD_H

#include "hl_build.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads a variable of the environment that is not ours; NULL: unset. It is hl_conf_env, or a test's
 * function. */
typedef const char *hl_boot_env_fn(const char *name);

struct hl_boot_job {
    int rank, size;
    bool has_secret; /* the launcher is ours and gave `secret` */
    uint64_t secret[2];
    bool goes_on;  /* the launcher lets the job go on without dead ranks */
    bool taken;    /* the launcher is there, but serves or has served another program of this rank */
    char why[160]; /* what was found, for hl_boot.reason */
};

/* All functions return 0 or an HL_ERR_* with its text unless said otherwise. One thread at a time calls them,
 * but for `get`, `abort`, `appnum`, `watch_fd` and `watch_take`. */
struct hl_boot_method {
    const char *name;
    size_t value_max; /* longest value of `put`, in characters */

    /* True when the environment names this method's server. */
    bool (*offered)(hl_boot_env_fn *env);
    /* Shakes hands and fills the job. On failure nothing stays open, and another method may be tried. */
    int (*init)(hl_boot_env_fn *env, struct hl_boot_job *job);
    /* Puts a value of printable characters without blanks and '='. */
    int (*put)(const char *key, const char *value);
    /* Gets the value that `rank` has put. Keys are unique in the job. HL_ERR_FOUND_NONE has no text, and
     * neither has HL_ERR_AGAIN: another call is under way, perhaps a fence, and `waits` is false. */
    int (*get)(int rank, const char *key, char *value, size_t cap, bool waits);
    /* Waits for all ranks; calls serve(arg) whenever descriptor `also` (unless -1) is readable meanwhile. */
    int (*fence)(int also, void (*serve)(void *), void *arg);
    /* Tells the launcher to end the job; returns when it knows. hl_job_exit does not wait long for that. */
    void (*abort)(int code);
    /* Tells which of the launcher's programs this is, from 0 on, or HL_ERR_FOUND_NONE. NULL: never known. */
    int (*appnum)(int *out);
    /* These three serve the calls hl_boot_watch_... of the same names. */
    int (*watch_fd)(void);
    int (*watch_take)(int *rank, int *code);
    bool (*watch_waits)(void); /* NULL: never true */
    /* Leaves the job in an orderly way; `again` takes part in it once more. */
    int (*fini)(void);
    int (*again)(void);
};

extern const struct hl_boot_method hl_boot_pmi1, hl_boot_self;
#if HL_PMIX
extern const struct hl_boot_method hl_boot_pmix;
#endif

/* Picks a method and shakes hands by it. `forced` is the value of HOTLANE_BOOT ("auto": what the environment
 * offers). Returns 0 and sets *chosen and *job, or HL_ERR_OTHER with a text that holds the fix. */
int hl_boot_choose(const char *forced, hl_boot_env_fn *env, const struct hl_boot_method **chosen,
                   struct hl_boot_job *job);

/* Claims the launcher for this process; `launcher` is a name that no other rank has. Returns 0 and sets
 * *claim, -1 where no claim can be made; HL_ERR_OTHER with job->taken while another living process of this
 * rank has claimed it. */
int hl_boot_claim(const char *launcher, struct hl_boot_job *job, int *claim);

/* Gives a claim back; *claim becomes -1. */
void hl_boot_unclaim(int *claim);

/* This variable is set in the environment after a handshake, to what the variables of launchers said then. A
 * program that a rank starts may run alone as long as they say the same. */
#define HL_BOOT_MARK "HL_INSIDE_RANK"

/* Removes PMI_* and PMIX_* from the environment and sets the mark HL_BOOT_MARK. */
void hl_boot_hide_launcher(hl_boot_env_fn *env);

#endif
