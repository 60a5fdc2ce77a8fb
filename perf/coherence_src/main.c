/* coherence CALL THREADS PER_CORE turns|time RUNS TRANSFER_NS RMW_NS BLOCK_NS
 *
 * Runs a call RUNS times in each thread, after WARM times that are not counted, under the directory of cache
 * lines. Prints "counts OPERATIONS READS WRITES RMWS FENCES BLOCKS SLEEPS NS", and "place LINE PC READS WRITES"
 * for each line and place in the code that had it brought; addresses within the program are told from its begin,
 * with a + before them. Without arguments: the calls. */
#include "coherence.h"

#include "atomic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WARM = 4 };

extern char __executable_start[], _end[]; // NOLINT: the linker's names

static const struct coherence_call *const groups[] = {coherence_truth, coherence_near, coherence_far,
                                                      coherence_alltoall};
static const struct coherence_call *call;
static int runs;

void coherence_count(bool counts)
{
    hl_directory_count(counts);
}

static void work(void *unused, int thread)
{
    (void)unused;
    for (int i = 0; i < WARM; i++) {
        call->run(thread);
        hl_directory_step();
    }
    hl_directory_begin();
    for (int i = 0; i < runs; i++) {
        call->run(thread);
        hl_directory_step();
    }
}

static void print_address(uintptr_t at)
{
    uintptr_t begin = (uintptr_t)__executable_start;
    if (at >= begin && at < (uintptr_t)_end) {
        printf(" +%lx", (unsigned long)(at - begin));
    } else {
        printf(" %lx", (unsigned long)at);
    }
}

static void print_place(const struct hl_directory_place *p)
{
    printf("place");
    print_address(p->line);
    print_address(p->pc);
    printf(" %lu %lu\n", (unsigned long)p->reads, (unsigned long)p->writes);
}

static void print_counts(void)
{
    struct hl_directory_counts c = hl_directory_sum();
    printf("counts %.0f %lu %lu %lu %lu %lu %lu %.0f\n", (double)c.operations * call->of,
           (unsigned long)c.reads, (unsigned long)c.writes, (unsigned long)c.rmws, (unsigned long)c.fences,
           (unsigned long)c.blocks, (unsigned long)c.sleeps, c.ns);
    hl_directory_each(print_place);
}

/* Finds the call of that name; NULL: prints all. */
static void find_call(const char *name)
{
    for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++) {
        for (const struct coherence_call *c = groups[g]; c->name != NULL; c++) {
            if (name == NULL) {
                puts(c->name);
            } else if (strcmp(name, c->name) == 0) {
                call = c;
            }
        }
    }
}

int main(int argc, char **argv)
{
    find_call(argc > 1 ? argv[1] : NULL);
    if (argc != 9 || call == NULL) {
        return argc == 1 ? 0 : 2;
    }
    struct hl_directory_machine machine = {.threads = atoi(argv[2]),
                                           .per_core = atoi(argv[3]),
                                           .by_time = strcmp(argv[4], "time") == 0,
                                           .transfer_ns = atof(argv[6]),
                                           .rmw_ns = atof(argv[7]),
                                           .block_ns = atof(argv[8])};
    runs = atoi(argv[5]);
    if (call->setting != NULL) {
        putenv((char *)(uintptr_t)call->setting);
    }
    if (call->prepare != NULL) {
        call->prepare(machine.threads);
    }
    int rc = hl_directory_run(&machine, work, NULL);
    if (rc != 0) {
        fprintf(stderr, "%d threads, %d a core: %s\n", machine.threads, machine.per_core, strerror(rc));
        return 1;
    }
    print_counts();
    fflush(stdout);
    _exit(0); /* nothing is closed: lanes and windows are as the last call left them */
}
