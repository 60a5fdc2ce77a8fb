/* conf: values are taken whole or refused with what is allowed. */
#include "unit.h"

#include "conf.h"
#include "conf_internal.h"
#include "err.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct hl_var *row(const char *name)
{
    size_t count;
    const struct hl_var *v = hl_conf_vars(&count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(v[i].name, name) == 0) {
            return &v[i];
        }
    }
    return NULL;
}

START_TEST(sizes_take_suffixes)
{
    uint64_t n;
    ck_assert_int_eq(hl_conf_parse_size("64K", &n), 0);
    ck_assert_uint_eq(n, 65536);
    ck_assert_int_eq(hl_conf_parse_size("1.5m", &n), 0);
    ck_assert_uint_eq(n, 1572864);
    ck_assert_int_eq(hl_conf_parse_size("3.1M", &n), 0);
    ck_assert_uint_eq(n, 3250585);
    ck_assert_int_eq(hl_conf_parse_size("9007199254740993", &n), 0); /* more than a double holds */
    ck_assert_uint_eq(n, 9007199254740993);
    static const char *const same[] = {"4K", "4k", "4KB", "4kb", "4KiB", "4.0KB", "4096"};
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        ck_assert_int_eq(hl_conf_parse_size(same[i], &n), 0);
        ck_assert_uint_eq(n, 4096);
    }
    ck_assert_int_eq(hl_conf_parse_size("128MB", &n), 0); /* as the papers write it */
    ck_assert_uint_eq(n, UINT64_C(128) << 20);
    static const char *const bad[] = {"2MBB",
                                      "2Mi",
                                      "2B",
                                      "2iB",
                                      "-1",
                                      "",
                                      "1e3",
                                      "0x10",
                                      "1.",
                                      ".5",
                                      "1.5.5",
                                      "K",
                                      " 1",
                                      "1 K",
                                      "+1",
                                      "1KK",
                                      "1,5M",
                                      "nan",
                                      "9007199254740993G",
                                      "8388608T",
                                      "99999999999999999999",
                                      "0.99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_msg(hl_conf_parse_size(bad[i], &n) == HL_ERR_ARG, "%s", bad[i]);
    }
}
END_TEST

START_TEST(a_refusal_names_variable_value_and_choices)
{
    int64_t n;
    ck_assert_int_eq(hl_conf_parse(row("HOTLANE_LANES"), "65", &n), HL_ERR_ARG);
    ck_assert_str_eq(hl_err_text(HL_ERR_ARG), "HOTLANE_LANES=65: expected a whole number from 0 to 64");
    int level;
    ck_assert_int_eq(hl_conf_parse(row("HOTLANE_LOG"), "loud", &level), HL_ERR_ARG);
    ck_assert_str_eq(hl_err_text(HL_ERR_ARG), "HOTLANE_LOG=loud: expected one of error|warn|info|debug");
}
END_TEST

START_TEST(whole_numbers_are_digits_and_powers_are_powers)
{
    static const struct {
        const char *name, *value, *expected;
    } bad[] = {
        {"HOTLANE_LANES", "-1", "a whole number from 0 to 64"},
        {"HOTLANE_LANES", "+1", "a whole number from 0 to 64"},
        {"HOTLANE_LANES", " 1", "a whole number from 0 to 64"},
        {"HOTLANE_LANES", "99999999999999999999", "a whole number from 0 to 64"},
        {"HOTLANE_RING", "9", "a power of two from 8 to 1024"},
        {"HOTLANE_RING", "4", "a power of two from 8 to 1024"},
        {"HOTLANE_RING", "2048", "a power of two from 8 to 1024"},
        {"HOTLANE_INBOXES", "3", "0 or a power of two from 0 to 16"},
        {"HOTLANE_CHAIN", "65537",
         "a number of bytes (K, M, G, T may follow), at least 0, at most 65536, or auto"},
        {"HOTLANE_READ_MIN", "auto", "a number of bytes (K, M, G, T may follow), at least 0"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int64_t n;
        char said[200];
        ck_assert_int_eq(hl_conf_parse(row(bad[i].name), bad[i].value, &n), HL_ERR_ARG);
        snprintf(said, sizeof said, "%s=%s: expected %s", bad[i].name, bad[i].value, bad[i].expected);
        ck_assert_str_eq(hl_err_text(HL_ERR_ARG), said);
    }
    int64_t n = -1;
    ck_assert_int_eq(hl_conf_parse(row("HOTLANE_RING"), "8", &n), 0);
    ck_assert_int_eq(n, 8);
    ck_assert_int_eq(hl_conf_parse(row("HOTLANE_INBOXES"), "0", &n), 0);
    ck_assert_int_eq(n, 0);
}
END_TEST

START_TEST(zero_switches_off)
{
    int on = 1;
    ck_assert_int_eq(hl_conf_parse(row("HOTLANE_ENV_NOTICE"), "0", &on), 0);
    ck_assert_int_eq(on, 0);
}
END_TEST

START_TEST(a_switch_is_off_on_or_auto)
{
    static const char *const good[] = {"0", "no", "off", "False", "1", "true", "yes", "ON", "auto", "Auto"};
    static const char *const bad[] = {"", "-1", "auto ", "automatic", "no|yes", "2"};
    const struct hl_var *small = row("HOTLANE_SMALL");
    enum hl_conf_switch value, automatic = HL_CONF_AUTO;
    int none = HL_CONF_AUTO + 1;
    for (unsigned i = 0; i < sizeof good / sizeof good[0]; i++) {
        ck_assert_msg(hl_conf_parse(small, good[i], &value) == 0, "%s", good[i]);
        ck_assert_uint_eq(value, i / 4); /* four words for no, four for yes */
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_msg(hl_conf_parse(small, bad[i], &value) == HL_ERR_ARG, "%s", bad[i]);
    }
    ck_assert_str_eq(hl_err_text(HL_ERR_ARG),
                     "HOTLANE_SMALL=2: expected 1, 0, yes, no, on, off, true, false or auto");
    ck_assert_int_eq(hl_conf_put(small, &none), HL_ERR_ARG);
    ck_assert_int_eq(hl_conf_put(small, &automatic), 0);
    ck_assert_str_eq(small->value, "auto");
    ck_assert_uint_eq(hl_conf.small, HL_CONF_AUTO);
}
END_TEST

START_TEST(node_lists)
{
    uint64_t set;
    ck_assert_int_eq(hl_conf_parse_nodes("8-15", 0, &set), 0);
    ck_assert_uint_eq(set, 0xff00);
    ck_assert_int_eq(hl_conf_parse_nodes("1,3,5-6", 0, &set), 0);
    ck_assert_uint_eq(set, 0x6a);
    ck_assert_int_eq(hl_conf_parse_nodes("All", 5, &set), 0);
    ck_assert_uint_eq(set, 5);
    ck_assert_int_eq(hl_conf_parse_nodes("63", 0, &set), 0);
    static const char *const bad[] = {
        "", "a", "1,", ",1", "3-1", "64", "-1", "1 2", "1-", "99999999999999999999", "all,1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_msg(hl_conf_parse_nodes(bad[i], 0, &set) == HL_ERR_ARG, "%s", bad[i]);
    }
    const char *text;
    ck_assert_int_eq(hl_conf_parse(row("HOTLANE_FASTMEM_NODES"), "", &text), 0);
    ck_assert_int_eq(hl_conf_parse(row("HOTLANE_FASTMEM_NODES"), "1,x", &text), HL_ERR_ARG);
    ck_assert_str_eq(hl_err_text(HL_ERR_ARG),
                     "HOTLANE_FASTMEM_NODES=1,x: expected node numbers as in 8-15 or 1,3, or all");
}
END_TEST

START_TEST(page_sizes_are_words_or_bytes)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {{"4K", 4096},     {"2m", 2 << 20},          {"2097152", 2 << 20}, {"512M", 512u << 20},
                {"1g", 1u << 30}, {"1073741824", 1u << 30}, {"4096", 4096},       {"128m", 128u << 20},
                {"4KB", 4096},    {"2MiB", 2 << 20},        {"128MB", 128u << 20}};
    static const char *const bad[] = {
        "",    "2",   "3M",    "2Mb2",   "0",  "2M|4M", "2.0M",  "2097153",
        "-4K", "4 K", "+4096", "0x1000", "1T", "|",     "4097K", "99999999999999999999"};
    uint64_t bytes = 0;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        ck_assert_msg(hl_conf_parse(row("MPICH_ALLOC_MEM_PG_SZ"), good[i].text, &bytes) == 0, "%s",
                      good[i].text);
        ck_assert_uint_eq(bytes, good[i].bytes);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_msg(hl_conf_parse(row("MPICH_ALLOC_MEM_PG_SZ"), bad[i], &bytes) == HL_ERR_ARG, "%s",
                      bad[i]);
    }
    ck_assert_int_eq(hl_conf_parse(row("MPICH_ALLOC_MEM_PG_SZ"), "3M", &bytes), HL_ERR_ARG);
    ck_assert_str_eq(hl_err_text(HL_ERR_ARG), "MPICH_ALLOC_MEM_PG_SZ=3M: expected one of "
                                              "4K|2M|4M|8M|16M|32M|64M|128M|256M|512M|1G, or that in bytes");
}
END_TEST

START_TEST(a_row_is_found_by_its_field)
{
    ck_assert_ptr_eq(hl_conf_var_of(&hl_conf.mem_policy), row("MPICH_ALLOC_MEM_POLICY"));
    ck_assert_ptr_eq(hl_conf_var_of(&hl_conf.log), row("HOTLANE_LOG"));
}
END_TEST

START_TEST(a_program_gives_values_by_the_same_rules)
{
    const struct hl_var *wait = hl_conf_var_of(&hl_conf.peer_timeout),
                        *mode = hl_conf_var_of(&hl_conf.rma_mode);
    int64_t seconds = 77, many = 86401;
    int word = 2, none = 3;
    char text[16];
    uint64_t automatic = UINT64_MAX;
    ck_assert_int_eq(hl_conf_load(), 0);
    ck_assert_int_eq(hl_conf_put(wait, &seconds), 0);
    ck_assert_int_eq(hl_conf.peer_timeout, 77);
    ck_assert_str_eq(wait->value, "77");
    ck_assert_str_eq(wait->origin, "program");
    ck_assert_int_eq(hl_conf_put(wait, &many), HL_ERR_ARG);
    ck_assert_int_eq(hl_conf.peer_timeout, 77);
    ck_assert_int_eq(hl_conf_put(mode, &word), 0);
    ck_assert_str_eq(mode->value, "enqueue");
    ck_assert_int_eq(hl_conf_put(mode, &none), HL_ERR_ARG);
    ck_assert_int_eq(hl_conf_word(mode, 1, text, sizeof text), 0);
    ck_assert_str_eq(text, "global");
    ck_assert_int_eq(hl_conf_put(hl_conf_var_of(&hl_conf.chain), &automatic), 0);
    ck_assert_uint_eq(hl_conf.chain, UINT64_MAX);
    ck_assert_int_eq(hl_conf_put(hl_conf_var_of(&hl_conf.provider), "tcp"), HL_ERR_ARG);
}
END_TEST

START_TEST(every_default_obeys_its_own_rule)
{
    size_t count;
    const struct hl_var *v = hl_conf_vars(&count);
    for (size_t i = 0; i < count; i++) {
        uint64_t out[2];
        ck_assert_msg(hl_conf_parse(&v[i], v[i].fallback, out) == 0, "%s", v[i].name);
    }
}
END_TEST

/* ---- files; each test has a process of its own, so that hl_conf_load runs anew ---- */

static char dir[] = "/tmp/hl-conf-XXXXXX";

static const char *in_dir(const char *name)
{
    static char path[64];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static void write_file(const char *name, const char *text)
{
    FILE *f = fopen(in_dir(name), "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

static void in_fresh_folder(void)
{
    ck_assert_ptr_nonnull(mkdtemp(dir));
    setenv("XDG_CONFIG_HOME", dir, 1);
    unsetenv("HOTLANE_CONF");
}

static void remove_folder(void)
{
    unlink(in_dir("hotlane.conf"));
    unlink(in_dir("other"));
    unlink(in_dir(".config/hotlane.conf"));
    rmdir(in_dir(".config"));
    rmdir(dir);
}

START_TEST(the_environment_beats_the_file_beats_the_default)
{
    write_file("hotlane.conf", "# mine\n\n  HOTLANE_LANES = 3 \r\nHOTLANE_PORTS=4\nHOTLANE_PROVIDER=a=b\n"
                               "HOTLANE_LANES=5");
    setenv("HOTLANE_PORTS", "8", 1);
    ck_assert_int_eq(hl_conf_load(), 0);
    ck_assert_int_eq(hl_conf.lanes, 5);
    ck_assert_int_eq(hl_conf.ports, 8);
    ck_assert_str_eq(hl_conf.provider, "a=b");
    ck_assert_str_eq(row("HOTLANE_LANES")->origin, in_dir("hotlane.conf"));
    ck_assert_str_eq(row("HOTLANE_LANES")->value, "5");
    ck_assert_str_eq(row("HOTLANE_PORTS")->origin, "environment");
    ck_assert_str_eq(row("HOTLANE_STATS")->origin, "default");
    ck_assert_ptr_null(hl_conf_note(0));
}
END_TEST

START_TEST(home_has_a_configuration_folder)
{
    unsetenv("XDG_CONFIG_HOME");
    setenv("HOME", dir, 1);
    ck_assert_int_eq(mkdir(in_dir(".config"), 0700), 0);
    write_file(".config/hotlane.conf", "HOTLANE_LANES=6\n");
    ck_assert_int_eq(hl_conf_load(), 0);
    ck_assert_int_eq(hl_conf.lanes, 6);
}
END_TEST

START_TEST(a_named_file_replaces_both)
{
    write_file("hotlane.conf", "HOTLANE_LANES=3\n");
    write_file("other", "HOTLANE_PORTS=2\n");
    setenv("HOTLANE_CONF", in_dir("other"), 1);
    ck_assert_int_eq(hl_conf_load(), 0);
    ck_assert_int_eq(hl_conf.lanes, 0);
    ck_assert_int_eq(hl_conf.ports, 2);
}
END_TEST

START_TEST(an_empty_name_means_no_file)
{
    write_file("hotlane.conf", "HOTLANE_LANES=3\n");
    setenv("HOTLANE_CONF", "", 1);
    ck_assert_int_eq(hl_conf_load(), 0);
    ck_assert_int_eq(hl_conf.lanes, 0);
}
END_TEST

static const struct {
    const char *text, *words;
} bad_files[] = {
    {"HOTLANE_LANES=3\nHOTLANE_PORTS=x\n", "hotlane.conf:2: HOTLANE_PORTS=x: expected a power of two"},
    {"HOTLANE_LANES\n", "hotlane.conf:1: expected NAME=value"},
    {"=3", "hotlane.conf:1: expected NAME=value"},
    {"export HOTLANE_LANES=3", "hotlane.conf:1: expected NAME=value"},
    {"HOTLANE_CONF=/x", "hotlane.conf:1: HOTLANE_CONF is for the environment"},
};

START_TEST(a_bad_line_is_an_error_with_file_and_line)
{
    write_file("hotlane.conf", bad_files[_i].text);
    ck_assert_int_eq(hl_conf_load(), HL_ERR_ARG);
    ck_assert_int_eq(hl_conf_load(), HL_ERR_ARG);
    ck_assert_msg(strstr(hl_err_text(HL_ERR_ARG), bad_files[_i].words) != NULL, "%s",
                  hl_err_text(HL_ERR_ARG));
}
END_TEST

START_TEST(a_named_file_must_be_there)
{
    setenv("HOTLANE_CONF", "/nonexistent/file", 1);
    ck_assert_int_eq(hl_conf_load(), HL_ERR_ARG);
    ck_assert_str_eq(hl_err_text(HL_ERR_ARG), "HOTLANE_CONF=/nonexistent/file: there is no such file");
}
END_TEST

/* ---- names ---- */

START_TEST(unknown_names_are_noted_with_what_was_meant)
{
    write_file("hotlane.conf", "FI_PROVIDER=tcp\n");
    setenv("HOTLANE_LANE", "1", 1);
    setenv("HOTLANE_PROVIDRE", "1", 1);
    setenv("MPICH_ALLOC_NOTHING", "1", 1);
    setenv("HOTLANE_CC", "gcc", 1);
    ck_assert_int_eq(hl_conf_load(), 0);
    const char *line;
    int seen = 0;
    for (int i = 0; (line = hl_conf_note(i)) != NULL; i++) {
        seen += strcmp(line, "HOTLANE_LANE is not a variable of this library and has no effect; did you mean "
                             "HOTLANE_LANES?") == 0;
        seen += strstr(line, "did you mean HOTLANE_PROVIDER?") != NULL;
        seen += strcmp(line, "MPICH_ALLOC_NOTHING is not a variable of this library and has no effect") == 0;
        seen += strstr(line, "hotlane.conf:1: FI_PROVIDER is not a variable") != NULL;
        ck_assert_ptr_null(strstr(line, "HOTLANE_CC"));
    }
    ck_assert_int_eq(seen, 4);
}
END_TEST

START_TEST(notes_without_room_are_counted)
{
    char name[32];
    int n = 0;
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "HOTLANE_%d_IS_NONE", i);
        setenv(name, "1", 1);
    }
    ck_assert_int_eq(hl_conf_load(), 0);
    while (hl_conf_note(n) != NULL) {
        n++;
    }
    ck_assert_str_eq(hl_conf_note(n - 1), "4 more such lines are left out");
}
END_TEST

START_TEST(the_nearest_name_is_one_slip_away)
{
    ck_assert_str_eq(hl_conf_nearest("HOTLANE_LANES"), "HOTLANE_LANES");
    ck_assert_str_eq(hl_conf_nearest("HOTLANE_LNAES"), "HOTLANE_LANES");
    ck_assert_str_eq(hl_conf_nearest("HOTLANE_STAT"), "HOTLANE_STATS");
    ck_assert_str_eq(hl_conf_nearest("HOTLINE_STATS"), "HOTLANE_STATS");
    ck_assert_str_eq(hl_conf_nearest("HOTLANE_OLG"), "HOTLANE_LOG");
    ck_assert_str_eq(hl_conf_nearest("HOTLANE_lnaes"), "HOTLANE_LANES");
    ck_assert_ptr_null(hl_conf_nearest("HOTLANE_FOO"));
    ck_assert_ptr_null(hl_conf_nearest("HOTLANE_A"));
    ck_assert_ptr_null(hl_conf_nearest("HOTLANE_"));
    ck_assert_ptr_null(hl_conf_nearest("MPICH_ASYNC_PROGRESS"));
    ck_assert_ptr_null(
        hl_conf_nearest("HOTLANE_WHICH_IS_MUCH_LONGER_THAN_ANY_NAME_THAT_WE_HAVE_IN_THE_TABLE"));
}
END_TEST

/* ---- old names ---- */

static const struct {
    const char *env[4]; /* NAME=value */
    uint64_t page;
    const char *note; /* NULL: none */
} old_names[] = {
    {{"MPICH_ALLOC_MEM_HUGE_PAGES=1"},
     2 << 20,
     "MPICH_ALLOC_MEM_HUGE_PAGES is an old name: write MPICH_ALLOC_MEM_PG_SZ=2M"},
    {{"MPICH_ALLOC_MEM_HUGE_PG_SZ=16m"},
     16 << 20,
     "MPICH_ALLOC_MEM_HUGE_PG_SZ is an old name: write MPICH_ALLOC_MEM_PG_SZ=16m"},
    {{"MPICH_ALLOC_MEM_HUGE_PAGES=yes", "MPICH_ALLOC_MEM_HUGE_PG_SZ=512M"},
     512 << 20,
     "MPICH_ALLOC_MEM_HUGE_PG_SZ is an old name: write MPICH_ALLOC_MEM_PG_SZ=512M"},
    {{"MPICH_ALLOC_MEM_HUGE_PAGES=0", "MPICH_ALLOC_MEM_HUGE_PG_SZ=512M"},
     4096,
     "MPICH_ALLOC_MEM_HUGE_PG_SZ is an old name: write MPICH_ALLOC_MEM_PG_SZ=4K"},
    {{"MPICH_ALLOC_MEM_HUGE_PAGES=1", "MPICH_ALLOC_MEM_PG_SZ=4K"},
     4096,
     "MPICH_ALLOC_MEM_HUGE_PAGES is an old name: MPICH_ALLOC_MEM_PG_SZ=4K is set too and wins"},
    {{"MPICH_ALLOC_MEM_PG_SZ=64M", "MPICH_ASYNC_PROGRESS=1"}, 64 << 20, NULL},
};

START_TEST(old_names_set_the_page_size_with_one_note)
{
    for (int i = 0; old_names[_i].env[i] != NULL; i++) {
        ck_assert_int_eq(putenv((char *)(uintptr_t)old_names[_i].env[i]), 0);
    }
    ck_assert_int_eq(hl_conf_load(), 0);
    ck_assert_uint_eq(hl_conf.mem_page, old_names[_i].page);
    if (old_names[_i].note == NULL) {
        ck_assert_ptr_null(hl_conf_note(0));
        return;
    }
    ck_assert_str_eq(hl_conf_note(0), old_names[_i].note);
    ck_assert_ptr_null(hl_conf_note(1));
}
END_TEST

START_TEST(a_file_without_what_goes_there_is_noted)
{
    setenv("HOTLANE_STATS_FILE", "figures", 1);
    setenv("HOTLANE_STATS", _i == 0 ? "1" : "json", 1);
    ck_assert_int_eq(hl_conf_load(), 0);
    if (_i == 0) {
        ck_assert_str_eq(hl_conf_note(0),
                         "HOTLANE_STATS_FILE=figures has no effect with HOTLANE_STATS=1: write "
                         "HOTLANE_STATS=json");
    } else {
        ck_assert_ptr_null(hl_conf_note(0));
    }
}
END_TEST

static const struct lanes_case {
    const char *lanes, *name, *value; /* what is set */
    bool noted;
} lanes_cases[] = {
    {"8", "HOTLANE_RMA_MODE", "global", true}, {"8", "HOTLANE_RMA_MODE", "enqueue", true},
    {"8", "HOTLANE_RMA_MODE", "hot", false},   {"8", "HOTLANE_CS", "none", true},
    {"8", "HOTLANE_CS", "Global", true},       {"8", "HOTLANE_CS", "brief", true},
    {"8", "HOTLANE_CS", "object", false},      {"1", "HOTLANE_CS", "global", false},
};

START_TEST(lanes_of_a_mode_that_uses_one_are_noted)
{
    const struct lanes_case *c = &lanes_cases[_i];
    char want[128];
    setenv("HOTLANE_LANES", c->lanes, 1);
    setenv(c->name, c->value, 1);
    ck_assert_int_eq(hl_conf_load(), 0);
    if (!c->noted) {
        ck_assert_ptr_null(hl_conf_note(0));
        return;
    }
    snprintf(want, sizeof want, "HOTLANE_LANES=%s has no effect with %s=%s, which uses one lane", c->lanes,
             c->name, c->value);
    ck_assert_str_eq(hl_conf_note(0), want);
    ck_assert_ptr_null(hl_conf_note(1));
}
END_TEST

START_TEST(env_display_asks_for_all_lines_about_memory)
{
    setenv("MPICH_ENV_DISPLAY", "1", 1);
    ck_assert_int_eq(hl_conf_load(), 0);
    ck_assert_int_eq(hl_conf.mem_report, 2);
    ck_assert_str_eq(row("HOTLANE_MEM_REPORT")->origin, "MPICH_ENV_DISPLAY");
}
END_TEST

START_TEST(our_own_name_beats_env_display)
{
    setenv("MPICH_ENV_DISPLAY", "1", 1);
    setenv("HOTLANE_MEM_REPORT", "0", 1);
    ck_assert_int_eq(hl_conf_load(), 0);
    ck_assert_int_eq(hl_conf.mem_report, 0);
}
END_TEST

START_TEST(env_display_0_changes_nothing)
{
    setenv("MPICH_ENV_DISPLAY", "0", 1);
    ck_assert_int_eq(hl_conf_load(), 0);
    ck_assert_int_eq(hl_conf.mem_report, 1);
}
END_TEST

#include "conf_carried.h"

/* ---- prefix ---- */

START_TEST(the_prefix_moves_with_the_library)
{
    static const struct {
        const char *library, *libdir, *prefix;
    } rows[] = {
        {"/opt/hl/lib/libhotlane.so.0", "lib", "/opt/hl"},
        {"/opt/hl/lib/x86_64-linux-gnu/libhotlane.so.0.0.0", "lib/x86_64-linux-gnu", "/opt/hl"},
        {"/srv/a b/lib/libhotlane.so.0", "lib", "/srv/a b"},
        {"/lib/libhotlane.so.0", "lib", "/"},
        {"/src/build/lib/libhotlane.so.0", "lib/x86_64-linux-gnu", "/built"},
        {"/src/mylib/libhotlane.so.0", "lib", "/built"},
        {"program", "lib", "/built"},
        {"", "lib", "/built"},
    };
    char out[64];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ck_assert(hl_conf_prefix_of(rows[i].library, rows[i].libdir, "/built", out, sizeof out));
        ck_assert_str_eq(out, rows[i].prefix);
    }
    ck_assert(!hl_conf_prefix_of("/opt/hl/lib/libhotlane.so.0", "lib", "/built", out, 4));
}
END_TEST

#include "conf_lent.h"
#include "conf_part.h"

static Suite *conf_suite(void)
{
    Suite *s = suite_create("conf");
    TCase *c = tcase_create("conf");
    tcase_add_test(c, sizes_take_suffixes);
    tcase_add_test(c, a_refusal_names_variable_value_and_choices);
    tcase_add_test(c, whole_numbers_are_digits_and_powers_are_powers);
    tcase_add_test(c, zero_switches_off);
    tcase_add_test(c, a_switch_is_off_on_or_auto);
    tcase_add_test(c, node_lists);
    tcase_add_test(c, page_sizes_are_words_or_bytes);
    tcase_add_test(c, a_program_gives_values_by_the_same_rules);
    tcase_add_test(c, a_row_is_found_by_its_field);
    tcase_add_test(c, every_default_obeys_its_own_rule);
    tcase_add_test(c, the_nearest_name_is_one_slip_away);
    tcase_add_test(c, notes_without_room_are_counted);
    tcase_add_test(c, the_prefix_moves_with_the_library);
    tcase_add_test(c, lent_variables_go_away_again);
    tcase_add_test(c, equal_environments_are_lent_in_one_array);
    tcase_add_loop_test(c, variables_lent_to_two_threads_go_away_again, 0, 2);
    tcase_add_test(c, heap_sizes_are_the_standards);
    tcase_add_test(c, partitions_are_taken_in_any_order_and_case);
    tcase_add_test(c, partitions_are_refused_with_the_reason);
    suite_add_tcase(s, c);
    TCase *f = tcase_create("files");
    tcase_add_checked_fixture(f, in_fresh_folder, remove_folder);
    tcase_add_test(f, the_environment_beats_the_file_beats_the_default);
    tcase_add_test(f, home_has_a_configuration_folder);
    tcase_add_test(f, a_named_file_replaces_both);
    tcase_add_test(f, an_empty_name_means_no_file);
    tcase_add_loop_test(f, a_bad_line_is_an_error_with_file_and_line, 0,
                        (int)(sizeof bad_files / sizeof bad_files[0]));
    tcase_add_test(f, a_named_file_must_be_there);
    tcase_add_test(f, unknown_names_are_noted_with_what_was_meant);
    tcase_add_loop_test(f, old_names_set_the_page_size_with_one_note, 0,
                        (int)(sizeof old_names / sizeof old_names[0]));
    tcase_add_loop_test(f, a_file_without_what_goes_there_is_noted, 0, 2);
    tcase_add_loop_test(f, lanes_of_a_mode_that_uses_one_are_noted, 0,
                        (int)(sizeof lanes_cases / sizeof lanes_cases[0]));
    tcase_add_test(f, env_display_asks_for_all_lines_about_memory);
    tcase_add_test(f, our_own_name_beats_env_display);
    tcase_add_test(f, env_display_0_changes_nothing);
    tcase_add_loop_test(f, partitions_come_from_all_sources, 0, (int)(sizeof families / sizeof families[0]));
    tcase_add_test(f, old_spellings_and_switches_of_shmem);
    tcase_add_test(f, every_row_of_others_is_reached);
    tcase_add_loop_test(f, what_becomes_of_others_variables, 0, (int)(sizeof carried / sizeof carried[0]));
    tcase_add_loop_test(f, others_names_of_the_heap_give_its_size, 0, 3);
    suite_add_tcase(s, f);
    return s;
}

UNIT_MAIN(conf_suite)
