/* Windows and MPI_Alloc_mem with wishes about memory: ranks ask for different kinds and page sizes,
 * operations go to what they got, MPI_Win_get_info agrees with the kernel, and what one rank cannot have
 * refuses the call on all ranks and leaves nothing taken. */
#include "../process.h"
#include "rma.h"

#include <stdint.h>
#include <unistd.h>

#define BYTES ((MPI_Aint)3 << 20)
#define LARGE ((MPI_Aint)9 << 20) /* has a mapping of its own */

/* An info object of "key=value" words, NULL at the end. */
static MPI_Info keys(const char *const *words)
{
    MPI_Info info;
    MPI_Info_create(&info);
    for (; *words != NULL; words++) {
        char key[64];
        size_t n = strcspn(*words, "=");
        snprintf(key, sizeof key, "%.*s", (int)n, *words);
        MPI_Info_set(info, key, *words + n + 1);
    }
    return info;
}
#define KEYS(...) keys((const char *const[]){__VA_ARGS__, NULL})

/* What MPI_Win_get_info says of `key`; "" when it says nothing. */
static const char *told(MPI_Win win, const char *key)
{
    static char value[4][256];
    static int next;
    char *out = value[next++ % 4];
    MPI_Info info;
    int len = 256, there;
    MPI_Win_get_info(win, &info);
    MPI_Info_get_string(info, key, &len, out, &there);
    MPI_Info_free(&info);
    if (!there) {
        out[0] = 0;
    }
    return out;
}

static size_t bytes_of(const char *words)
{
    char *end;
    size_t n = strtoull(words, &end, 10);
    return *end == 'K' ? n << 10 : *end == 'M' ? n << 20 : *end == 'G' ? n << 30 : n;
}

/* Sum of the bytes in "7:48M,3:16M". */
static size_t bytes_on_nodes(const char *words)
{
    size_t sum = 0;
    for (const char *at = words; (at = strchr(at, ':')) != NULL;) {
        sum += bytes_of(++at);
    }
    return sum;
}

/* A number from /proc/self/smaps about the mapping that holds `p`, in bytes; 0 when it does not say. */
static size_t mapping_says(const void *p, const char *what)
{
    char line[256];
    size_t found = 0;
    int inside = 0;
    FILE *f = fopen("/proc/self/smaps", "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        unsigned long low, high, kib;
        if (sscanf(line, "%lx-%lx %*4s", &low, &high) == 2) {
            inside = low <= (uintptr_t)p && (uintptr_t)p < high;
        } else if (inside && strncmp(line, what, strlen(what)) == 0 &&
                   sscanf(line + strlen(what), ": %lu", &kib) == 1) {
            found = (size_t)kib << 10;
        }
    }
    if (f != NULL) {
        fclose(f);
    }
    return found;
}

/* KiB of huge pages that this process has mapped: the machine's pools belong to other tests as well. */
static long huge_kib(void)
{
    return number_in("/proc/self/status", "HugetlbPages:");
}

/* Every rank puts a word of its own to two places of every rank, the second near the end, and finds all words
 * of its own window. Offsets count from the target's beginning; 1-byte units. */
static void put_everywhere(MPI_Win win, char *base, size_t bytes)
{
    memset(base, 0, bytes);
    meet_outside(win);
    MPI_Win_lock_all(0, win);
    for (int t = 0; t < ranks; t++) {
        uint64_t word = 0x1000u + (uint64_t)(64 * me + t);
        MPI_Put(&word, 8, MPI_BYTE, t, 8 * me, 8, MPI_BYTE, win);
        MPI_Put(&word, 8, MPI_BYTE, t, (MPI_Aint)bytes - 8 * (ranks - me), 8, MPI_BYTE, win);
        MPI_Win_flush(t, win);
    }
    meet(win);
    for (int o = 0; o < ranks; o++) {
        uint64_t words[2], want = 0x1000u + (uint64_t)(64 * o + me);
        memcpy(&words[0], base + 8 * o, 8);
        memcpy(&words[1], base + bytes - 8 * (size_t)(ranks - o), 8);
        CHECK(words[0] == want && words[1] == want, "from %d: %llx, %llx", o, (unsigned long long)words[0],
              (unsigned long long)words[1]);
    }
    MPI_Win_unlock_all(win);
}

static void aligned_as_told(MPI_Win win, const char *base)
{
    size_t align = bytes_of(told(win, "mpi_minimum_memory_alignment"));
    CHECK(align == 0 || (uintptr_t)base % align == 0, "%p is told to be aligned to %zu", (const void *)base,
          align);
}

/* What is told of touched memory that this rank took is what the kernel says. */
static void look_at(MPI_Win win, const char *base, size_t bytes)
{
    size_t page = bytes_of(told(win, "hotlane_page_size"));
    size_t kernel = mapping_says(base, "KernelPageSize");
    CHECK(kernel == 0 || page == kernel, "told %zu, the kernel %zu", page, kernel);
    const char *nodes = told(win, "hotlane_nodes");
    size_t there = bytes_on_nodes(nodes); /* whole pages, the first and last shared with others */
    CHECK((there >= bytes && there <= bytes + 2 * page) || nodes[0] == 0, "%s for %zu bytes", nodes, bytes);
    aligned_as_told(win, base);
}

static void nothing_asked(void)
{
    static char users[4096];
    char *base;
    MPI_Win win;
    MPI_Info info;
    char value[64];
    int len = sizeof value, there;
    MPI_Win_allocate(LARGE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    CHECK(strcmp(told(win, "hotlane_mem_kind"), "SYS_DEFAULT") == 0, "%s", told(win, "hotlane_mem_kind"));
    CHECK(strcmp(told(win, "hotlane_mem_policy"), "P") == 0, "%s", told(win, "hotlane_mem_policy"));
    CHECK(bytes_of(told(win, "hotlane_page_size")) == (size_t)sysconf(_SC_PAGESIZE), "base pages");
    CHECK(strcmp(told(win, "mpi_memory_alloc_kinds"), "mpi,system") == 0, "kinds");
    CHECK(mapping_says(base, "Rss") < (size_t)LARGE || getenv("TEST_LOCKED") != NULL,
          "pages before they are touched");
    memset(base, 1, LARGE);
    look_at(win, base, LARGE);
    put_everywhere(win, base, LARGE);
    MPI_Win_free(&win);
    for (int size = 0; size <= 4096; size += 4096) {
        MPI_Win_create(size > 0 ? users : NULL, size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        CHECK(told(win, "hotlane_page_size")[0] == 0 && told(win, "hotlane_mem_kind")[0] == 0,
              "the user's memory");
        MPI_Win_free(&win);
    }
    MPI_Comm_get_info(MPI_COMM_WORLD, &info);
    MPI_Info_get_string(info, "mpi_memory_alloc_kinds", &len, value, &there);
    CHECK(there && strcmp(value, "mpi,system") == 0, "kinds of a communicator");
    MPI_Info_free(&info);
}

static const char *const wishes[][4] = {
    {"hotlane_mem_kind=ddr", "hotlane_page_size=2M", "hotlane_mem_policy=P", NULL},
    {"hotlane_page_size=4K", "mpi_minimum_memory_alignment=65536", NULL},
    {"hotlane_mem_kind=hbm", "hotlane_page_size=16M", "hotlane_mem_policy=interleave", NULL},
    {"mpich_buf_type=ddr", "hotlane_mem_policy=I", "hotlane_page_size=2097152", NULL},
    {"hotlane_mem_kind=DDR", "hotlane_mem_policy=Mandatory", "hotlane_page_size=4k", NULL},
    {"hotlane_page_size=1G", "hotlane_mem_policy=preferred", NULL},
};
#define WISHES ((int)(sizeof wishes / sizeof wishes[0]))
static const struct {
    const char *kind, *policy;
    size_t align;
} asked[WISHES] = /* a page of 1G is too much for so little: nothing follows from asking for it */
    {{"DDR", "P", (size_t)2 << 20}, {"SYS_DEFAULT", "P", 65536}, {"MCDRAM", "I", (size_t)16 << 20},
     {"DDR", "I", (size_t)2 << 20}, {"DDR", "M", 4096},          {"SYS_DEFAULT", "P", 64}};

/* Only where the machine has fast memory does Mandatory get any. */
static int has_fast(void)
{
    void *base;
    MPI_Info info = KEYS("hotlane_mem_kind=hbm", "hotlane_mem_policy=M");
    int rc = MPI_Alloc_mem(1, info, &base);
    MPI_Info_free(&info);
    if (rc == MPI_SUCCESS) {
        MPI_Free_mem(base);
    }
    return rc == MPI_SUCCESS;
}

/* What the pages of a wish for `kind` are of. */
static const char *obtained(const char *kind)
{
    return strcmp(kind, "MCDRAM") != 0 || has_fast() ? kind : "DDR";
}

static void ranks_ask_for_different_things(int shift)
{
    int which = (me + shift) % WISHES;
    size_t bytes = (size_t)BYTES + 4096 * (size_t)me;
    char *base;
    MPI_Win win;
    MPI_Info info = keys(wishes[which]);
    MPI_Win_allocate((MPI_Aint)bytes, 1, info, MPI_COMM_WORLD, &base, &win);
    MPI_Info_free(&info);
    CHECK((uintptr_t)base % asked[which].align == 0, "wish %d: %p", which, (void *)base);
    CHECK(strcmp(told(win, "hotlane_mem_kind"), obtained(asked[which].kind)) == 0, "wish %d: %s", which,
          told(win, "hotlane_mem_kind"));
    CHECK(strcmp(told(win, "hotlane_mem_policy"), asked[which].policy) == 0, "wish %d", which);
    if (strcmp(asked[which].kind, "DDR") == 0) {
        CHECK(told(win, "hotlane_nodes")[0] != 0, "wish %d: pages are there at once", which);
    }
    memset(base, 0, bytes);
    look_at(win, base, bytes);
    /* The sizes differ: all know the smallest. */
    put_everywhere(win, base, BYTES);
    MPI_Win_free(&win);
}

static void shared(const char *noncontig)
{
    char *base, *first;
    MPI_Win win;
    MPI_Aint size;
    int unit, flag = strcmp(noncontig, "true") == 0;
    MPI_Info info = KEYS("hotlane_mem_kind=ddr", "hotlane_page_size=2M",
                         flag ? "alloc_shared_noncontig=true" : "alloc_shared_noncontig=false");
    int rc = MPI_Win_allocate_shared(BYTES, 1, info, MPI_COMM_WORLD, &base, &win);
    MPI_Info_free(&info);
    if (rc != MPI_SUCCESS) {
        CHECK(class_of(rc) == MPI_ERR_RMA_SHARED, "class %d", class_of(rc));
        return;
    }
    MPI_Win_shared_query(win, 0, &size, &unit, &first);
    CHECK(bytes_of(told(win, "hotlane_page_size")) == mapping_says(base, "KernelPageSize"), "%s",
          told(win, "hotlane_page_size"));
    CHECK(bytes_on_nodes(told(win, "hotlane_nodes")) >=
              (size_t)BYTES * (flag || ranks == 1 ? 1 : (size_t)ranks),
          "%s", told(win, "hotlane_nodes"));
    CHECK((uintptr_t)(flag ? base : first) % ((size_t)2 << 20) == 0 || (me != 0 && !flag), "%p",
          (void *)base);
    put_everywhere(win, base, BYTES);
    MPI_Win_free(&win);
}

static void told_is(MPI_Win win, const char *key, const char *want)
{
    CHECK(strcmp(told(win, key), want) == 0, "%s is told as \"%s\", not \"%s\"", key, told(win, key), want);
}

/* Who asks for what is not there is not told that it is. */
static void told_is_obtained(void)
{
    const char *fast = has_fast() ? "hbm" : "ddr";
    char *base;
    MPI_Win win;
    MPI_Info info = KEYS("mpich_buf_type=hbm", "mpi_minimum_memory_alignment=65536");
    MPI_Win_allocate(BYTES, 1, info, MPI_COMM_WORLD, &base, &win);
    MPI_Info_free(&info);
    memset(base, 1, BYTES);
    told_is(win, "hotlane_mem_kind", obtained("MCDRAM"));
    told_is(win, "mpich_buf_type", fast);
    look_at(win, base, BYTES);
    MPI_Win_free(&win);

    info = KEYS("mpich_buf_type=hbm", "hotlane_mem_kind=DDR"); /* our name wins */
    MPI_Win_allocate(BYTES, 1, info, MPI_COMM_WORLD, &base, &win);
    MPI_Info_free(&info);
    told_is(win, "hotlane_mem_kind", "DDR");
    told_is(win, "mpich_buf_type", "ddr");
    MPI_Win_free(&win);

    info = KEYS("hotlane_mem_kind=DDR", "hotlane_page_size=1G", "hotlane_mem_policy=M");
    MPI_Win_allocate(0, 1, info, MPI_COMM_WORLD, &base, &win); /* no bytes: nothing was taken for it */
    MPI_Info_free(&info);
    told_is(win, "hotlane_mem_kind", "SYS_DEFAULT");
    told_is(win, "hotlane_mem_policy", "P");
    CHECK(bytes_of(told(win, "hotlane_page_size")) == (size_t)sysconf(_SC_PAGESIZE), "base pages");
    MPI_Win_free(&win);
}

/* Contiguous shared memory is as rank 0 asked: the others are told of that, not of what they asked. */
static void others_are_told_of_rank_0(void)
{
    char *base;
    MPI_Win win;
    MPI_Info info = me == 0 ? KEYS("mpi_minimum_memory_alignment=4096")
                            : KEYS("mpich_buf_type=hbm", "hotlane_page_size=2M", "hotlane_mem_policy=I",
                                   "mpi_minimum_memory_alignment=4096");
    int rc = MPI_Win_allocate_shared(100, 1, info, MPI_COMM_WORLD, &base, &win);
    MPI_Info_free(&info);
    if (rc != MPI_SUCCESS) {
        CHECK(class_of(rc) == MPI_ERR_RMA_SHARED, "class %d", class_of(rc));
        return;
    }
    told_is(win, "hotlane_mem_kind", "SYS_DEFAULT");
    told_is(win, "hotlane_mem_policy", "P");
    told_is(win, "mpich_buf_type", "");
    CHECK(bytes_of(told(win, "hotlane_page_size")) == mapping_says(base, "KernelPageSize"), "%s",
          told(win, "hotlane_page_size"));
    aligned_as_told(win, base);
    MPI_Win_free(&win);
}

static void alloc_mem(int shift)
{
    int which = (me + shift) % WISHES;
    char *base;
    MPI_Win win;
    MPI_Info info = keys(wishes[which]);
    CHECK(MPI_Alloc_mem(BYTES, info, &base) == MPI_SUCCESS, "wish %d", which);
    CHECK((uintptr_t)base % asked[which].align == 0, "wish %d: %p", which, (void *)base);
    MPI_Info_free(&info);
    MPI_Win_create(base, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    put_everywhere(win, base, BYTES);
    look_at(win, base, BYTES);
    CHECK(told(win, "hotlane_page_size")[0] != 0 && told(win, "hotlane_mem_kind")[0] == 0, "got, not asked");
    MPI_Win_free(&win);
    MPI_Win_create(base + 4096, 100000, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win); /* a part of it */
    look_at(win, base + 4096, 100000);
    MPI_Win_free(&win);
    CHECK(MPI_Free_mem(base) == MPI_SUCCESS, "wish %d", which);
}

/* Below half a page: cut by memkind or without it, for their users the same. */
static void small_pieces(void)
{
    enum { COUNT = 200 };
    char *p[COUNT];
    MPI_Win win;
    MPI_Info info = KEYS("hotlane_page_size=2M", "mpi_minimum_memory_alignment=256");
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < COUNT; i++) {
            CHECK(MPI_Alloc_mem(i * i + 1, info, &p[i]) == MPI_SUCCESS, "piece %d", i);
            CHECK((uintptr_t)p[i] % 256 == 0, "piece %d: %p", i, (void *)p[i]);
            memset(p[i], i, (size_t)(i * i) + 1);
        }
        MPI_Win_create(p[COUNT - 1], (MPI_Aint)(COUNT - 1) * (COUNT - 1), 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                       &win);
        look_at(win, p[COUNT - 1], (size_t)(COUNT - 1) * (COUNT - 1));
        put_everywhere(win, p[COUNT - 1], (size_t)(COUNT - 1) * (COUNT - 1));
        MPI_Win_free(&win);
        for (int k = 0; k < COUNT; k++) {
            int i = k * 7 % COUNT;
            CHECK(i == COUNT - 1 || (p[i][0] == (char)i && p[i][i * i] == (char)i), "piece %d", i);
            CHECK(MPI_Free_mem(p[i] + 1) != MPI_SUCCESS, "the middle of %d", i);
            CHECK(MPI_Free_mem(p[i]) == MPI_SUCCESS, "piece %d", i);
        }
    }
    MPI_Info_free(&info);
}

/* Rank `loser` asks for what cannot be had; all get the error, its text names the loser, and nothing stays
 * taken. */
static void refused_for_all(int loser, MPI_Aint bytes, const char *page, const char *flavor)
{
    char *base = NULL, text[MPI_MAX_ERROR_STRING], name[32];
    MPI_Win win = MPI_WIN_NULL;
    int len, rc;
    char size_key[64];
    snprintf(size_key, sizeof size_key, "hotlane_page_size=%s", page);
    MPI_Info info = me == loser ? KEYS(size_key, "hotlane_mem_policy=M", "hotlane_mem_kind=ddr")
                                : KEYS("hotlane_page_size=2M");
    rc = flavor[0] == 'a'
             ? MPI_Win_allocate(me == loser ? bytes : BYTES, 1, info, MPI_COMM_WORLD, &base, &win)
             : MPI_Win_allocate_shared(me == loser ? bytes : BYTES, 1, info, MPI_COMM_WORLD, &base, &win);
    CHECK(class_of(rc) == MPI_ERR_NO_MEM, "%s: class %d", flavor, class_of(rc));
    CHECK(win == MPI_WIN_NULL, "a window all the same");
    MPI_Error_string(rc, text, &len);
    snprintf(name, sizeof name, "rank %d could not", loser);
    CHECK((me == loser) == (strstr(text, name) == NULL), "%.200s", text);
    MPI_Info_free(&info);
}

static void nothing_stays_taken(void)
{
    long before_fd = 0;
    long before_huge = 0;
    for (int round = 0; round < 4; round++) {
        if (round == 1) { /* the first may open things that stay */
            MPI_Barrier(MPI_COMM_WORLD);
            before_fd = files_open();
            before_huge = huge_kib();
            MPI_Barrier(MPI_COMM_WORLD);
        }
        for (int loser = 0; loser < ranks; loser++) {
            refused_for_all(loser, (MPI_Aint)1 << 45, "4K", "allocate");
            refused_for_all(loser, (MPI_Aint)1 << 45, "2M", "allocate");
            refused_for_all(loser, (MPI_Aint)1 << 40, "1G", "allocate");
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    long now_fd = files_open();
    for (int i = 0; i < 1000 && now_fd > before_fd; i++) {
        usleep(10000); /* a thread may have one open for a moment */
        now_fd = files_open();
    }
    CHECK(now_fd <= before_fd, "%ld descriptors, %ld before", now_fd, before_fd);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(huge_kib() == before_huge, "%ld KiB of huge pages, %ld before", huge_kib(), before_huge);
}

/* Nobody needs pages for nothing, and values that do not parse are as if they were not there. */
static void small_things(void)
{
    char *base;
    MPI_Win win;
    MPI_Info info = KEYS("hotlane_page_size=1G", "hotlane_mem_policy=M");
    CHECK(MPI_Win_allocate(0, 1, info, MPI_COMM_WORLD, &base, &win) == MPI_SUCCESS, "no bytes");
    MPI_Win_free(&win);
    CHECK(MPI_Alloc_mem(0, info, &base) == MPI_SUCCESS && MPI_Free_mem(base) == MPI_SUCCESS, "no bytes");
    MPI_Info_free(&info);
    info = KEYS("hotlane_page_size=3M", "hotlane_mem_policy=maybe", "hotlane_mem_kind=cxl",
                "mpich_buf_type=gpu");
    CHECK(MPI_Win_allocate(BYTES, 1, info, MPI_COMM_WORLD, &base, &win) == MPI_SUCCESS, "wrong values");
    CHECK(strcmp(told(win, "hotlane_mem_kind"), "SYS_DEFAULT") == 0 && told(win, "mpich_buf_type")[0] == 0,
          "kept");
    MPI_Info_free(&info);
    MPI_Win_get_info(win, &info);
    MPI_Win_free(&win);
    /* What was told may be asked for again. */
    CHECK(MPI_Win_allocate(BYTES, 1, info, MPI_COMM_WORLD, &base, &win) == MPI_SUCCESS, "told values");
    MPI_Info_free(&info);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    nothing_asked();
    for (int shift = 0; shift < WISHES; shift++) {
        ranks_ask_for_different_things(shift);
        alloc_mem(shift);
    }
    small_pieces();
    shared("false");
    shared("true");
    told_is_obtained();
    others_are_told_of_rank_0();
    nothing_stays_taken();
    small_things();
    return finish_checks("mem_wish");
}
