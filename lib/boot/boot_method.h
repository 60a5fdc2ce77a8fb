/* The ways of being started, each a table of functions; boot_choose.c holds the list. Private to boot. */
#ifndef HL_BOOT_METHOD_H
#define HL_BOOT_METHOD_H

#include "hl_build.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads a foreign environment variable, NULL if unset: hl_conf_env, or a test's own. */
typedef const char *hl_boot_env_fn(const char *name);

struct hl_boot_job {
    int rank, size;
    bool has_secret; /* the launcher gave one, in `secret` */
    uint64_t secret[2];
    bool goes_on;  /* it lets the job go on without its dead */
    bool taken;    /* the launcher is there, but serves or has served another program of this rank */
    char why[160]; /* what was found, for hl_boot.reason */
};

/* All return 0 or a recorded HL_ERR_* unless said otherwise. Calls are made by one thread at a time, but for
 * `abort`, `appnum`, `watch_fd` and `watch_take`. */
struct hl_boot_method {
    const char *name;
    size_t value_max; /* longest value of `put`, in characters */

    /* Does the environment name this method's server? */
    bool (*offered)(hl_boot_env_fn *env);
    /* Shakes hands; fills the job. On failure nothing stays open and another method may be tried. */
    int (*init)(hl_boot_env_fn *env, struct hl_boot_job *job);
    /* Values are of printable characters without blanks and '='. */
    int (*put)(const char *key, const char *value);
    /* What `rank` put. Keys are unique in the job all the same. HL_ERR_FOUND_NONE is silent. */
    int (*get)(int rank, const char *key, char *value, size_t cap);
    /* Waits for all ranks; calls serve(arg) whenever descriptor `also` (unless -1) is readable meanwhile. */
    int (*fence)(int also, void (*serve)(void *), void *arg);
    /* Tells the launcher to end the job; returns when it knows, which hl_job_exit does not wait for long. */
    void (*abort)(int code);
    /* Which of the launcher's programs this is, from 0 on; HL_ERR_FOUND_NONE is silent. NULL: never known. */
    int (*appnum)(int *out);
    int (*watch_fd)(void);
    int (*watch_take)(int *rank, int *code);
    bool (*watch_waits)(void); /* NULL: never */
    /* Leaves the job in peace; `again` takes part in it once more. */
    int (*fini)(void);
    int (*again)(void);
};

extern const struct hl_boot_method hl_boot_pmi1, hl_boot_self;
#if HL_PMIX
extern const struct hl_boot_method hl_boot_pmix;
#endif

/* Picks and initialises a method: `forced` is HOTLANE_BOOT ("auto": by what the environment offers). On
 * success *chosen and *job are set. Fatal refusals return HL_ERR_OTHER with a text that holds the fix. */
int hl_boot_choose(const char *forced, hl_boot_env_fn *env, const struct hl_boot_method **chosen,
                   struct hl_boot_job *job);

/* `launcher`: a name that no other rank has. An error, with job->taken, while another process of this rank
 * has claimed it and lives; where no claim can be made 0 with *claim -1. */
int hl_boot_claim(const char *launcher, struct hl_boot_job *job, int *claim);
void hl_boot_unclaim(int *claim);

/* Set in the environment after a handshake, to what the variables of launchers said then: what a rank starts
 * may run alone as long as they say the same. */
#define HL_BOOT_MARK "HL_INSIDE_RANK"

/* Removes PMI_* and PMIX_* from the environment and sets the mark. */
void hl_boot_hide_launcher(hl_boot_env_fn *env);

#endif
