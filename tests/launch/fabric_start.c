/* What a process pays for libfabric alone: it loads the library and asks what there is. */
#include <dlfcn.h>
#include <rdma/fabric.h>
#include <stdio.h>

int main(void)
{
    __typeof__(fi_getinfo) *getinfo;
    struct fi_info *list;
    void *so = dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL);
    *(void **)&getinfo = so != NULL ? dlsym(so, "fi_getinfo") : NULL;
    if (getinfo == NULL) {
        fprintf(stderr, "libfabric cannot be loaded: %s\n", dlerror());
        return 1;
    }
    return getinfo(FI_VERSION(1, 17), NULL, NULL, 0, NULL, &list) != 0;
}
