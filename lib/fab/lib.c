/* libfabric, loaded by dlopen: seven symbols. */
#include "fab_lib.h"

#include "err.h"
#include "util.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

struct hl_fab_lib hl_fab_lib;

/* A hint at what to do, from the loader's words: it tells the reason in no other form. */
static const char *name_remedy(const char *said)
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

int hl_fab_lib_load(void)
{
    if (hl_fab_lib.getinfo != NULL) {
        return 0;
    }
    void *so = dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL);
    if (so == NULL) {
        const char *said = dlerror();
        return hl_err_say(HL_ERR_OTHER, "the network is needed, but libfabric cannot be loaded: %s%s", said,
                          name_remedy(said));
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
