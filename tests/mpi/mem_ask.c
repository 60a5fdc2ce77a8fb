/* Asks for memory as its arguments say and tells what it got: for tests that read the library's lines.
 *
 *   mem_ask alloc|window|shared BYTES [RANK:]KEY=VALUE...
 *
 * Prints "rank R: PAGE KIND POLICY" of a window, "rank R: done" else. Errors are fatal. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *told(MPI_Info info, const char *key, char out[64])
{
    int len = 64, there;
    MPI_Info_get_string(info, key, &len, out, &there);
    return there ? out : "-";
}

int main(int argc, char **argv)
{
    MPI_Info info;
    MPI_Win win;
    int me;
    void *base;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Info_create(&info);
    for (int i = 3; i < argc; i++) {
        char *key = argv[i], *colon = strchr(key, ':');
        if (colon != NULL && strtol(key, NULL, 10) != me) {
            continue;
        }
        key = colon != NULL ? colon + 1 : key;
        char *value = strchr(key, '=');
        *value = 0;
        MPI_Info_set(info, key, value + 1);
        *value = '=';
    }
    MPI_Aint bytes = strtoll(argv[2], NULL, 10);
    if (strcmp(argv[1], "alloc") == 0) {
        MPI_Alloc_mem(bytes, info, &base);
        memset(base, 1, (size_t)bytes);
        MPI_Free_mem(base);
        printf("rank %d: done\n", me);
    } else {
        char page[64], kind[64], policy[64];
        if (strcmp(argv[1], "shared") == 0) {
            MPI_Win_allocate_shared(bytes, 1, info, MPI_COMM_WORLD, &base, &win);
        } else {
            MPI_Win_allocate(bytes, 1, info, MPI_COMM_WORLD, &base, &win);
        }
        MPI_Info_free(&info);
        MPI_Win_get_info(win, &info);
        printf("rank %d: %s %s %s\n", me, told(info, "hotlane_page_size", page),
               told(info, "hotlane_mem_kind", kind), told(info, "hotlane_mem_policy", policy));
        MPI_Win_free(&win);
    }
    MPI_Info_free(&info);
    MPI_Finalize();
    return 0;
}
