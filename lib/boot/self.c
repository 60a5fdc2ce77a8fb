/* The method of a singleton: one rank, no launcher, no descriptor. Its key-value space is a list. */
#include "boot_method.h"
#include "err.h"

#include <stdlib.h>
#include <string.h>

struct key_value {
    struct key_value *next;
    char *value;
    char key[];
};
static struct key_value *first;

static bool self_offered(hl_boot_env_fn *env)
{
    (void)env;
    return true;
}

static int self_init(hl_boot_env_fn *env, struct hl_boot_job *job)
{
    (void)env;
    job->rank = 0;
    job->size = 1;
    job->has_secret = false;
    return 0;
}

static int self_put(const char *key, const char *value)
{
    size_t n = strlen(key) + 1;
    struct key_value *p = malloc(sizeof *p + n);
    if (!p) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for key %s", key);
    }
    p->value = strdup(value);
    if (!p->value) {
        free(p);
        return hl_err_say(HL_ERR_NO_MEM, "no memory for key %s", key);
    }
    memcpy(p->key, key, n);
    p->next = first;
    first = p;
    return 0;
}

static int self_get(int rank, const char *key, char *value, size_t cap, bool waits)
{
    (void)rank, (void)waits;
    for (const struct key_value *p = first; p; p = p->next) {
        size_t n = strlen(p->value) + 1;
        if (strcmp(p->key, key) != 0) {
            continue;
        }
        if (n > cap) {
            return hl_err_say(HL_ERR_TRUNCATE, "value of %s is longer than %zu", key, cap);
        }
        memcpy(value, p->value, n);
        return 0;
    }
    return HL_ERR_FOUND_NONE;
}

static int self_fence(int also, void (*serve)(void *), void *arg)
{
    (void)also;
    (void)serve;
    (void)arg;
    return 0;
}

static void self_abort(int code)
{
    (void)code;
}

static int self_watch_fd(void)
{
    return -1;
}

static int self_watch_take(int *rank, int *code)
{
    (void)rank;
    (void)code;
    return 0;
}

static int self_fini(void)
{
    while (first) {
        struct key_value *p = first;
        first = p->next;
        free(p->value);
        free(p);
    }
    return 0;
}

static int self_again(void)
{
    return 0;
}

const struct hl_boot_method hl_boot_self = {.name = "self",
                                            .value_max = 1 << 20,
                                            .offered = self_offered,
                                            .init = self_init,
                                            .put = self_put,
                                            .get = self_get,
                                            .fence = self_fence,
                                            .abort = self_abort,
                                            .watch_fd = self_watch_fd,
                                            .watch_take = self_watch_take,
                                            .fini = self_fini,
                                            .again = self_again};
