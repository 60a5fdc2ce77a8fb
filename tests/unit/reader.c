/* A library that reads files and takes memory, as libfabric does at its start. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((visibility("default"))) bool reader_reads(const char *path);
bool reader_reads(const char *path)
{
    FILE *f = fopen(path, "r");
    if (f != NULL) {
        fclose(f);
    }
    return f != NULL;
}

__attribute__((visibility("default"))) void *reader_takes(size_t bytes);
void *reader_takes(size_t bytes)
{
    void *at = NULL;
    return posix_memalign(&at, 16, bytes) == 0 ? at : NULL;
}
