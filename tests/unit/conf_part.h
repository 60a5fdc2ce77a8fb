/* Symmetric partitions and the size of the symmetric heap. */
#include "part.h"

START_TEST(heap_sizes_are_the_standards)
{
    static const struct {
        const char *text;
        uint64_t bytes, strict; /* 0: refused there */
    } good[] = {{"20m", 20971520, 20971520},
                {"3.1M", 3250586, 3250586}, /* the standard's own example: rounded up */
                {".5m", 524288, 524288},
                {"0.5k", 512, 512},
                {"0", 0, 0},
                {"1", 1, 1},
                {"1.1", 2, 2},
                {"20kk", 20480, 0},
                {"2MB", 2097152, 2097152},
                {"2T ", (uint64_t)2 << 40, 0},
                {"0.000000000000000001T", 1, 1},
                {"9007199254740993", 9007199254740993, 9007199254740993}};
    static const char *const bad[] = {"",
                                      ".",
                                      ".k",
                                      "1.",
                                      "1.k",
                                      "k",
                                      "-1",
                                      "+1",
                                      "1e3",
                                      "0x1",
                                      " 1",
                                      "1 k",
                                      "1x",
                                      "auto",
                                      "1P",
                                      "1,5M",
                                      "nan",
                                      "1..5",
                                      "1.-5",
                                      "8388608T",
                                      "99999999999999999999",
                                      "..5",
                                      "2.0000000000000000000000000000000000009"};
    uint64_t n = 7;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        ck_assert_msg(hl_part_parse_size(good[i].text, true, &n) == 0 && n == good[i].bytes, "%s: %llu",
                      good[i].text, (unsigned long long)n);
        bool strict = good[i].strict != 0 || good[i].bytes == 0;
        ck_assert_msg((hl_part_parse_size(good[i].text, false, &n) == 0) == strict, "%s", good[i].text);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_msg(hl_part_parse_size(bad[i], true, &n) == HL_ERR_ARG, "%s", bad[i]);
    }
}
END_TEST

static const struct {
    const char *text;
    struct hl_part part;
} good_parts[] = {
    {"size=1G", {.size = 1 << 30, .page = 4096}},
    {"SIZE=20m:Kind=fastmem:POLICY=mandatory:PgSize=2M",
     {.size = 20 << 20, .page = 2 << 20, .kind = HL_PART_FAST, .policy = HL_PART_MANDATORY}},
    {"pgsz=1g:policy=I:kind=n:size=3.1M",
     {.size = 3250586, .page = 1 << 30, .kind = HL_PART_NORMAL, .policy = HL_PART_INTERLEAVED}},
    {"kind=S:size=1:policy=s",
     {.size = 1, .page = 4096, .kind = HL_PART_SYSTEM, .policy = HL_PART_BY_SYSTEM}},
    {"kind=SYSDEFAULT:size=.5k:policy=Interleave",
     {.size = 512, .page = 4096, .kind = HL_PART_SYSTEM, .policy = HL_PART_INTERLEAVED}},
    {"size=1:kind=Default:policy=P:pgsize=2097152", {.size = 1, .page = 2 << 20}},
};

START_TEST(partitions_are_taken_in_any_order_and_case)
{
    char why[HL_PART_WHY] = "";
    struct hl_part p;
    for (size_t i = 0; i < sizeof good_parts / sizeof good_parts[0]; i++) {
        const struct hl_part *want = &good_parts[i].part;
        memset(&p, 0, sizeof p);
        ck_assert_msg(hl_part_parse(good_parts[i].text, &p, why) == 0, "%s: %s", good_parts[i].text, why);
        ck_assert_msg(memcmp(&p, want, sizeof p) == 0, "%s", good_parts[i].text);
    }
}
END_TEST

START_TEST(partitions_are_refused_with_the_reason)
{
    static const struct {
        const char *text, *why;
    } bad[] = {
        {"", "expected key=value in place of \"\""},
        {"1G", "expected key=value in place of \"1G\""},
        {"size=1G:", "expected key=value in place of \"\""},
        {"kind=F", "size=BYTES is missing"},
        {"size=1G:kind=F:kind=N", "\"kind\" is there twice"},
        {"size=1G:pgsz=2M:pgsize=2M", "\"pgsize\" is there twice"},
        {"size=1G:sise=2G", "unknown key \"sise\": expected size, kind, policy or pgsize"},
        {"size=1GBB", "size=1GBB: expected bytes as in 20m or 3.1M"},
        {"size=1Gkind=F", "size=1Gkind=F: expected bytes as in 20m or 3.1M"},
        {"size=-1", "size=-1: expected bytes as in 20m or 3.1M"},
        {"size=1:kind=X", "kind=X: expected D[efault], N[ormalmem], S[ysdefault] or F[astmem]"},
        {"size=1:kind=", "kind=: expected D[efault], N[ormalmem], S[ysdefault] or F[astmem]"},
        {"size=1:policy=MM", "policy=MM: expected P[referred], M[andatory], I[nterleaved] or S[ysdefault]"},
        {"size=1:pgsize=3M",
         "pgsize=3M: expected 4K|2M|4M|8M|16M|32M|64M|128M|256M|512M|1G, or that in bytes"},
        {"size=1:policy=S", "policy=S is possible with kind=S only"},
        {"size=1:policy=S:kind=D", "policy=S is possible with kind=S only"},
        {" size=1", "unknown key \" size\": expected size, kind, policy or pgsize"},
    };
    char why[HL_PART_WHY], lots[600];
    struct hl_part p = {.id = 9, .size = 8, .page = 7, .kind = HL_PART_FAST}, before = p;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_msg(hl_part_parse(bad[i].text, &p, why) == HL_ERR_ARG, "%s", bad[i].text);
        ck_assert_str_eq(why, bad[i].why);
        ck_assert(memcmp(&p, &before, sizeof p) == 0);
    }
    memset(lots, 'x', sizeof lots - 1);
    lots[sizeof lots - 1] = '\0';
    ck_assert_int_eq(hl_part_parse(lots, &p, why), HL_ERR_ARG);
}
END_TEST

static const struct {
    const char *env[9], *file;
    int ids[HL_PART_MOST + 1]; /* in force; 0 at the end */
    const char *error;         /* NULL: none */
} families[] = {
    {{NULL}, NULL, {0}, NULL},
    {{"SHMEM_SYMMETRIC_PARTITION1=size=1M", "SMA_SYMMETRIC_PARTITION127=size=2M:kind=F"},
     NULL,
     {1, 127},
     NULL},
    {{"SMA_SYMMETRIC_PARTITION7=size=1M", "SMA_SYMMETRIC_PARTITION1=size=2M:kind=F"},
     "SMA_SYMMETRIC_PARTITION3=size=1G\nSHMEM_SYMMETRIC_PARTITION7=size=9M\n",
     {1, 3, 7},
     NULL},
    {{"SMA_SYMMETRIC_PARTITION1=size=1M", "SHMEM_SYMMETRIC_PARTITION1=size=1M"}, NULL, {1}, NULL},
    {{"SMA_SYMMETRIC_PARTITION1=size=1M", "SHMEM_SYMMETRIC_PARTITION1=size=2M"},
     NULL,
     {0},
     "two names of one partition"},
    {{"SHMEM_SYMMETRIC_PARTITION2=size=1M"},
     NULL,
     {0},
     "SHMEM_SYMMETRIC_PARTITION2: partition 1 is missing, the one of shmem_malloc"},
    {{"SHMEM_SYMMETRIC_PARTITION0=size=1M"}, NULL, {0}, "partitions have numbers from 1 to 127"},
    {{"SHMEM_SYMMETRIC_PARTITION128=size=1M"}, NULL, {0}, "partitions have numbers from 1 to 127"},
    {{"SHMEM_SYMMETRIC_PARTITION01=size=1M"}, NULL, {0}, "partitions have numbers from 1 to 127"},
    {{"SMA_SYMMETRIC_PARTITION=size=1M"}, NULL, {0}, "SMA_SYMMETRIC_PARTITION: partitions have numbers"},
    {{"SMA_SYMMETRIC_PARTITION1x=size=1M"}, NULL, {0}, "partitions have numbers from 1 to 127"},
    {{"SHMEM_SYMMETRIC_PARTITION1=size=1M", "SHMEM_SYMMETRIC_SIZE=1M"},
     NULL,
     {0},
     "SHMEM_SYMMETRIC_PARTITION1 and SHMEM_SYMMETRIC_SIZE are both set"},
    {{"SMA_SYMMETRIC_PARTITION1=sze=1M"}, NULL, {0}, "SMA_SYMMETRIC_PARTITION1=sze=1M: unknown key \"sze\""},
    {{NULL}, "\nSMA_SYMMETRIC_PARTITION1=1M\n", {0}, "hotlane.conf:2: SMA_SYMMETRIC_PARTITION1=1M: expected"},
    {{"SMA_SYMMETRIC_PARTITION1=size=1", "SMA_SYMMETRIC_PARTITION2=size=1", "SMA_SYMMETRIC_PARTITION3=size=1",
      "SMA_SYMMETRIC_PARTITION4=size=1", "SMA_SYMMETRIC_PARTITION5=size=1", "SMA_SYMMETRIC_PARTITION6=size=1",
      "SMA_SYMMETRIC_PARTITION90=size=1"},
     NULL,
     {1, 2, 3, 4, 5, 6, 90},
     NULL},
    {{"SMA_SYMMETRIC_PARTITION1=size=1", "SMA_SYMMETRIC_PARTITION2=size=1", "SMA_SYMMETRIC_PARTITION3=size=1",
      "SMA_SYMMETRIC_PARTITION4=size=1", "SMA_SYMMETRIC_PARTITION5=size=1", "SMA_SYMMETRIC_PARTITION6=size=1",
      "SMA_SYMMETRIC_PARTITION90=size=1", "SMA_SYMMETRIC_PARTITION91=size=1"},
     NULL,
     {0},
     "SMA_SYMMETRIC_PARTITION91: more than 7 partitions"},
    {{"SMA_SYMMETRIC_SIZE=12x"}, NULL, {0}, "SMA_SYMMETRIC_SIZE=12x: expected bytes as in 20m or 3.1M"},
    {{"SMA_SYMMETRIC_SIZE=1k", "SHMEM_SYMMETRIC_SIZE=2k"}, NULL, {0}, "two names of one setting"},
};

START_TEST(partitions_come_from_all_sources)
{
    int count;
    if (families[_i].file != NULL) {
        write_file("hotlane.conf", families[_i].file);
    }
    for (int i = 0; families[_i].env[i] != NULL; i++) {
        ck_assert_int_eq(putenv((char *)(uintptr_t)families[_i].env[i]), 0);
    }
    int rc = hl_conf_load();
    if (families[_i].error != NULL) {
        ck_assert_int_eq(rc, HL_ERR_ARG);
        ck_assert_msg(strstr(hl_err_text(rc), families[_i].error) != NULL, "%s", hl_err_text(rc));
        return;
    }
    ck_assert_msg(rc == 0, "%s", hl_err_text(rc));
    const struct hl_part *parts = hl_part_all(&count);
    for (int i = 0; i < count; i++) {
        ck_assert_int_eq(parts[i].id, families[_i].ids[i]);
        ck_assert_ptr_nonnull(strstr(parts[i].name, "_SYMMETRIC_PARTITION"));
        ck_assert_msg(parts[i].id != 7 || parts[i].size == 1 << 20, "the environment wins");
    }
    ck_assert_int_eq(families[_i].ids[count], 0);
    ck_assert_ptr_null(hl_conf_note(0));
}
END_TEST

START_TEST(old_spellings_and_switches_of_shmem)
{
    setenv("SMA_SYMMETRIC_SIZE", "1.5kB", 1);
    setenv("SMA_INFO", "please", 1);
    setenv("SHMEM_VERSION", "0", 1);
    setenv("SHMEM_DEBUG", "1", 1);
    ck_assert_int_eq(hl_conf_load(), 0);
    ck_assert_uint_eq(hl_conf.shmem_size, 1536);
    ck_assert_int_eq(hl_conf.shmem_info, 1);
    ck_assert_int_eq(hl_conf.shmem_version, 0);
    ck_assert_int_eq(hl_conf.mem_report, 2);
    ck_assert_str_eq(row("HOTLANE_MEM_REPORT")->origin, "SHMEM_INFO");
    ck_assert_str_eq(row("HOTLANE_LOG")->value, "debug");
    ck_assert_ptr_null(hl_conf_note(0));
}
END_TEST
