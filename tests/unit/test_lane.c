/* Leases are exclusive, and a waiting thread is overtaken at most once by each other thread. */
#include "inner.h"
#include "unit.h"

#include <pthread.h>
#include <sched.h>

static struct hl_lease lease;
static int inside;

static HL_NO_TSA void *contend(void *arg)
{
    uint32_t id = (uint32_t)(uintptr_t)arg + 1;
    for (int i = 0; i < 20000; i++) {
        bool wanting = false;
        for (int tries = 0;; tries++) {
            if (wanting ? hl_lease_try_wanted(&lease) : hl_lease_try(&lease)) {
                break;
            }
            if (!wanting && tries > 4) {
                wanting = hl_lease_want(&lease, id);
            }
            sched_yield();
        }
        if (wanting) {
            hl_lease_unwant(&lease);
        }
        ck_assert_int_eq(inside++, 0);
        inside--;
        (void)hl_lease_leave(&lease);
    }
    return NULL;
}

START_TEST(a_lease_is_exclusive)
{
    pthread_t t[8];
    for (uintptr_t i = 0; i < 8; i++) {
        pthread_create(&t[i], NULL, contend, (void *)i);
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(t[i], NULL);
    }
    ck_assert_uint_eq(hl_a32_load_relaxed(&lease.wanted), 0);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *s = suite_create("lane");
    TCase *t = tcase_create("lane");
    tcase_set_timeout(t, 100);
    tcase_add_test(t, a_lease_is_exclusive);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(make_suite)
