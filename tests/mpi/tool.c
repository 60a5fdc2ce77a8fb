/* The tool interface: before MPI_Init and after MPI_Finalize, every function, right and wrong. Any number of
 * ranks. */
#include "mpi_test.h"

#include <hotlane.h>
#include <limits.h>

#define OK(call) CHECK_EQ(call, MPI_SUCCESS)

static int find_cvar(const char *name)
{
    int index = -1;

    OK(MPI_T_cvar_get_index(name, &index));
    return index;
}

/* ---- Not initialized ---- */

static void before(void)
{
    int n, list[1];
    MPI_Count at;
    MPI_T_pvar_session s = MPI_T_PVAR_SESSION_NULL;
    MPI_T_pvar_handle p = MPI_T_PVAR_HANDLE_NULL;
    MPI_T_cvar_handle c = MPI_T_CVAR_HANDLE_NULL;

    CHECK_EQ(MPI_T_cvar_get_num(&n), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_EQ(MPI_T_cvar_get_index("HOTLANE_LOG", &n), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_EQ(MPI_T_cvar_handle_alloc(0, NULL, &c, &n), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_EQ(MPI_T_cvar_read(c, &n), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_EQ(MPI_T_cvar_write(c, &n), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_EQ(MPI_T_cvar_handle_free(&c), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_EQ(MPI_T_pvar_get_num(&n), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_EQ(MPI_T_pvar_session_create(&s), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_EQ(MPI_T_pvar_start(s, MPI_T_PVAR_ALL_HANDLES), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_EQ(MPI_T_pvar_read(s, p, &n), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_EQ(MPI_T_category_get_num(&n), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_EQ(MPI_T_category_get_cvars(0, 1, list), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_EQ(MPI_T_category_changed(&n), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_EQ(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &n, NULL, NULL), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_EQ(MPI_T_event_get_num(&n), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_EQ(MPI_T_source_get_timestamp(0, &at), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_EQ(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_EQ(MPI_T_init_thread(MPI_THREAD_SINGLE, NULL), MPI_T_ERR_INVALID);
    CHECK_EQ(MPI_T_init_thread(99999, &n), MPI_T_ERR_INVALID);
}

static void init(void)
{
    int provided = -1;

    OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
}

/* ---- Control variables ---- */

/* Its value is one of its words, and each word has a number of its own. */
static void check_enum(MPI_T_enum words, const char *name, int value)
{
    char text[64], title[128];
    int n = 0, number, len = sizeof title;

    OK(MPI_T_enum_get_info(words, &n, title, &len));
    CHECK(strcmp(title, name) == 0 && n >= 2 && value >= 0 && value < n);
    for (int i = 0; i < n; i++) {
        len = sizeof text;
        OK(MPI_T_enum_get_item(words, i, &number, text, &len));
        CHECK_EQ(number, i);
        CHECK_EQ(strlen(text) + 1, len);
    }
    CHECK_EQ(MPI_T_enum_get_item(words, n, &number, text, &len), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_enum_get_item(words, -1, &number, text, &len), MPI_T_ERR_INVALID_INDEX);
}

static void check_value(int i, MPI_Datatype type, MPI_T_enum words, const char *name)
{
    MPI_T_cvar_handle c;
    unsigned long long space[128] = {0};
    int count = 0, word = 0;

    OK(MPI_T_cvar_handle_alloc(i, NULL, &c, &count));
    CHECK(count >= 1 && count <= (int)sizeof space);
    OK(MPI_T_cvar_read(c, space));
    if (type == MPI_INT) {
        memcpy(&word, space, sizeof word);
        CHECK(words != MPI_T_ENUM_NULL);
        check_enum(words, name, word);
    } else if (type == MPI_CHAR) {
        CHECK(strlen((char *)space) + 1 <= (size_t)count);
    } else {
        CHECK(type == MPI_COUNT || type == MPI_UNSIGNED_LONG_LONG);
    }
    OK(MPI_T_cvar_handle_free(&c));
    CHECK(c == MPI_T_CVAR_HANDLE_NULL);
}

static void cvars(void)
{
    int n = 0;

    OK(MPI_T_cvar_get_num(&n));
    CHECK(n > 20);
    for (int i = 0; i < n; i++) {
        char name[128], desc[1024], cut[5] = "....";
        int name_len = sizeof name, desc_len = sizeof desc, cut_len = 4, zero = 0, verb, bind, scope, at = -1;
        MPI_Datatype type;
        MPI_T_enum words;
        OK(MPI_T_cvar_get_info(i, name, &name_len, &verb, &type, &words, desc, &desc_len, &bind, &scope));
        CHECK_EQ(strlen(name) + 1, name_len);
        CHECK_EQ(strlen(desc) + 1, desc_len);
        CHECK_EQ(bind, MPI_T_BIND_NO_OBJECT);
        OK(MPI_T_cvar_get_info(i, cut, &cut_len, NULL, NULL, NULL, NULL, &zero, NULL, NULL));
        CHECK(strlen(cut) == 3 && cut_len == name_len && zero == desc_len && strncmp(cut, name, 3) == 0);
        OK(MPI_T_cvar_get_info(i, cut, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
        OK(MPI_T_cvar_get_index(name, &at));
        CHECK_EQ(at, i);
        check_value(i, type, words, name);
    }
    CHECK_EQ(MPI_T_cvar_get_info(n, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
             MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_cvar_get_info(-1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
             MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_cvar_get_index("HOTLANE_MOON", &n), MPI_T_ERR_INVALID_NAME);
    CHECK_EQ(MPI_T_cvar_get_index(NULL, &n), MPI_T_ERR_INVALID);
    CHECK_EQ(MPI_T_cvar_get_num(NULL), MPI_T_ERR_INVALID);
}

/* What a write answers, and what is read afterwards. */
static int write_cvar(const char *name, const void *value, void *after)
{
    MPI_T_cvar_handle c, copy;
    int count;

    OK(MPI_T_cvar_handle_alloc(find_cvar(name), NULL, &c, &count));
    CHECK_EQ(MPI_T_cvar_write(c, NULL), MPI_T_ERR_INVALID);
    int err = MPI_T_cvar_write(c, value);
    OK(MPI_T_cvar_read(c, after));
    copy = c;
    OK(MPI_T_cvar_handle_free(&c));
    CHECK_EQ(MPI_T_cvar_read(copy, after), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_cvar_write(MPI_T_CVAR_HANDLE_NULL, value), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_cvar_handle_free(&copy), MPI_T_ERR_INVALID_HANDLE);
    return err;
}

static void write_cvars(bool early)
{
    int word, level;
    MPI_Count count = 45, got = 0;
    unsigned long long bytes = 8192, got_bytes = 0;
    char text[512];

    CHECK_EQ(write_cvar("HOTLANE_PEER_TIMEOUT", &count, &got),
             early ? MPI_SUCCESS : MPI_T_ERR_CVAR_SET_NEVER);
    CHECK_EQ(got, 45);
    count = 86401;
    CHECK_EQ(write_cvar("HOTLANE_PEER_TIMEOUT", &count, &got),
             early ? MPI_T_ERR_INVALID : MPI_T_ERR_CVAR_SET_NEVER);
    CHECK_EQ(got, 45);
    CHECK_EQ(write_cvar("HOTLANE_CHAIN", &bytes, &got_bytes), early ? MPI_SUCCESS : MPI_T_ERR_CVAR_SET_NEVER);
    CHECK_EQ(got_bytes, 8192);
    level = 0;
    CHECK_EQ(write_cvar("HOTLANE_LOG", &level, &word), MPI_SUCCESS);
    CHECK_EQ(word, 0);
    level = 1;
    CHECK_EQ(write_cvar("HOTLANE_LOG", &level, &word), MPI_SUCCESS);
    level = 4;
    CHECK_EQ(write_cvar("HOTLANE_LOG", &level, &word), MPI_T_ERR_INVALID);
    CHECK_EQ(word, 1);
    level = 4;
    CHECK_EQ(write_cvar("HOTLANE_STATS", &level, &word), MPI_T_ERR_INVALID);
    CHECK_EQ(word, 0);
    CHECK_EQ(write_cvar("HOTLANE_CONF", "", text), MPI_T_ERR_CVAR_SET_NEVER);
}

/* ---- Performance variables ---- */

static MPI_Win win;
static int *mem;

static void work(void)
{
    int mine = me;

    MPI_Win_fence(0, win);
    for (int i = 0; i < 10; i++) {
        MPI_Accumulate(&mine, 1, MPI_INT, (me + 1) % size, 0, 1, MPI_INT, MPI_SUM, win);
    }
    MPI_Win_fence(0, win);
}

static unsigned long long read_pvar(MPI_T_pvar_session s, MPI_T_pvar_handle p)
{
    unsigned long long value = ~0ull;

    OK(MPI_T_pvar_read(s, p, &value));
    return value;
}

/* Two sessions count the same thing from different times. While nothing else runs, a counter stands still. */
static void count_one(int i, const char *name)
{
    MPI_T_pvar_session a, b;
    MPI_T_pvar_handle pa, pb, stale;
    int count = 0;
    long long first, second, third;
    unsigned long long value = 7;

    OK(MPI_T_pvar_session_create(&a));
    OK(MPI_T_pvar_session_create(&b));
    OK(MPI_T_pvar_handle_alloc(a, i, NULL, &pa, &count));
    CHECK_EQ(count, 1);
    OK(MPI_T_pvar_handle_alloc(b, i, NULL, &pb, &count));
    CHECK_EQ(MPI_T_pvar_start(b, pa), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(hotlane_counter(name, &first), 0);
    OK(MPI_T_pvar_start(a, pa));
    work();
    CHECK_EQ(read_pvar(b, pb), 0);
    OK(MPI_T_pvar_start(b, MPI_T_PVAR_ALL_HANDLES));
    CHECK_EQ(hotlane_counter(name, &second), 0);
    work();
    OK(MPI_T_pvar_stop(a, MPI_T_PVAR_ALL_HANDLES));
    OK(MPI_T_pvar_stop(b, pb));
    CHECK_EQ(hotlane_counter(name, &third), 0);
    unsigned long long from_a = read_pvar(a, pa), from_b = read_pvar(b, pb);
    CHECK((long long)from_a <= third - first && (long long)from_b <= third - second && from_a >= from_b);
    CHECK((long long)from_a >= second - first);
    work();
    CHECK_EQ(read_pvar(a, pa), from_a); /* stopped */
    OK(MPI_T_pvar_write(b, pb, &value));
    OK(MPI_T_pvar_readreset(b, pb, &value));
    CHECK_EQ(value, 7);
    CHECK_EQ(read_pvar(b, pb), 0);
    OK(MPI_T_pvar_reset(a, MPI_T_PVAR_ALL_HANDLES));
    CHECK_EQ(read_pvar(a, pa), 0);
    CHECK_EQ(MPI_T_pvar_read(a, MPI_T_PVAR_ALL_HANDLES, &value), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_pvar_read(a, pa, NULL), MPI_T_ERR_INVALID);
    stale = pa;
    OK(MPI_T_pvar_handle_free(a, &pa));
    CHECK(pa == MPI_T_PVAR_HANDLE_NULL);
    CHECK_EQ(MPI_T_pvar_read(a, stale, &value), MPI_T_ERR_INVALID_HANDLE);
    OK(MPI_T_pvar_session_free(&a));
    CHECK(a == MPI_T_PVAR_SESSION_NULL);
    CHECK_EQ(MPI_T_pvar_start(a, MPI_T_PVAR_ALL_HANDLES), MPI_T_ERR_INVALID_SESSION);
    stale = pb;
    MPI_T_pvar_session old = b;
    OK(MPI_T_pvar_session_free(&b)); /* with its handle */
    CHECK_EQ(MPI_T_pvar_read(old, stale, &value), MPI_T_ERR_INVALID_SESSION);
    CHECK_EQ(MPI_T_pvar_session_free(&old), MPI_T_ERR_INVALID_SESSION);
}

static void pvars(void)
{
    int n = 0, count;
    MPI_T_pvar_session s;
    MPI_T_pvar_handle p;

    OK(MPI_T_pvar_get_num(&n));
    for (int i = 0; i < n; i++) {
        char name[64], desc[256];
        int name_len = sizeof name, desc_len = sizeof desc, verb, class, bind, readonly, continuous, atomic;
        int at = -1;
        MPI_Datatype type;
        MPI_T_enum words;
        OK(MPI_T_pvar_get_info(i, name, &name_len, &verb, &class, &type, &words, desc, &desc_len, &bind,
                               &readonly, &continuous, &atomic));
        CHECK(type == MPI_UNSIGNED_LONG_LONG && words == MPI_T_ENUM_NULL && !readonly && !continuous);
        OK(MPI_T_pvar_get_index(name, class, &at));
        CHECK_EQ(at, i);
        CHECK_EQ(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_TIMER, &at), MPI_T_ERR_INVALID_NAME);
        count_one(i, name);
    }
    CHECK_EQ(MPI_T_pvar_get_info(n, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
             MPI_T_ERR_INVALID_INDEX);
    OK(MPI_T_pvar_session_create(&s));
    CHECK_EQ(MPI_T_pvar_handle_alloc(s, n, NULL, &p, &count), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_pvar_handle_alloc(s, 0, NULL, NULL, &count), MPI_T_ERR_INVALID);
    OK(MPI_T_pvar_session_free(&s));
}

/* ---- Categories, events, sources ---- */

static void categories(void)
{
    int n = 0, n_cvars = 0, n_pvars = 0, seen_c[256] = {0}, seen_p[256] = {0}, list[256], stamp = -1;

    OK(MPI_T_category_get_num(&n));
    OK(MPI_T_cvar_get_num(&n_cvars));
    OK(MPI_T_pvar_get_num(&n_pvars));
    for (int i = 0; i < n; i++) {
        char name[64], desc[256];
        int name_len = sizeof name, desc_len = sizeof desc, cv = -1, pv = -1, sub = -1, at = -1, ev = -1;
        OK(MPI_T_category_get_info(i, name, &name_len, desc, &desc_len, &cv, &pv, &sub));
        CHECK(cv + pv > 0 && sub == 0);
        OK(MPI_T_category_get_index(name, &at));
        CHECK_EQ(at, i);
        OK(MPI_T_category_get_num_events(i, &ev));
        CHECK_EQ(ev, 0);
        OK(MPI_T_category_get_cvars(i, cv, list));
        for (int k = 0; k < cv; k++) {
            seen_c[list[k]]++;
        }
        OK(MPI_T_category_get_pvars(i, pv, list));
        for (int k = 0; k < pv; k++) {
            seen_p[list[k]]++;
        }
        OK(MPI_T_category_get_categories(i, 0, NULL));
        OK(MPI_T_category_get_events(i, 0, NULL));
        CHECK_EQ(MPI_T_category_get_cvars(i, 1, NULL), MPI_T_ERR_INVALID);
    }
    for (int i = 0; i < n_cvars || i < n_pvars; i++) {
        CHECK_EQ(seen_c[i], i < n_cvars);
        CHECK_EQ(seen_p[i], i < n_pvars);
    }
    CHECK_EQ(MPI_T_category_get_info(n, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_category_get_pvars(n, 0, NULL), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_category_get_index("moon", &n), MPI_T_ERR_INVALID_NAME);
    OK(MPI_T_category_changed(&stamp));
    CHECK_EQ(stamp, 0);
}

static void events(void)
{
    int n = -1;
    MPI_Count a = 0, b = 0, ticks = 0, most = 0;
    MPI_T_event_registration r = NULL;
    MPI_T_event_instance e = NULL;
    MPI_T_source_order order;
    MPI_Info info;

    OK(MPI_T_event_get_num(&n));
    CHECK_EQ(n, 0);
    CHECK_EQ(MPI_T_event_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
             MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_event_get_index("moon", &n), MPI_T_ERR_INVALID_NAME);
    CHECK_EQ(MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, &r), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_event_handle_set_info(r, MPI_INFO_NULL), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_event_handle_get_info(r, &info), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, NULL),
             MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_event_callback_set_info(r, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL),
             MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_event_callback_get_info(r, MPI_T_CB_REQUIRE_NONE, &info), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_event_set_dropped_handler(r, NULL), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_event_handle_free(r, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_event_read(e, 0, &n), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_event_copy(e, &n), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_event_get_timestamp(e, &a), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_event_get_source(e, &n), MPI_T_ERR_INVALID_HANDLE);
    OK(MPI_T_source_get_num(&n));
    CHECK_EQ(n, 1);
    OK(MPI_T_source_get_info(0, NULL, NULL, NULL, NULL, &order, &ticks, &most, &info));
    MPI_Info_free(&info);
    CHECK(order == MPI_T_SOURCE_ORDERED && ticks == 1000000000 && most > ticks);
    OK(MPI_T_source_get_timestamp(0, &a));
    OK(MPI_T_source_get_timestamp(0, &b));
    CHECK(a > 0 && b >= a);
    CHECK_EQ(MPI_T_source_get_timestamp(1, &a), MPI_T_ERR_INVALID_INDEX);
}

/* Tools ask from many threads. */
static void *ask(void *number)
{
    for (int i = 0; i < 20; i++) {
        init();
        cvars();
        categories();
        OK(MPI_T_finalize());
    }
    return NULL;
}

int main(void)
{
    before();
    init();
    cvars();
    categories();
    events();
    write_cvars(true);
    test_start(1);
    MPI_Win_allocate(sizeof *mem, sizeof *mem, MPI_INFO_NULL, MPI_COMM_WORLD, (void *)&mem, &win);
    init();
    OK(MPI_T_finalize()); /* counted */
    write_cvars(false);
    pvars();
    test_threads(8, ask);
    MPI_Win_free(&win);
    MPI_Finalize();
    cvars();
    events();
    OK(MPI_T_finalize());
    before();
    init(); /* again */
    categories();
    OK(MPI_T_finalize());
    return 0;
}
