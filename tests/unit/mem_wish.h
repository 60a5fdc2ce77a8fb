/* What is asked of memory: by variables, by info keys over them. Included by test_mem.c. */
#ifndef HL_MEM_WISH_TESTS_H
#define HL_MEM_WISH_TESTS_H

#include "conf.h"
#include "err.h"
#include "wish.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each test has a process of its own. */
static struct hl_mem_wish wish_under(const char *kind, const char *page, const char *policy)
{
    struct hl_mem_wish w;
    setenv("HOTLANE_CONF", "", 1);
    setenv("MPICH_ALLOC_MEM_AFFINITY", kind, 1);
    setenv("MPICH_ALLOC_MEM_PG_SZ", page, 1);
    setenv("MPICH_ALLOC_MEM_POLICY", policy, 1);
    ck_assert_int_eq(hl_conf_load(), 0);
    hl_mem_wish_of_env(&w);
    return w;
}

static const struct {
    const char *kind, *page, *policy;
    struct hl_mem_wish want;
} env_wishes[] = {
    {"SYS_DEFAULT", "4K", "P", {HL_MEM_ANY, HL_MEM_PREFERRED, 0, false}},
    {"mcdram", "2M", "m", {HL_MEM_FAST, HL_MEM_MANDATORY, 2 << 20, false}},
    {"Hbm", "1g", "Mandatory", {HL_MEM_FAST, HL_MEM_MANDATORY, 1 << 30, false}},
    {"fast", "16777216", "interleaved", {HL_MEM_FAST, HL_MEM_INTERLEAVED, 16 << 20, false}},
    {"ddr", "512m", "I", {HL_MEM_DDR, HL_MEM_INTERLEAVED, 512 << 20, false}},
    {"DDR", "4096", "interleave", {HL_MEM_DDR, HL_MEM_INTERLEAVED, 0, false}},
    {"DDR", "4k", "preferred", {HL_MEM_DDR, HL_MEM_PREFERRED, 0, false}},
};

START_TEST(variables_make_a_wish)
{
    struct hl_mem_wish w = wish_under(env_wishes[_i].kind, env_wishes[_i].page, env_wishes[_i].policy);
    ck_assert_int_eq(w.kind, env_wishes[_i].want.kind);
    ck_assert_int_eq(w.rule, env_wishes[_i].want.rule);
    ck_assert_uint_eq(w.page, env_wishes[_i].want.page);
    ck_assert(!w.rule_on_base);
}
END_TEST

static const struct {
    const char *name, *value, *allowed;
} refused_vars[] = {
    {"MPICH_ALLOC_MEM_AFFINITY", "HBM2", "SYS_DEFAULT|DDR|MCDRAM|HBM|FAST"},
    {"MPICH_ALLOC_MEM_AFFINITY", "", "MCDRAM|HBM|FAST"},
    {"MPICH_ALLOC_MEM_PG_SZ", "3M", "4K|2M|4M"},
    {"MPICH_ALLOC_MEM_POLICY", "B", "M|Mandatory"},
    {"HOTLANE_MEM_REPORT", "3", "from 0 to 2"},
};

START_TEST(a_variable_that_does_not_parse_is_an_error)
{
    setenv("HOTLANE_CONF", "", 1);
    setenv(refused_vars[_i].name, refused_vars[_i].value, 1);
    ck_assert_int_eq(hl_conf_load(), HL_ERR_ARG);
    char asked[128];
    snprintf(asked, sizeof asked, "%s=%s: ", refused_vars[_i].name, refused_vars[_i].value);
    const char *text = hl_err_text(HL_ERR_ARG);
    ck_assert_msg(strstr(text, asked) == text && strstr(text, refused_vars[_i].allowed) != NULL, "%s", text);
}
END_TEST

START_TEST(keys_win_over_variables)
{
    struct hl_mem_wish w = wish_under("DDR", "2M", "M");
    ck_assert_int_eq(hl_mem_wish_set(&w, "hotlane_mem_kind", "hbm"), 0);
    ck_assert(w.kind == HL_MEM_FAST && w.rule == HL_MEM_MANDATORY && w.page == 2 << 20 && !w.rule_on_base);
    ck_assert_int_eq(hl_mem_wish_set(&w, "mpich_buf_type", "DDR"), 0);
    ck_assert_int_eq(w.kind, HL_MEM_DDR);
    ck_assert_int_eq(hl_mem_wish_set(&w, "hotlane_page_size", "4K"), 0);
    ck_assert_uint_eq(w.page, 4096);
    ck_assert(!w.rule_on_base);
    ck_assert_int_eq(hl_mem_wish_set(&w, "hotlane_mem_policy", "mandatory"), 0);
    ck_assert(w.rule == HL_MEM_MANDATORY && w.rule_on_base);
    ck_assert_int_eq(hl_mem_wish_set(&w, "hotlane_mem_kind", "sys_default"), 0);
    ck_assert_int_eq(w.kind, HL_MEM_ANY);
}
END_TEST

START_TEST(keys_that_do_not_parse_change_nothing)
{
    struct hl_mem_wish w = {HL_MEM_DDR, HL_MEM_INTERLEAVED, 4 << 20, false}, before = w;
    ck_assert_int_eq(hl_mem_wish_set(&w, "mpich_buf_type", "mcdram"), HL_ERR_INFO_VALUE);
    ck_assert_str_eq(hl_err_text(HL_ERR_INFO_VALUE), "mpich_buf_type=mcdram: expected one of ddr|hbm");
    ck_assert_int_eq(hl_mem_wish_set(&w, "hotlane_mem_kind", "cxl"), HL_ERR_INFO_VALUE);
    ck_assert_int_eq(hl_mem_wish_set(&w, "hotlane_page_size", "huge"), HL_ERR_INFO_VALUE);
    ck_assert_str_eq(hl_err_text(HL_ERR_INFO_VALUE),
                     "hotlane_page_size=huge: expected one of 4K|2M|4M|8M|16M|32M|64M|128M|256M|512M|1G, or "
                     "that in bytes");
    ck_assert_int_eq(hl_mem_wish_set(&w, "hotlane_mem_policy", "maybe"), HL_ERR_INFO_VALUE);
    ck_assert_int_eq(hl_mem_wish_set(&w, "no_locks", "true"), HL_ERR_INFO_KEY);
    ck_assert_int_eq(memcmp(&w, &before, sizeof w), 0);
    for (int i = 0; i < HL_MEM_WISH_KEYS; i++) {
        ck_assert_int_eq(hl_mem_wish_set(&w, hl_mem_wish_keys[i], ""), HL_ERR_INFO_VALUE);
    }
}
END_TEST

START_TEST(words_of_a_wish)
{
    ck_assert_str_eq(hl_mem_kind_word(HL_MEM_FAST), "MCDRAM");
    ck_assert_str_eq(hl_mem_rule_word(HL_MEM_INTERLEAVED), "I");
}
END_TEST

static TCase *wish_cases(void)
{
    TCase *c = tcase_create("wish");
    tcase_add_loop_test(c, variables_make_a_wish, 0, (int)(sizeof env_wishes / sizeof env_wishes[0]));
    tcase_add_loop_test(c, a_variable_that_does_not_parse_is_an_error, 0,
                        (int)(sizeof refused_vars / sizeof refused_vars[0]));
    tcase_add_test(c, keys_win_over_variables);
    tcase_add_test(c, keys_that_do_not_parse_change_nothing);
    tcase_add_test(c, words_of_a_wish);
    return c;
}

#endif
