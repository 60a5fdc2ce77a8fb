/* mpiexec: the help text, and the nearest known word for a mistyped one. */
#include "mx.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void hl_mx_help(void)
{
    const char *name = program_invocation_short_name;
    bool shmem = strncmp(name, "osh", 3) == 0;
    const char *many = shmem ? "PEs" : "ranks", *one = shmem ? "PE" : "rank";
    printf(
        "usage: %s [options] program [arguments] [: [options] program [arguments]] ...\n"
        "Starts the %s of a parallel program on this machine.\n\n"
        "for each part (between colons):\n"
        "  -n, -np N            number of %s (default 1)\n"
        "  -env NAME VALUE      set a variable\n"
        "  -x NAME[=VALUE]      the same; without a value: pass it on (all variables are)\n"
        "  -wdir DIR            working directory (also -wd, -cwd)\n"
        "for the whole job:\n"
        "  -genv NAME VALUE     set a variable for all parts\n"
        "  -l, --tag-output     put [%s] before each line of output\n"
        "  --bind-to PLACE      the CPUs of each %s: none (the default: all), core, numa, socket, or a list\n"
        "                       of sets, one for each, as in 0-3:4-7\n"
        "  --report-bindings    say which CPUs each %s got\n"
        "  --oversubscribe      more threads than CPUs are meant: no line about that, cores are shared\n"
        "  --timeout SECONDS    end the job after that time, with code 124\n"
        "  --keep-going         the death of a %s ends only that %s\n"
        "  -initial-errhandler HANDLER      of errors: mpi_errors_are_fatal (the default), mpi_errors_abort\n"
        "                       or mpi_errors_return\n"
        "  -hosts LIST, -machinefile FILE   may name this machine only\n"
        "  --help, --version\n"
        "accepted without effect: --allow-run-as-root, -ppn N, -N N, --map-by slot, --rank-by slot,\n"
        "  -genvall, -envall\n\n"
        "The exit code is the first one that is not zero; 128+n for signal n; 127 or 126 for a program\n"
        "that is not there or cannot run. See mpiexec(1).\n",
        name, many, many, one, one, one, one, one);
}

/* Edit distance of two words, at most 63 letters of each. */
static int distance(const char *a, const char *b)
{
    int row[64], la = (int)strnlen(a, 63), lb = (int)strnlen(b, 63);
    for (int j = 0; j <= lb; j++) {
        row[j] = j;
    }
    for (int i = 1; i <= la; i++) {
        int diag = row[0];
        row[0] = i;
        for (int j = 1; j <= lb; j++) {
            int best = diag + (a[i - 1] != b[j - 1]);
            if (row[j] + 1 < best) {
                best = row[j] + 1;
            }
            if (row[j - 1] + 1 < best) {
                best = row[j - 1] + 1;
            }
            diag = row[j];
            row[j] = best;
        }
    }
    return row[lb];
}

const char *hl_mx_nearest(const char *word, const char *const *names, int n)
{
    const char *best = NULL;
    int least = ((int)strlen(word) + 1) / 3 + 1; /* more than a third is no slip of the finger */
    for (int i = 0; i < n; i++) {
        int d = distance(word, names[i]);
        if (d < least) {
            least = d;
            best = names[i];
        }
    }
    return best;
}
