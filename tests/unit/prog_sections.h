/* Who waits within critical sections. Part of test_prog.c. */
#ifndef PROG_SECTIONS_H
#define PROG_SECTIONS_H

/* Turns in the process's one lock. */
struct takers {
    hl_a32 stage; /* atomic: 1 when the first thread is inside, 2 when the second was */
    int inside;   /* guarded by the lock */
};

static bool second_was_inside(void *arg)
{
    struct takers *t = arg;
    return hl_a32_load_acquire(&t->stage) == 2;
}

static void *enter_second(void *arg)
{
    struct takers *t = arg;
    while (hl_a32_load_acquire(&t->stage) == 0) {
        hl_pause();
    }
    hl_cs_enter_process(HL_CS_call);
    t->inside++;
    hl_a32_store_release(&t->stage, 2);
    hl_cs_leave_process();
    return NULL;
}

START_TEST(who_waits_gives_the_one_lock_away)
{
    struct takers t = {.inside = 0};
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, enter_second, &t), 0);
    hl_cs_enter_process(HL_CS_call);
    hl_cs_enter_process(HL_CS_call); /* it nests */
    hl_a32_store_release(&t.stage, 1);
    hl_prog_wait(second_was_inside, &t);
    ck_assert_int_eq(t.inside, 1);
    hl_cs_leave_process();
    hl_cs_leave_process();
    pthread_join(thread, NULL);
}
END_TEST

START_TEST(the_one_lock_excludes)
{
    struct takers t = {.inside = 0};
    pthread_t thread;
    hl_cs_enter_process(HL_CS_call);
    ck_assert_int_eq(pthread_create(&thread, NULL, enter_second, &t), 0);
    hl_a32_store_release(&t.stage, 1);
    for (int i = 0; i < 200000; i++) {
        hl_pause();
        ck_assert_uint_eq(hl_a32_load_acquire(&t.stage), 1);
    }
    hl_cs_leave_process();
    pthread_join(thread, NULL);
    ck_assert_int_eq(t.inside, 1);
}
END_TEST

/* ---- Critical sections ---- */

struct visit {
    enum hl_cs_kind kind;
    struct hl_mutex *object;
    bool entered;
};

static void *visit(void *arg)
{
    struct visit *v = arg;
    v->entered = hl_cs_try(v->kind, v->object);
    if (v->entered) {
        hl_cs_out(v->kind, v->object);
    }
    return NULL;
}

/* Could another thread enter now? */
static bool is_free(enum hl_cs_kind kind, struct hl_mutex *object)
{
    struct visit v = {kind, object, false};
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, visit, &v), 0);
    pthread_join(thread, NULL);
    return v.entered;
}

enum { LOOKS_IN_CALL = 330 }; /* those while it spins and yields, and some around and within naps */

static bool nobody_else_may_enter(void *arg)
{
    int *seen = arg;
    ck_assert(!is_free(HL_CS_call, NULL));
    return ++*seen == LOOKS_IN_CALL;
}

/* What is looked at belongs to the section: only spins, yields and naps are outside. */
START_TEST(conditions_are_looked_at_inside)
{
    static struct hl_prog_door door;
    for (int rung = 0; rung < 2; rung++) {
        struct sleeper s = {{0}, {0}};
        int seen = 0;
        hl_cs_open(HL_CS_GLOBAL, true, false);
        hl_prog_set_door(&door, arm, &s);
        hl_cs_in(HL_CS_call, NULL);
        if (rung) {
            hl_prog_wait_rung(nobody_else_may_enter, &seen);
        } else {
            hl_prog_wait(nobody_else_may_enter, &seen);
        }
        hl_cs_out(HL_CS_call, NULL);
        hl_prog_set_door(NULL, NULL, NULL);
        ck_assert(is_free(HL_CS_call, NULL));
        hl_cs_open(HL_CS_LOCKFREE, true, false);
    }
}
END_TEST

START_TEST(a_mode_says_which_sections_exclude)
{
    /* Of a thread that is in a call and in object `a`: may others enter a call, `a`, `b`, progress? */
    static const struct {
        enum hl_cs_mode mode;
        bool call, same, other, progress, pool;
    } rows[] = {{HL_CS_LOCKFREE, true, true, true, true, true},
                {HL_CS_NONE, true, true, true, true, true},
                {HL_CS_GLOBAL, false, false, false, false, false},
                {HL_CS_BRIEF, true, false, false, false, false},
                {HL_CS_OBJECT, true, false, true, true, true},
                {HL_CS_TLP, true, false, true, true, true},
                {HL_CS_OBJECT_ATOMIC, true, false, true, true, true},
                {HL_CS_TLP_ATOMIC, true, false, true, true, true}};
    struct hl_mutex a = HL_MUTEX_INIT, b = HL_MUTEX_INIT;
    for (size_t i = 0; i < HL_COUNT_OF(rows); i++) {
        hl_cs_open(rows[i].mode, true, false);
        hl_cs_in(HL_CS_call, NULL);
        hl_cs_in(HL_CS_send, &a);
        ck_assert_int_eq(is_free(HL_CS_call, NULL), rows[i].call);
        ck_assert_int_eq(is_free(HL_CS_send, &a), rows[i].same);
        ck_assert_int_eq(is_free(HL_CS_send, &b), rows[i].other);
        ck_assert_int_eq(is_free(HL_CS_progress, NULL), rows[i].progress);
        ck_assert_int_eq(is_free(HL_CS_pool, NULL), rows[i].pool);
        hl_cs_out(HL_CS_send, &a);
        hl_cs_out(HL_CS_call, NULL);
        ck_assert(is_free(HL_CS_call, NULL) && is_free(HL_CS_send, &a) && is_free(HL_CS_progress, NULL));
        /* Its own pools only where there is one for all. */
        hl_cs_in(HL_CS_pool, NULL);
        ck_assert_int_eq(is_free(HL_CS_pool, NULL), !hl_cs_has_one_pool());
        hl_cs_out(HL_CS_pool, NULL);
    }
    hl_cs_open(HL_CS_OBJECT, false, false); /* below MPI_THREAD_MULTIPLE */
    ck_assert_int_eq(hl_cs_mode, HL_CS_NONE);
    hl_cs_open(HL_CS_LOCKFREE, true, false);
}
END_TEST

static hl_a32 may_enter; /* 1: the visitor may try; 2: it was inside */

static void *visit_progress(void *unused)
{
    while (hl_a32_load_acquire(&may_enter) == 0) {
        hl_pause();
    }
    hl_cs_in(HL_CS_call, NULL);
    hl_cs_in(HL_CS_progress, NULL);
    hl_a32_store_release(&may_enter, 2);
    hl_cs_out(HL_CS_progress, NULL);
    hl_cs_out(HL_CS_call, NULL);
    return unused;
}

static bool visitor_was_inside(void *unused)
{
    return hl_a32_load_acquire(&may_enter) == 2;
}

START_TEST(who_waits_gives_his_sections_away)
{
    static const enum hl_cs_mode modes[] = {HL_CS_GLOBAL, HL_CS_BRIEF, HL_CS_OBJECT};
    for (size_t i = 0; i < HL_COUNT_OF(modes); i++) {
        pthread_t thread;
        hl_a32_store_relaxed(&may_enter, 0);
        hl_cs_open(modes[i], true, false);
        hl_cs_in(HL_CS_call, NULL);
        hl_cs_in(HL_CS_progress, NULL);
        hl_cs_in(HL_CS_progress, NULL); /* it nests */
        ck_assert_int_eq(pthread_create(&thread, NULL, visit_progress, NULL), 0);
        hl_a32_store_release(&may_enter, 1);
        hl_prog_wait(visitor_was_inside, NULL);
        ck_assert(!is_free(HL_CS_progress, NULL)); /* and comes back */
        hl_cs_out(HL_CS_progress, NULL);
        hl_cs_out(HL_CS_progress, NULL);
        hl_cs_out(HL_CS_call, NULL);
        pthread_join(thread, NULL);
    }
    hl_cs_open(HL_CS_LOCKFREE, true, false);
}
END_TEST

#endif
