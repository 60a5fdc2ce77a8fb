/* conf: values are taken whole or refused with what is allowed. */
#include "unit.h"

#include "conf.h"
#include "err.h"

#include <string.h>

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
    ck_assert_int_eq(hl_conf_parse_size("2MB", &n), HL_ERR_ARG);
    ck_assert_int_eq(hl_conf_parse_size("-1", &n), HL_ERR_ARG);
    ck_assert_int_eq(hl_conf_parse_size("", &n), HL_ERR_ARG);
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

START_TEST(zero_switches_off)
{
    int on = 1;
    ck_assert_int_eq(hl_conf_parse(row("HOTLANE_STATS"), "0", &on), 0);
    ck_assert_int_eq(on, 0);
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

static Suite *conf_suite(void)
{
    Suite *s = suite_create("conf");
    TCase *c = tcase_create("conf");
    tcase_add_test(c, sizes_take_suffixes);
    tcase_add_test(c, a_refusal_names_variable_value_and_choices);
    tcase_add_test(c, zero_switches_off);
    tcase_add_test(c, every_default_obeys_its_own_rule);
    suite_add_tcase(s, c);
    return s;
}

UNIT_MAIN(conf_suite)
