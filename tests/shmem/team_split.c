/* Teams: who is in, under which number, with which configuration; wrong arguments; many teams, one after the
 * other and at the same time. */
#include "shmem_test.h"

/* Member i of the team is world PE start + i * stride. */
static void expect_team(shmem_team_t team, int start, int stride, int size)
{
    int rank = -1;
    for (int i = 0; i < size; i++) {
        rank = start + i * stride == me ? i : rank;
    }
    CHECK_EQ(shmem_team_my_pe(team), rank);
    if (rank < 0) {
        CHECK(team == SHMEM_TEAM_INVALID);
        return;
    }
    CHECK_EQ(shmem_team_n_pes(team), size);
    for (int i = 0; i < size; i++) {
        CHECK_EQ(shmem_team_translate_pe(team, i, SHMEM_TEAM_WORLD), start + i * stride);
        CHECK_EQ(shmem_team_translate_pe(SHMEM_TEAM_WORLD, start + i * stride, team), i);
    }
    CHECK_EQ(shmem_team_translate_pe(team, size, SHMEM_TEAM_WORLD), -1);
    CHECK_EQ(shmem_team_translate_pe(team, -1, SHMEM_TEAM_WORLD), -1);
    if (size < n_pes) {
        int outside = 0;
        while ((outside - start) % stride == 0 && (outside - start) / stride >= 0 &&
               (outside - start) / stride < size) {
            outside++;
        }
        CHECK_EQ(shmem_team_translate_pe(SHMEM_TEAM_WORLD, outside, team), -1);
    }
    CHECK_EQ(shmem_team_sync(team), 0);
}

static void predefined(void)
{
    shmem_team_config_t config = {.num_contexts = -7};
    expect_team(SHMEM_TEAM_WORLD, 0, 1, n_pes);
    CHECK_EQ(shmem_team_my_pe(SHMEM_TEAM_SHARED) >= 0, 1);
    CHECK_EQ(
        shmem_team_translate_pe(SHMEM_TEAM_SHARED, shmem_team_my_pe(SHMEM_TEAM_SHARED), SHMEM_TEAM_WORLD),
        me);
    CHECK_EQ(shmem_team_sync(SHMEM_TEAM_SHARED), 0);
    CHECK_EQ(shmem_team_get_config(SHMEM_TEAM_WORLD, SHMEM_TEAM_NUM_CONTEXTS, &config), 0);
    CHECK_EQ(config.num_contexts, 0);
}

static void invalid(void)
{
    shmem_team_config_t config;
    shmem_team_t made = SHMEM_TEAM_WORLD, other = SHMEM_TEAM_WORLD;
    CHECK_EQ(shmem_team_my_pe(SHMEM_TEAM_INVALID), -1);
    CHECK_EQ(shmem_team_n_pes(SHMEM_TEAM_INVALID), -1);
    CHECK_EQ(shmem_team_translate_pe(SHMEM_TEAM_INVALID, 0, SHMEM_TEAM_WORLD), -1);
    CHECK_EQ(shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, SHMEM_TEAM_INVALID), -1);
    CHECK(shmem_team_get_config(SHMEM_TEAM_INVALID, SHMEM_TEAM_NUM_CONTEXTS, &config) != 0);
    CHECK(shmem_team_sync(SHMEM_TEAM_INVALID) != 0);
    CHECK(shmem_team_split_strided(SHMEM_TEAM_INVALID, 0, 1, 1, NULL, 0, &made) != 0);
    CHECK(made == SHMEM_TEAM_INVALID);
    CHECK(shmem_team_split_2d(SHMEM_TEAM_INVALID, 1, NULL, 0, &made, NULL, 0, &other) != 0);
    CHECK(other == SHMEM_TEAM_INVALID);
    shmem_team_destroy(SHMEM_TEAM_INVALID);

    const int wrong[][3] = {{0, 1, n_pes + 1}, {-1, 1, 1},    {n_pes, 1, 1},  {0, 1, 0},
                            {0, 1, -1},        {0, 0, 2},     {0, n_pes, 2},  {n_pes - 1, 1, 2},
                            {0, -1, 2},        {1, 1, n_pes}, {0, 1 << 30, 2}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        made = SHMEM_TEAM_WORLD;
        CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, wrong[i][0], wrong[i][1], wrong[i][2], NULL, 0,
                                       &made) != 0);
        CHECK(made == SHMEM_TEAM_INVALID);
    }
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, NULL, SHMEM_TEAM_NUM_CONTEXTS, &made) != 0);
    CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, 0, NULL, 0, &made, NULL, 0, &other) != 0);
}

static void strided(void)
{
    for (int stride = 1; stride <= n_pes; stride++) {
        for (int start = 0; start < n_pes; start++) {
            int size = 1 + (n_pes - 1 - start) / stride;
            shmem_team_config_t config = {.num_contexts = stride};
            shmem_team_t made, back;
            CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, start, stride, size, &config,
                                              SHMEM_TEAM_NUM_CONTEXTS, &made),
                     0);
            expect_team(made, start, stride, size);
            if (made == SHMEM_TEAM_INVALID) {
                continue;
            }
            config.num_contexts = -1;
            CHECK_EQ(shmem_team_get_config(made, SHMEM_TEAM_NUM_CONTEXTS, &config), 0);
            CHECK_EQ(config.num_contexts, stride);
            /* The same backwards. */
            CHECK_EQ(shmem_team_split_strided(made, size - 1, -1, size, NULL, 0, &back), 0);
            expect_team(back, start + (size - 1) * stride, -stride, size);
            shmem_team_destroy(made); /* the parent may go first */
            CHECK_EQ(shmem_team_sync(back), 0);
            shmem_team_destroy(back);
        }
    }
}

static void grid(void)
{
    for (int width = 1; width <= n_pes + 1; width++) {
        int w = width < n_pes ? width : n_pes, row = me / w, column = me % w;
        shmem_team_t x, y;
        CHECK_EQ(shmem_team_split_2d(SHMEM_TEAM_WORLD, width, NULL, 0, &x, NULL, 0, &y), 0);
        expect_team(x, row * w, 1, n_pes - row * w < w ? n_pes - row * w : w);
        expect_team(y, column, w, (n_pes - column + w - 1) / w);
        shmem_team_destroy(x);
        shmem_team_destroy(y);
    }
}

/* Old flags in memory that is used again must not be taken for new ones. */
static void many(void)
{
    shmem_team_t teams[50];
    for (int round = 0; round < 6; round++) {
        for (int i = 0; i < 50; i++) {
            CHECK_EQ(
                shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, i % 2 == 0 ? n_pes : 1, NULL, 0, &teams[i]),
                0);
            for (int k = 0; k < round && teams[i] != SHMEM_TEAM_INVALID; k++) {
                CHECK_EQ(shmem_team_sync(teams[i]), 0);
            }
        }
        for (int i = 0; i < 50; i++) {
            shmem_team_destroy(teams[i]);
        }
    }
}

/* When PE 0 has no memory for another team of its own, all PEs learn of it at the same call; teams that were
 * given back can be made again. */
static void exhaust(void)
{
    static shmem_team_t teams[6000];
    static long count, most;
    shmem_team_t x, y;
    count = 0;
    while (count < 6000 && shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, NULL, 0, &teams[count]) == 0) {
        count++;
    }
    CHECK(count < 6000 && teams[count] == SHMEM_TEAM_INVALID);
    CHECK_EQ(shmem_long_max_reduce(SHMEM_TEAM_WORLD, &most, &count, 1), 0);
    CHECK_EQ(count, most);
    CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, 1, NULL, 0, &x, NULL, 0, &y) != 0);
    CHECK(x == SHMEM_TEAM_INVALID && y == SHMEM_TEAM_INVALID);
    for (long i = 0; i < count; i++) {
        shmem_team_destroy(teams[i]);
    }
    CHECK_EQ(shmem_team_split_2d(SHMEM_TEAM_WORLD, 1, NULL, 0, &x, NULL, 0, &y), 0);
    CHECK_EQ(shmem_team_sync(y), 0);
    shmem_team_destroy(x);
    shmem_team_destroy(y);
}

int main(void)
{
    test_start(1);
    predefined();
    invalid();
    strided();
    grid();
    many();
    exhaust();
    shmem_finalize();
    return 0;
}
