/* Runs inside a guest: asks for memory through MPI and prints what the kernel says was given.
 *
 * usage: placement [fatal] ASK...      ASK = CALL,BYTES[,cpu=N][,bind=N][,keep][,KEY=VALUE...]
 *
 * CALL is alloc, win or shared; BYTES takes K, M or G; cpu=N moves the rank to that CPU first, one CPU or
 * one for each rank joined by +; bind=N is what numactl --membind=N does, for this request; keep leaves the
 * memory taken until the end; other KEY=VALUE are info. fatal: errors end the job, as MPI's default is. Each
 * rank prints a line for each ask:
 *
 *   ask I rank R align A page P file F pmd B given N:BYTES,... touched N:BYTES,... puts OK [key=value...]
 *   ask I rank R refused CLASS TEXT
 *
 * page, pmd (bytes mapped by transparent huge pages) are from smaps, file (its page size) from statfs, nodes
 * from move_pages: as given, and after every page was written. */
#include <errno.h>
#include <mpi.h>
#include <numaif.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>

#define NODES 64

static int me, ranks;

struct ask {
    char call[16];
    size_t bytes;
    int keep;
    MPI_Info info;
};

struct memory {
    char *at;
    size_t bytes;
    MPI_Win win;
};

struct facts {
    size_t page, pmd, file;
};

static size_t size_of(const char *text)
{
    char *end;
    size_t n = strtoull(text, &end, 10);
    return n << (*end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0);
}

static void go_to(const char *cpus)
{
    char *end;
    long cpu = strtol(cpus, &end, 10);
    for (int i = 0; i < me && *end == '+'; i++) {
        cpu = strtol(end + 1, &end, 10);
    }
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) {
        printf("cpu %ld: %s\n", cpu, strerror(errno));
    }
}

static void parse(const char *text, struct ask *a)
{
    char copy[512], *rest = copy, *word;
    snprintf(copy, sizeof copy, "%s", text);
    a->keep = 0;
    MPI_Info_create(&a->info);
    snprintf(a->call, sizeof a->call, "%s", strsep(&rest, ","));
    a->bytes = size_of(strsep(&rest, ","));
    while ((word = strsep(&rest, ",")) != NULL) {
        char *value = strchr(word, '=');
        if (value == NULL) {
            a->keep |= strcmp(word, "keep") == 0;
        } else if (strncmp(word, "cpu=", 4) == 0) {
            go_to(value + 1);
        } else if (strncmp(word, "bind=", 5) == 0) {
            unsigned long node = 1ul << atoi(value + 1);
            set_mempolicy(MPOL_BIND, &node, NODES + 1);
        } else {
            *value = '\0';
            MPI_Info_set(a->info, word, value + 1);
        }
    }
}

/* Bytes of a block of the file mapped at [first, end): the page size of its file system. */
static size_t block_of(unsigned long first, unsigned long end)
{
    char path[64];
    struct statfs fs = {.f_bsize = 0};
    snprintf(path, sizeof path, "/proc/self/map_files/%lx-%lx", first, end);
    return statfs(path, &fs) == 0 ? (size_t)fs.f_bsize : 0;
}

/* What smaps says of the mapping of `at`: its page size, and how much of it is mapped by the page above. */
static struct facts smaps(const char *at)
{
    struct facts f = {0, 0, 0};
    char line[512];
    int here = 0;
    FILE *file = fopen("/proc/self/smaps", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        unsigned long first, end, kb;
        if (sscanf(line, "%lx-%lx ", &first, &end) == 2) {
            here = (uintptr_t)at >= first && (uintptr_t)at < end;
            f.file = here ? block_of(first, end) : f.file;
        } else if (here && sscanf(line, "KernelPageSize: %lu kB", &kb) == 1) {
            f.page = kb << 10;
        } else if (here && (sscanf(line, "ShmemPmdMapped: %lu kB", &kb) == 1 ||
                            sscanf(line, "AnonHugePages: %lu kB", &kb) == 1)) {
            f.pmd += kb << 10;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return f;
}

/* "1:48M,3:16M" of the pages of [at, at + bytes); "-": no page is there. */
static void nodes_text(const char *at, size_t bytes, size_t page, char *out, size_t room)
{
    size_t sum[NODES] = {0}, used = 0;
    char *end = (char *)at + bytes;
    for (char *p = (char *)((uintptr_t)at & ~(page - 1)); p < end; p += page) {
        void *one = p;
        int node = -1;
        if (move_pages(0, 1, &one, NULL, &node, 0) == 0 && node >= 0 && node < NODES) {
            sum[node] += page;
        }
    }
    snprintf(out, room, "-");
    for (int i = 0; i < NODES; i++) {
        if (sum[i] != 0) {
            used += (size_t)snprintf(out + used, room - used, "%s%d:%zu", used ? "," : "", i, sum[i]);
        }
    }
}

/* Each rank fills every other's window, and finds what the one below it wrote. */
static int puts_arrive(const struct memory *m)
{
    size_t count = m->bytes / ranks / sizeof(uint64_t);
    uint64_t *mine = malloc(count * sizeof *mine);
    int good = 1;
    for (size_t i = 0; i < count; i++) {
        mine[i] = (uint64_t)me << 32 | i;
    }
    MPI_Barrier(MPI_COMM_WORLD); /* everybody has written its own pages */
    MPI_Win_lock_all(0, m->win);
    for (int r = 0; r < ranks; r++) {
        MPI_Put(mine, (int)count, MPI_UINT64_T, r, (MPI_Aint)(me * count * 8), (int)count, MPI_UINT64_T,
                m->win);
    }
    MPI_Win_flush_all(m->win);
    MPI_Win_sync(m->win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(m->win);
    for (size_t i = 0; i < count * ranks; i++) {
        good &= ((uint64_t *)m->at)[i] == ((uint64_t)(i / count) << 32 | i % count);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(m->win);
    free(mine);
    return good;
}

static int take(struct ask *a, struct memory *m)
{
    m->bytes = a->bytes;
    m->win = MPI_WIN_NULL;
    if (strcmp(a->call, "alloc") == 0) {
        return MPI_Alloc_mem((MPI_Aint)a->bytes, a->info, &m->at);
    }
    return strcmp(a->call, "win") == 0
               ? MPI_Win_allocate((MPI_Aint)a->bytes, 1, a->info, MPI_COMM_WORLD, &m->at, &m->win)
               : MPI_Win_allocate_shared((MPI_Aint)a->bytes, 1, a->info, MPI_COMM_WORLD, &m->at, &m->win);
}

/* The info that the window answers with, as " key=value..." for keys of memory. */
static void answers(MPI_Win win, char *out, size_t room)
{
    MPI_Info info;
    int keys, there;
    size_t used = 0;
    *out = '\0';
    if (win == MPI_WIN_NULL || MPI_Win_get_info(win, &info) != MPI_SUCCESS) {
        return;
    }
    MPI_Info_get_nkeys(info, &keys);
    for (int i = 0; i < keys; i++) {
        char key[MPI_MAX_INFO_KEY + 1], value[256];
        int room_of = sizeof value;
        MPI_Info_get_nthkey(info, i, key);
        MPI_Info_get_string(info, key, &room_of, value, &there);
        if (there && (strncmp(key, "hotlane_", 8) == 0 || strncmp(key, "mpi_minimum", 11) == 0)) {
            used += (size_t)snprintf(out + used, room - used, " %s=%s", key, value);
        }
    }
    MPI_Info_free(&info);
}

static void tell(int number, const struct memory *m)
{
    char given[512], touched[512], more[1024];
    struct facts f = smaps(m->at);
    size_t page = f.page != 0 ? f.page : 4096;
    nodes_text(m->at, m->bytes, page, given, sizeof given);
    for (size_t i = 0; i < m->bytes; i += 4096) {
        m->at[i] = 1;
    }
    nodes_text(m->at, m->bytes, page, touched, sizeof touched);
    f = smaps(m->at);
    int arrived = m->win == MPI_WIN_NULL || puts_arrive(m);
    answers(m->win, more, sizeof more);
    printf("ask %d rank %d align %zu page %zu file %zu pmd %zu given %s touched %s puts %s%s\n", number, me,
           (size_t)((uintptr_t)m->at & -(uintptr_t)m->at), f.page, f.file, f.pmd, given, touched,
           arrived ? "ok" : "WRONG", more);
}

static void refused(int number, int code)
{
    char text[MPI_MAX_ERROR_STRING + 1];
    int length, class;
    MPI_Error_class(code, &class);
    MPI_Error_string(code, text, &length);
    printf("ask %d rank %d refused %s %s\n", number, me, class == MPI_ERR_NO_MEM ? "NO_MEM" : "OTHER", text);
}

static void give_back(struct memory *m)
{
    if (m->win != MPI_WIN_NULL) {
        MPI_Win_free(&m->win);
    } else if (m->at != NULL) {
        MPI_Free_mem(m->at);
    }
}

int main(int argc, char **argv)
{
    int level;
    struct memory kept[16];
    int keeps = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int first = argc > 1 && strcmp(argv[1], "fatal") == 0 ? 2 : 1;
    if (first == 1) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    }
    for (int i = first; i < argc; i++) {
        struct ask a;
        struct memory m = {NULL, 0, MPI_WIN_NULL};
        parse(argv[i], &a);
        int code = take(&a, &m);
        MPI_Info_free(&a.info);
        if (code != MPI_SUCCESS) {
            refused(i - first, code);
        } else {
            tell(i - first, &m);
            if (a.keep && keeps < 16) {
                kept[keeps++] = m;
            } else {
                give_back(&m);
            }
        }
        set_mempolicy(MPOL_DEFAULT, NULL, 0);
        fflush(stdout);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int i = 0; i < keeps; i++) {
        give_back(&kept[i]);
    }
    MPI_Finalize();
    return 0;
}
