/* One collective call of coll_random: its data, what must come out, and its three forms. */
#ifndef COLL_JOB_H
#define COLL_JOB_H

#include "mpi_test.h"

static uint64_t shared, own; /* generators: the same on all ranks, mine */

static int draw(int n)
{
    return (int)(test_random(&shared) % (uint64_t)n);
}

static int draw_own(int n)
{
    return (int)(test_random(&own) % (uint64_t)n);
}

/* Datatypes of one uint32_t each. */
struct layout {
    MPI_Datatype type;
    ptrdiff_t offset, extent;
};
enum { LAYOUTS = 4 };
static struct layout layouts[LAYOUTS];

static void make_layouts(void)
{
    MPI_Datatype shifted;
    MPI_Aint four = 4;
    int one = 1;

    layouts[0] = (struct layout){MPI_UINT32_T, 0, 4};
    layouts[1] = (struct layout){MPI_DATATYPE_NULL, 0, 12};
    MPI_Type_create_resized(MPI_UINT32_T, 0, 12, &layouts[1].type);
    layouts[2] = (struct layout){MPI_DATATYPE_NULL, 4, 8};
    MPI_Type_create_hindexed(1, &one, &four, MPI_UINT32_T, &shifted);
    MPI_Type_create_resized(shifted, 0, 8, &layouts[2].type);
    MPI_Type_free(&shifted);
    layouts[3] = (struct layout){MPI_DATATYPE_NULL, 0, 4};
    MPI_Type_contiguous(1, MPI_INT, &layouts[3].type);
    for (int i = 1; i < LAYOUTS; i++) {
        MPI_Type_commit(&layouts[i].type);
    }
}

static void free_layouts(void)
{
    for (int i = 1; i < LAYOUTS; i++) {
        MPI_Type_free(&layouts[i].type);
    }
}

enum { MOST_RANKS = 32 };
enum form { ONCE, BEGUN, AGAIN };

/* Blocks of a side: n[i] elements at at[i]. */
struct blocks {
    int n[MOST_RANKS], at[MOST_RANKS], total;
};

struct job;
struct sort {
    const char *name;
    /* Draws what is particular and makes the buffers; fills them (again); calls; compares. */
    void (*make)(struct job *j), (*fill)(struct job *j), (*call)(struct job *j), (*check)(struct job *j);
};

struct job {
    const struct sort *sort;
    MPI_Comm comm; /* a duplicate that is freed right after the call where `early` */
    int me, size;  /* in comm */
    uint32_t no;   /* of the call: part of all values */
    enum form form;
    bool large, early, in_place, alone; /* alone: a type or operation of the job's own, freed early */
    int root, count, kind;
    struct layout send, recv; /* mine: other ranks have others */
    struct blocks out, in;
    void *sendbuf, *recvbuf;
    bool send_mapped, recv_mapped;
    MPI_Op op;
    MPI_Request request;
};

#define CALL_FORM(j, once, begin, init, ...)                                                                 \
    CHECK_EQ((j)->form == ONCE    ? once(__VA_ARGS__, (j)->comm)                                             \
             : (j)->form == BEGUN ? begin(__VA_ARGS__, (j)->comm, &(j)->request)                             \
                                  : init(__VA_ARGS__, (j)->comm, MPI_INFO_NULL, &(j)->request),              \
             MPI_SUCCESS)

/* One count or the other: the int form's arguments fit both where no arrays are. */
#define CALL_SMALL(j, Name, name, ...) CALL_FORM(j, MPI_##Name, MPI_I##name, MPI_##Name##_init, __VA_ARGS__)
#define CALL_LARGE(j, Name, name, ...)                                                                       \
    CALL_FORM(j, MPI_##Name##_c, MPI_I##name##_c, MPI_##Name##_init_c, __VA_ARGS__)
#define CALL(j, Name, name, ...)                                                                             \
    do {                                                                                                     \
        if ((j)->large) {                                                                                    \
            CALL_LARGE(j, Name, name, __VA_ARGS__);                                                          \
        } else {                                                                                             \
            CALL_SMALL(j, Name, name, __VA_ARGS__);                                                          \
        }                                                                                                    \
    } while (0)

/* Arrays for the large forms, gone after the call. */
struct wide {
    MPI_Count n[MOST_RANKS];
    MPI_Aint at[MOST_RANKS];
};

static struct wide wide_of(const struct blocks *b)
{
    struct wide w;

    for (int i = 0; i < MOST_RANKS; i++) {
        w.n[i] = b->n[i];
        w.at[i] = b->at[i];
    }
    return w;
}

static uint32_t *at(void *buf, const struct layout *l, int64_t i)
{
    return (uint32_t *)(void *)((char *)buf + i * l->extent + l->offset);
}

static size_t room_bytes(const struct layout *l, int64_t n)
{
    return (size_t)(n * l->extent + 16);
}

/* Element k of what `from` sends to `to`. */
static uint32_t value(const struct job *j, int from, int to, int64_t k)
{
    uint32_t x = j->no * 2654435761u + (uint32_t)from * 40503u + (uint32_t)to * 9973u + (uint32_t)k * 31u;
    return x ^ (x >> 13);
}

static void put_values(const struct job *j, void *buf, const struct layout *l, int64_t first, int64_t n,
                       int from, int to)
{
    for (int64_t k = 0; k < n; k++) {
        *at(buf, l, first + k) = value(j, from, to, k);
    }
}

static void check_one(const struct job *j, int64_t k, int from, uint32_t there, uint32_t want)
{
    if (there != want) {
        fprintf(stderr, "rank %d, call %u (%s, form %d): element %lld from %d is %x instead of %x\n", me,
                j->no, j->sort->name, j->form, (long long)k, from, there, want);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void check_values(const struct job *j, void *buf, const struct layout *l, int64_t first, int64_t n,
                         int from, int to)
{
    for (int64_t k = 0; k < n; k++) {
        check_one(j, k, from, *at(buf, l, first + k), value(j, from, to, k));
    }
}

static int draw_count(int most)
{
    int sort = draw(8);

    return sort == 0 ? draw(2) : sort < 6 ? draw(200) : draw(most);
}

/* Blocks of which all ranks know all; a hole behind each when they differ. */
static void draw_blocks(const struct job *j, struct blocks *b, bool different, int most)
{
    int n = draw_count(most);

    b->total = 0;
    for (int i = 0; i < j->size; i++) {
        b->n[i] = different ? draw(n + 1) : n;
        b->at[i] = b->total + (different ? i : 0);
        b->total += b->n[i];
    }
    b->total += j->size;
}

/* Plain memory, or such that peers on the node can map: each rank draws for itself. */
static void *take_buffer(size_t bytes, bool *mapped)
{
    void *at;

    *mapped = draw_own(3) == 0;
    if (!*mapped) {
        return malloc(bytes);
    }
    MPI_Alloc_mem((MPI_Aint)bytes, MPI_INFO_NULL, &at);
    return at;
}

static void give_buffer(void *at, bool mapped)
{
    if (mapped) {
        MPI_Free_mem(at);
    } else {
        free(at);
    }
}

static void make_buffers(struct job *j, int64_t send, int64_t recv)
{
    j->sendbuf = take_buffer(room_bytes(&j->send, send), &j->send_mapped);
    j->recvbuf = take_buffer(room_bytes(&j->recv, recv), &j->recv_mapped);
    memset(j->sendbuf, 0, room_bytes(&j->send, send));
    memset(j->recvbuf, 0x55, room_bytes(&j->recv, recv));
}

static void *send_of(const struct job *j)
{
    return j->in_place ? MPI_IN_PLACE : j->sendbuf;
}

#endif
