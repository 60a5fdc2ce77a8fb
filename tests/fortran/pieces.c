/* Pieces of the Fortran interface by themselves: functions made as the program runs, records that exist once,
 * and characters. */
#include "../../fortran/records.h"
#include "../../fortran/text.h"
#include "../../fortran/trampoline.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MADE = 5000, THREADS = 8 };

static int failures;

static void expect(bool good, const char *what)
{
    if (!good) {
        printf("wrong: %s\n", what);
        __atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED); /* ordered by the joins of the threads */
    }
}

/* ---- Made functions ---- */

typedef int four(int a, int b, int c, int d);

/* Says what it was called with, and which it is. */
static int sum_called(int a, int b, int c, int d, const struct hl_fort_bound *bound)
{
    return a + 10 * b + 100 * c + 1000 * d + 10000 * (int)(uintptr_t)bound->procedure;
}

static int other_called(int a, int b, int c, int d, const struct hl_fort_bound *bound)
{
    return -(int)(uintptr_t)bound->procedure;
}

static hl_fort_any *make(int which, int number)
{
    const char *why = "nothing";
    hl_fort_any *target = which == 0 ? (hl_fort_any *)sum_called : (hl_fort_any *)other_called;
    hl_fort_any *made = hl_fort_trampoline(target, (hl_fort_any *)(uintptr_t)number, &why);

    if (made == NULL) {
        printf("%s\n", why);
        exit(77);
    }
    return made;
}

/* Every thread makes the same functions, in another order, and calls them at once. */
static void *make_many(void *argument)
{
    int first = *(int *)argument;

    for (int i = 0; i < MADE; i++) {
        int number = 1 + (first * 997 + i) % MADE;
        four *made = (four *)make(0, number);

        expect(made(1, 2, 3, 4) == 4321 + 10000 * number, "a made function");
    }
    return NULL;
}

static void test_made(void)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];
    hl_fort_any *early = make(0, 1);

    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, make_many, &numbers[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    expect(make(0, 1) == early, "the same function for the same procedure");
    expect(make(1, 1) != early && ((four *)make(1, 7))(0, 0, 0, 0) == -7, "another target");
}

/* ---- Records ---- */

static void test_records(void)
{
    static struct hl_fort_records records; /* what is in it stays */
    static const void *kept[MADE];
    int64_t value;

    for (int i = 0; i < MADE; i++) {
        value = (int64_t)i * 1000000007;
        kept[i] = hl_fort_record(&records, &value, sizeof value);
    }
    for (int i = 0; i < MADE; i++) {
        value = (int64_t)i * 1000000007;
        expect(hl_fort_record(&records, &value, sizeof value) == kept[i] &&
                   memcmp(kept[i], &value, sizeof value) == 0,
               "a record exists once and stays");
        expect(hl_fort_is_record(&records, kept[i]), "a record is known");
    }
    expect(!hl_fort_is_record(&records, &value) && !hl_fort_is_record(&records, NULL), "what is no record");
}

/* ---- Characters ---- */

static void test_texts(void)
{
    char out[6];
    char *both = hl_fort_string_in("  a b  ", 7, HL_FORT_STRIP_BOTH),
         *end = hl_fort_string_in("  a b  ", 7, HL_FORT_STRIP_END);
    char *none = hl_fort_string_in("    ", 4, HL_FORT_STRIP_BOTH),
         *empty = hl_fort_string_in("x", 0, HL_FORT_STRIP_END);

    expect(strcmp(both, "a b") == 0 && strcmp(end, "  a b") == 0, "blanks around");
    expect(strcmp(none, "") == 0 && strcmp(empty, "") == 0, "nothing but blanks");
    hl_fort_string_out(out, sizeof out, "abc");
    expect(memcmp(out, "abc   ", sizeof out) == 0, "filled with blanks");
    hl_fort_string_out(out, sizeof out, "abcdefgh");
    expect(memcmp(out, "abcdef", sizeof out) == 0, "cut");
    free(both);
    free(end);
    free(none);
    free(empty);
}

static void test_arrays_of_texts(void)
{
    /* array_of_argv(2, 3): the first index runs fastest. */
    static const char texts[] = "-a  "
                                "-x  "
                                " bb "
                                "    "
                                "    "
                                "junk";
    char **argv = hl_fort_strings_in(" one"
                                     "two "
                                     "    ",
                                     4, 1),
         **two = hl_fort_strings_of("    "
                                    "ls  ",
                                    4, 2);
    char ***argvs = hl_fort_argvs_in(texts, 4, 2);

    expect(strcmp(argv[0], "one") == 0 && strcmp(argv[1], "two") == 0 && argv[2] == NULL,
           "arguments up to a blank one");
    expect(strcmp(two[0], "") == 0 && strcmp(two[1], "ls") == 0 && two[2] == NULL, "commands");
    expect(strcmp(argvs[0][0], "-a") == 0 && strcmp(argvs[0][1], "bb") == 0 && argvs[0][2] == NULL,
           "arguments of the first");
    expect(strcmp(argvs[1][0], "-x") == 0 && argvs[1][1] == NULL, "arguments of the second");
    free(argv);
    free(two);
    free(argvs);
}

int main(void)
{
    test_made();
    test_records();
    test_texts();
    test_arrays_of_texts();
    return failures > 0;
}
