/* mpiexec: sets of CPUs as text, the way the kernel writes them ("0-3,8"). */
#include "mx.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* Reads a number at *text and moves *text behind it; -1: there is none, or it is above `most`. */
static int take_number(const char **text, long most)
{
    char *end;
    if (**text < '0' || **text > '9') {
        return -1;
    }
    long n = strtol(*text, &end, 10);
    *text = end;
    return n > most ? -1 : n < CPU_SETSIZE ? (int)n : CPU_SETSIZE;
}

const char *hl_mx_cpus_parse(const char *text, long most, cpu_set_t *set)
{
    CPU_ZERO(set);
    for (;; text++) {
        int first = take_number(&text, most), last = first;
        if (first >= 0 && *text == '-') {
            text++;
            last = take_number(&text, most);
        }
        if (first < 0 || last < first) {
            return NULL;
        }
        for (int i = first; i <= last && i < CPU_SETSIZE; i++) {
            CPU_SET(i, set);
        }
        if (*text != ',') {
            return text;
        }
    }
}

bool hl_mx_cpus_read(const char *path, cpu_set_t *set)
{
    char text[8192] = "";
    FILE *f = fopen(path, "re");
    if (!f) {
        return false;
    }
    bool any = fgets(text, sizeof text, f) && hl_mx_cpus_parse(text, LONG_MAX, set);
    if (!any) {
        CPU_ZERO(set); /* a node without CPUs has an empty list */
    }
    fclose(f);
    return true;
}

char *hl_mx_cpus_write(const cpu_set_t *set, char *out, size_t cap)
{
    size_t at = (size_t)snprintf(out, cap, CPU_COUNT(set) == 1 ? "CPU " : "CPUs ");
    const char *comma = "";
    for (int i = 0; i < CPU_SETSIZE && at + 24 < cap; i++) {
        int last = i;
        if (!CPU_ISSET(i, set)) {
            continue;
        }
        while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, set)) {
            last++;
        }
        at += (size_t)snprintf(out + at, cap - at, last > i ? "%s%d-%d" : "%s%d", comma, i, last);
        comma = ",";
        i = last;
    }
    return out;
}
