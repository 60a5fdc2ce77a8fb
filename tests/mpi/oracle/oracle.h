/* The oracle: random one-sided operations against a plain model of memory.
 *
 * Every rank draws the same rounds from the seed and plays all of them on a model of everybody's memory; of
 * the real operations it performs its own. A round begins with fresh memory, holds one epoch on each window,
 * and ends with a comparison of every byte. Steps of a round are free of races or commute, so that what must
 * be there is defined. All that a round or a step is follows from (seed, number): either can be repeated
 * alone. */
#ifndef ORACLE_H
#define ORACLE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- settings and the place in the run ---- */

enum {
    MAX_RANKS = 16,
    MAX_THREADS = 8,
    MAX_WINDOWS = 4,
    MAX_MEMORIES = 3, /* of a rank */
    MAX_REGIONS = 8,
    SLACK = 32,       /* bytes before and after what a buffer's layout covers */
    STEPS = 12,       /* of a worker in a round */
    SETUP_ROUNDS = 4, /* with the same windows */
};

struct settings {
    uint64_t seed;
    double seconds;     /* 0: until `steps` */
    int64_t steps;      /* 0: until `seconds` */
    int64_t only_step;  /* -1, or play nothing but this one */
    int64_t only_round; /* -1, or nothing but this one */
    int threads;
    unsigned need; /* bits of enum way that must be covered */
    bool loud;
};

extern struct settings set;
extern int me, ranks;     /* in MPI_COMM_WORLD */
extern int64_t round_now; /* for messages */

/* Ends the job with the words and how to repeat what failed. step < 0: of the round in general. */
void fail(int64_t step, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));

/* ---- numbers ---- */

struct rng {
    uint64_t state;
};

struct rng rng_of(uint64_t what, int64_t number);
uint64_t rng_next(struct rng *r);
int pick(struct rng *r, int n); /* 0 .. n - 1 */

/* ---- basic types (basics.c) ---- */

enum op {
    SUM,
    PROD,
    MIN,
    MAX,
    BAND,
    BOR,
    BXOR,
    LAND,
    LOR,
    LXOR,
    MINLOC,
    MAXLOC,
    REPLACE,
    NO_OP,
    OPS,
    SWAP,
    GUARDED
};
enum kind { INTEGER, FLOATING, COMPLEX, LOGICAL, BYTES, MOVED, PAIR };

struct basic {
    const char *name;
    MPI_Datatype type;
    void (*apply)(enum op op, void *inout, const void *in);
    void (*value)(void *out, double value, int other); /* NULL: random bytes will do */
    enum kind kind;
    int extent;
    int hole, second, end; /* data: bytes [0, hole) and [second, end) */
    bool x87;              /* of 16 bytes the last six mean nothing */
};

extern const struct basic basics[];
extern const int n_basics;

MPI_Op op_handle(enum op op);
const char *op_name(enum op op);
bool op_defined(const struct basic *b, enum op op);
bool op_commutes(const struct basic *b, enum op op); /* bit for bit, in any order */
bool may_swap(const struct basic *b);                /* MPI_Compare_and_swap takes it */

bool is_data(const struct basic *b, int byte);  /* moved */
bool is_value(const struct basic *b, int byte); /* and compared after arithmetic */
void random_value(struct rng *r, const struct basic *b, void *out);
void copy_element(const struct basic *b, void *to, const void *from);
bool same_element(const struct basic *b, const void *x, const void *y);

/* ---- layouts (layout.c) ---- */

enum shape { DENSE, STRIDED, INDEXED, STRUCT, RESIZED, NEGATIVE, SHAPES };
/* Classes that are counted: shapes, then what the elements are. */
enum class { CLASS_PAIR = SHAPES, CLASS_16, CLASSES };

/* n elements in memory: element i is basics[of[i % n_of]] at byte at[i] behind the first byte. */
struct layout {
    MPI_Datatype type;
    int count;
    enum shape shape;
    int zero;  /* byte that the address passed to MPI is */
    int bytes; /* from the first byte to the last one's end */
    int n, n_of;
    const struct basic *const *of;
    int *at;
};

/* n elements of the sequence `of` in a shape (a sequence of several is always STRUCT). */
void layout_make(struct layout *l, struct rng *r, enum shape shape, int n, const struct basic *const *of,
                 int n_of);

/* Moves the address that is passed, at byte `position` of a window, to a multiple of `unit`. */
void layout_align(struct layout *l, struct rng *r, int position, int unit);
void layout_free(struct layout *l);
const char *layout_name(const struct layout *l);
const char *class_name(int class);

/* ---- memory and windows (memory.c) ---- */

/* Who touched a byte in this round, and how. */
struct touch {
    int8_t how; /* enum touched */
    int8_t op;
    int8_t win;
    bool sealed;    /* nobody else may join: a fetched value is expected, or there was more before */
    int16_t worker; /* -1: several */
    int16_t stamp;  /* the worker's count of steps */
    int64_t step;   /* the last one that wrote, + 1 */
};
enum touched { FREE, READ, PUT, UPDATED };

struct region {
    int at, bytes;             /* elements stand at `at`, at + extent, ... */
    const struct basic *basic; /* NULL: raw bytes */
};

struct memory {
    int owner, bytes, n_regions;
    unsigned char *here; /* the owner's */
    unsigned char *model;
    struct touch *touch;
    struct region regions[MAX_REGIONS];
};

enum flavor { CREATE, CREATE_SHAREABLE, ALLOCATE, DYNAMIC, SHARED, OVERLAP, FLAVORS };
enum way { SELF, NEAR, DIRECT, CHAINED, LOCKED, CMA, WAYS };

struct window {
    MPI_Win win;
    enum flavor flavor;
    int memory;   /* number among those of a rank */
    bool reverse; /* its ranks stand in the other order */
    bool unordered;
    MPI_Aint base[MAX_RANKS]; /* displacement of its first byte: an address in dynamic windows, else 0 */
    int from[MAX_RANKS], bytes[MAX_RANKS]; /* what part of the rank's memory it is */
    int unit[MAX_RANKS];                   /* displacement units */
    uint8_t reach[MAX_RANKS][MAX_RANKS];   /* [origin][target]: SELF, NEAR, DIRECT, CMA */
};

extern struct memory memories[MAX_MEMORIES][MAX_RANKS];
extern struct window windows[MAX_WINDOWS];
extern int n_windows, n_memories;

void setup_open(int64_t setup);
void setup_close(void);
int target_rank(const struct window *w, int world);
const char *flavor_name(enum flavor f);

/* Fresh contents for a round: model of all, and my memory. */
void memory_fill(int64_t round);
/* Compares my memory with the model. */
void memory_check(void);
/* For access by loads and stores, outside of epochs. */
void memory_enter(void);
void memory_leave(void);

/* ---- steps (plan.c) ---- */

enum call {
    C_PUT,
    C_GET,
    C_ACCUMULATE,
    C_GET_ACCUMULATE,
    C_FETCH_AND_OP,
    C_COMPARE_AND_SWAP,
    C_RPUT,
    C_RGET,
    C_RACCUMULATE,
    C_RGET_ACCUMULATE,
    CALLS
};
enum epoch { E_FENCE, E_PSCW, E_SHARED, E_EXCLUSIVE, E_ALL, EPOCHS };
enum complete { NOTHING, WAIT, LOCAL, LOCAL_ALL, FLUSH, FLUSH_ALL, RELOCK };

struct step {
    bool used;
    bool typed;   /* in a region of one basic type */
    bool guarded; /* get, flush, put under an exclusive lock */
    int64_t number;
    enum call call;
    enum op op;
    enum epoch epoch;
    int win, target; /* world rank */
    int times;       /* the same call again and again */
    enum complete before, after;
    const struct basic *seq[4];   /* what the layouts consist of */
    struct layout to, from, back; /* at the target, origin, result */
    int position;                 /* of the target's first byte in its memory */
    unsigned char *origin, *result,
        *want; /* buffers; want: what result must hold at the end, NULL: anything */
    unsigned char compare[32];
    MPI_Request request;
    bool open; /* issued, not locally complete */
    enum way way;
};

struct round {
    int64_t number;
    enum epoch epoch[MAX_WINDOWS];
    uint32_t locked[MAX_WINDOWS][MAX_RANKS];    /* [origin]: bits of targets that it locks (or starts) */
    uint32_t exclusive[MAX_WINDOWS][MAX_RANKS]; /* bits of those it locks exclusively */
    struct step steps[MAX_RANKS][MAX_THREADS][STEPS];
};

extern struct round plan;
void plan_round(int64_t number);
void plan_free(void);
const char *call_name(enum call c);
const char *epoch_name(enum epoch e);

/* Are elements of b at this place of a target's memory updated under a lock? */
bool is_locked_way(const struct basic *b, int at);

/* ---- performing (play.c) ---- */

void play_round(void);

/* ---- what was covered (cover.c) ---- */

/* Around a call, when this thread is the only one: the way it took. */
void cover_before(void);
enum way cover_after(enum way reach); /* reach: SELF, NEAR, or DIRECT when it is known to be far */
void cover_count(const struct step *s, enum way way);
/* Sums over ranks, prints, and fails when a cell that is needed was drawn less than 20 times in 10^4
 * operations.
 */
void cover_report(void);
const char *way_name(int way);

#endif
