/* What the kernel counts of this process. */
#ifndef PROCESS_H
#define PROCESS_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The number behind `name` in a file of lines; 0 when it is not there. */
static inline long number_in(const char *file, const char *name)
{
    char line[256];
    long n = 0;
    FILE *f = fopen(file, "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        if (strncmp(line, name, strlen(name)) == 0) {
            n = strtol(line + strlen(name), NULL, 10);
        }
    }
    if (f != NULL) {
        fclose(f);
    }
    return n;
}

/* Descriptors, with the one that counts them. */
static inline long files_open(void)
{
    long n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (d != NULL && readdir(d) != NULL) {
        n++;
    }
    if (d != NULL) {
        closedir(d);
    }
    return n;
}

#endif
