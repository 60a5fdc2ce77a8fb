/* mpiexec: finds the folder of the libraries that were installed, or built, with this launcher. Ranks get it
 * at the end of their LD_LIBRARY_PATH, behind the user's folders: without it a program that was linked
 * without a run path would not start. */
#include "hl_build.h"
#include "mx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char name[] = "LD_LIBRARY_PATH=";

/* Folder `at`, relative to the launcher's own, if the library lies there, else NULL. From hl_mx_alloc. */
static char *find_library(const char *exe, size_t dir_len, const char *at)
{
    size_t cap = dir_len + strlen(at) + 40;
    char *path = hl_mx_alloc(cap);
    snprintf(path, cap, "%.*s/%s/libmpi_abi.so.1", (int)dir_len, exe, at);
    bool here = !access(path, R_OK);
    snprintf(path, cap, "%.*s/%s", (int)dir_len, exe, at);
    char *folder = here ? realpath(path, NULL) : NULL;
    free(path);
    return folder;
}

/* Does the loader search the folder anyway? It does where the C library lies, but only after the run paths of
 * programs: this folder in front of those would hide their own libraries. */
static bool is_searched(const char *folder)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/libc.so.6", folder);
    return !access(path, F_OK);
}

const char *hl_mx_library_folder(void)
{
    static const char *const places[] = {HL_LIBDIR_FROM_BIN, "../lib"}; /* installed; in the build folder */
    static char *folder;
    char exe[4096];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (folder || n <= 0) {
        return folder;
    }
    exe[n] = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places && !folder; i++) {
        folder = find_library(exe, (size_t)(strrchr(exe, '/') - exe), places[i]);
    }
    return folder;
}

/* Is `folder` in `list`, between colons? */
static bool is_listed(const char *list, const char *folder)
{
    size_t len = strlen(folder);
    for (const char *at = list; *at; at += strcspn(at, ":"), at += *at == ':') {
        if (!strncmp(at, folder, len) && (at[len] == ':' || !at[len])) {
            return true;
        }
    }
    return false;
}

char *hl_mx_library_pair(char *const *env, int n)
{
    const char *folder = hl_mx_library_folder(), *had = "";
    if (!folder || is_searched(folder)) {
        return NULL;
    }
    for (int i = 0; i < n; i++) {
        if (!strncmp(env[i], name, sizeof name - 1)) {
            had = env[i] + sizeof name - 1;
        }
    }
    if (is_listed(had, folder)) {
        return NULL;
    }
    size_t cap = sizeof name + strlen(had) + strlen(folder) + 1;
    char *pair = hl_mx_alloc(cap);
    snprintf(pair, cap, "%s%s%s%s", name, had, *had ? ":" : "", folder);
    return pair;
}
