/* A launcher that is slow, or asked by several threads. Part of test_boot.c. */
#ifndef BOOT_LAUNCHER_H
#define BOOT_LAUNCHER_H

#include <pthread.h>
#include <stdint.h>

static void launcher_says(int end, const char *lines)
{
    ck_assert_int_eq(write(end, lines, strlen(lines)), (ssize_t)strlen(lines));
}

/* The launcher was too slow. Its answer comes when nobody asks, before another answer, or never. */
START_TEST(an_answer_that_comes_too_late_is_passed_over)
{
    char env[3][32];
    struct hl_boot_job job;
    const struct hl_boot_method *m;
    int rank, code, number, end = canned_launcher(env, hello);
    ck_assert_int_eq(hl_boot_choose("auto", fake_env, &m, &job), 0);
    hl_pmi1_wait_ms = 20;
    ck_assert_int_eq(m->appnum(&number), HL_ERR_OTHER);
    launcher_says(end, "cmd=appnum appnum=3\n");
    ck_assert_int_eq(m->watch_take(&rank, &code), 0);
    ck_assert_int_eq(m->appnum(&number), HL_ERR_OTHER);
    launcher_says(end, "cmd=appnum appnum=3\ncmd=barrier_out rc=0\n");
    ck_assert_int_eq(m->fence(-1, NULL, NULL), 0);
    ck_assert_int_eq(m->appnum(&number), HL_ERR_OTHER);
    launcher_says(end, "cmd=barrier_out rc=0\n");
    ck_assert_int_eq(m->fence(-1, NULL, NULL), 0);
    launcher_says(end, "cmd=barrier_out rc=0\n"); /* what nobody has asked for is an error as before */
    ck_assert_int_eq(m->watch_take(&rank, &code), HL_ERR_OTHER);
}
END_TEST

static void *enter_fence(void *method)
{
    const struct hl_boot_method *m = method;
    ck_assert_int_eq(m->fence(-1, NULL, NULL), 0);
    return NULL;
}

/* The receive thread asks so. */
START_TEST(a_value_is_not_waited_for_while_another_thread_is_in_a_fence)
{
    char env[3][32], asked[512] = "", value[16] = "";
    struct hl_boot_job job;
    const struct hl_boot_method *m;
    pthread_t t;
    int end = canned_launcher(env, hello);
    ck_assert_int_eq(hl_boot_choose("auto", fake_env, &m, &job), 0);
    ck_assert_int_eq(pthread_create(&t, NULL, enter_fence, (void *)(uintptr_t)m), 0);
    for (size_t n = 0; strstr(asked, "cmd=barrier_in") == NULL;) {
        ssize_t more = read(end, asked + n, sizeof asked - 1 - n);
        ck_assert_int_gt((int)more, 0);
        n += (size_t)more;
    }
    ck_assert_int_eq(m->get(2, "key", value, sizeof value, false), HL_ERR_AGAIN);
    launcher_says(end, "cmd=barrier_out rc=0\n");
    pthread_join(t, NULL);
    launcher_says(end, "cmd=get_result rc=0 value=ours\n");
    ck_assert_int_eq(m->get(2, "key", value, sizeof value, false), 0);
    ck_assert_str_eq(value, "ours");
}
END_TEST

static void add_launcher(TCase *tc)
{
    tcase_add_test(tc, an_answer_that_comes_too_late_is_passed_over);
    tcase_add_test(tc, a_value_is_not_waited_for_while_another_thread_is_in_a_fence);
}

#endif
