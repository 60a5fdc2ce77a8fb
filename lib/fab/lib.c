/* libfabric, loaded by dlopen: seven symbols. */
#include "fab_lib.h"

#include "err.h"
#include "hl_build.h"
#include "util.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct hl_fab_lib hl_fab_lib;

/* A hint at what to do, from the loader's words: it tells the reason in no other form. */
static const char *what_to_do(const char *said)
{
    if (strstr(said, strerror(ENOENT)) != NULL) {
        return ". On Debian: apt-get install libfabric1";
    }
    if (strstr(said, "failed to map") != NULL || strstr(said, "cannot allocate") != NULL ||
        strstr(said, "cannot create") != NULL) {
        return hl_err_hint(ENOMEM);
    }
    return strstr(said, strerror(EMFILE)) != NULL ? hl_err_hint(EMFILE) : "";
}

/* A distribution's libfabric needs libpsm_infinipath and libpsm2. Both measure the clock's rate in a
 * constructor, whether or not their adapter is there: that takes 0.3 s and 15 ms of core 0 for each
 * rank. Where the adapter's device is missing, a library of ours with that SONAME is loaded first and
 * takes its place (no_psm.c). */
static const struct {
    const char *device, *file;
} stand_in[] = {{"/dev/ipath", "libno_psm.so"}, {"/dev/hfi1_0", "libno_psm2.so"}};

#define INSTALLED HL_PREFIX "/" HL_LIBDIR

static void *load_from(const char *folder, size_t bytes, const char *file)
{
    char *path;
    if (asprintf(&path, "%.*s/hotlane/%s", (int)bytes, folder, file) < 0) {
        return NULL;
    }
    void *so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    free(path);
    return so;
}

/* Loads a stand-in from the folder "hotlane" beside this library, or from where the library was installed.
 * NULL: the adapter is there, or the stand-in was not found, which only costs time. */
static void *load_stand_in(size_t i)
{
    Dl_info ours;
    void *so = NULL;
    if (access(stand_in[i].device, F_OK) == 0) {
        return NULL;
    }
    if (dladdr(&hl_fab_lib, &ours) != 0 && strchr(ours.dli_fname, '/') != NULL) {
        so = load_from(ours.dli_fname, (size_t)(strrchr(ours.dli_fname, '/') - ours.dli_fname),
                       stand_in[i].file);
    }
    return so != NULL ? so : load_from(INSTALLED, sizeof INSTALLED - 1, stand_in[i].file);
}

static void *load_fabric(void)
{
    void *ours[HL_COUNT_OF(stand_in)];
    for (size_t i = 0; i < HL_COUNT_OF(stand_in); i++) {
        ours[i] = load_stand_in(i);
    }
    void *so = dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL);
    if (so != NULL) {
        return so;
    }
    for (size_t i = 0; i < HL_COUNT_OF(stand_in); i++) {
        if (ours[i] != NULL) {
            dlclose(ours[i]);
        }
    }
    return dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL);
}

int hl_fab_lib_load(void)
{
    if (hl_fab_lib.getinfo != NULL) {
        return 0;
    }
    void *so = load_fabric();
    if (so == NULL) {
        const char *said = dlerror();
        return hl_err_say(HL_ERR_OTHER, "the network is needed, but libfabric cannot be loaded: %s%s", said,
                          what_to_do(said));
    }
    static const char *const names[] = {"fi_getinfo",  "fi_freeinfo", "fi_dupinfo", "fi_fabric",
                                        "fi_strerror", "fi_tostr",    "fi_version"};
    struct hl_fab_lib found = {.row = NULL};
    void **const at[] = {(void **)&found.getinfo, (void **)&found.freeinfo, (void **)&found.dupinfo,
                         (void **)&found.fabric,  (void **)&found.strerror, (void **)&found.tostr,
                         (void **)&found.version};
    for (size_t i = 0; i < HL_COUNT_OF(names); i++) {
        *at[i] = dlsym(so, names[i]);
        if (*at[i] == NULL) {
            return hl_err_say(HL_ERR_OTHER, "libfabric.so.1 has no %s: libfabric 1.17 or newer is needed",
                              names[i]);
        }
    }
    hl_fab_lib = found;
    return 0;
}
