/* Arrays whose length is not among the arguments, and arrays that outlive the call. */
#include "arrays.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

/* ---- Lengths ---- */

int hl_fort_peers(MPI_Comm comm)
{
    int inter = 0, size = 0;

    if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS) {
        return 0;
    }
    if (inter) {
        PMPI_Comm_remote_size(comm, &size);
    } else {
        PMPI_Comm_size(comm, &size);
    }
    return size;
}

int hl_fort_ndims(MPI_Comm comm)
{
    int kind = MPI_UNDEFINED, ndims = 0;

    if (PMPI_Topo_test(comm, &kind) == MPI_SUCCESS && kind == MPI_CART) {
        PMPI_Cartdim_get(comm, &ndims);
    }
    return ndims;
}

/* Both degrees; those of grids and of graphs of MPI-1 are equal. */
static void get_degrees(MPI_Comm comm, int *in, int *out)
{
    int kind = MPI_UNDEFINED, rank = 0, weighted = 0;

    *in = *out = 0;
    if (PMPI_Topo_test(comm, &kind) != MPI_SUCCESS) {
        return;
    }
    if (kind == MPI_CART) {
        *in = *out = 2 * hl_fort_ndims(comm);
    } else if (kind == MPI_GRAPH && PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS) {
        PMPI_Graph_neighbors_count(comm, rank, in);
        *out = *in;
    } else if (kind == MPI_DIST_GRAPH) {
        PMPI_Dist_graph_neighbors_count(comm, in, out, &weighted);
    }
}

int hl_fort_indegree(MPI_Comm comm)
{
    int in, out;

    get_degrees(comm, &in, &out);
    return in;
}

int hl_fort_outdegree(MPI_Comm comm)
{
    int in, out;

    get_degrees(comm, &in, &out);
    return out;
}

/* ---- Lists that stay ---- */

struct type_list {
    struct type_list *next; /* of the same hash */
    int n;
    MPI_Datatype types[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Guarded by lock: a table of 1 << bits chains, doubled when there are as many lists. */
static struct type_list **chains;
static size_t lists;
static unsigned bits;

static size_t hash_list(const MPI_Datatype *types, int n)
{
    uint64_t hash = (uint64_t)n;

    for (int i = 0; i < n; i++) {
        hash = (hash ^ (uintptr_t)types[i]) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return (size_t)hash;
}

/* The caller holds the lock. */
static int grow_chains(void)
{
    unsigned more = bits == 0 ? 4 : bits + 1;
    struct type_list **table = calloc((size_t)1 << more, sizeof(struct type_list *));

    if (table == NULL) {
        return 0;
    }
    for (size_t i = 0; chains != NULL && i < (size_t)1 << bits; i++) {
        for (struct type_list *list = chains[i], *next; list != NULL; list = next) {
            struct type_list **chain = &table[hash_list(list->types, list->n) & (((size_t)1 << more) - 1)];

            next = list->next;
            list->next = *chain;
            *chain = list;
        }
    }
    free(chains);
    chains = table;
    bits = more;
    return 1;
}

/* The kept list that equals `made`, which becomes it or is freed. NULL: there is no memory. The caller holds
 * the lock. */
static struct type_list *keep_list(struct type_list *made)
{
    struct type_list **chain, *list;
    size_t size = (size_t)made->n * sizeof *made->types;

    if ((chains == NULL || lists >= (size_t)1 << bits) && !grow_chains()) {
        free(made);
        return NULL;
    }
    chain = &chains[hash_list(made->types, made->n) & (((size_t)1 << bits) - 1)];
    for (list = *chain; list != NULL; list = list->next) {
        if (list->n == made->n && memcmp(list->types, made->types, size) == 0) {
            free(made);
            return list;
        }
    }
    made->next = *chain;
    *chain = made;
    lists++;
    return made;
}

const MPI_Datatype *hl_fort_datatypes_kept(const int *handles, int n)
{
    struct type_list *list = malloc(sizeof *list + (size_t)(n > 0 ? n : 0) * sizeof *list->types);

    if (list == NULL) {
        return NULL;
    }
    list->n = n > 0 ? n : 0;
    for (int i = 0; i < n; i++) {
        list->types[i] = hl_fort_datatype_in(handles[i]);
    }
    pthread_mutex_lock(&lock);
    list = keep_list(list);
    pthread_mutex_unlock(&lock);
    return list != NULL ? list->types : NULL;
}
