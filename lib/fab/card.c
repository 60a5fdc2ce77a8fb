/* Cards: what a rank publishes about its endpoints, in the key-value space of boot. */
#include "fab_lib.h"

#include "boot.h"
#include "err.h"
#include "job.h"
#include "lock.h"
#include "util.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PART_MAX 1024
#define USERS_MAX 4

struct card {
    uint64_t eager; /* hl_fab.eager; peers with different values never connect */
    uint64_t
        atomic_hash; /* hl_fab.atomic_hash; peers with different ones would mix mechanisms on one element */
    char provider[64];
    uint32_t len[HL_FAB_PARTS]; /* bytes of each part; the parts follow one another */
    uint8_t parts[HL_FAB_PARTS * PART_MAX];
};

/* Keys of the key-value space can be written only once, so each opening of the network has keys of its
 * own. */
static unsigned generation;

static struct card mine;
static size_t mine_used; /* bytes of mine.parts */
static struct hl_mutex card_lock = HL_MUTEX_INIT;
static hl_aptr
    *cards; /* [hl_job.size] struct card of peers, NULL until fetched; atomic, set under card_lock */
static int (*users[USERS_MAX])(void);
static size_t user_count;

static const char *key_of(const char *what, char key[24])
{
    snprintf(key, 24, "%s-%u", what, generation);
    return key;
}

int hl_fab_on_open(int (*fn)(void))
{
    for (size_t i = 0; i < user_count; i++) {
        if (users[i] == fn) {
            return 0;
        }
    }
    if (user_count == USERS_MAX) {
        return hl_err_say(HL_ERR_INTERN, "too many users of the network");
    }
    users[user_count++] = fn;
    return 0;
}

int hl_fab_run_on_open(void)
{
    int rc = 0;
    for (size_t i = 0; i < user_count && rc == 0; i++) {
        rc = users[i]();
    }
    return rc;
}

int hl_fab_card_put(enum hl_fab_part part, const void *data, size_t len)
{
    if (len > PART_MAX || mine.len[part] != 0) {
        return hl_err_say(HL_ERR_INTERN, "card part %d of %zu bytes", part, len);
    }
    /* Parts lie in the order of their numbers, so room is made before later ones. */
    size_t at = 0;
    for (int p = 0; p < (int)part; p++) {
        at += mine.len[p];
    }
    memmove(mine.parts + at + len, mine.parts + at, mine_used - at);
    memcpy(mine.parts + at, data, len);
    mine.len[part] = (uint32_t)len;
    mine_used += len;
    return 0;
}

/* HL_ERR_OTHER with the text when the card is malformed or differs from this rank's in what must be equal. */
static int check_card(int peer, const struct card *c, size_t len)
{
    size_t used = 0;
    for (int p = 0; p < HL_FAB_PARTS && len >= offsetof(struct card, parts); p++) {
        used += c->len[p] <= PART_MAX ? c->len[p] : sizeof c->parts + 1;
    }
    if (len < offsetof(struct card, parts) || used != len - offsetof(struct card, parts)) {
        return hl_err_say(HL_ERR_OTHER,
                          "rank %d has published a network address of %zu bytes that makes no sense: do all "
                          "ranks load the same version of Hotlane?",
                          peer, len);
    }
    if (strncmp(c->provider, mine.provider, sizeof c->provider) != 0) {
        return hl_err_say(HL_ERR_OTHER,
                          "rank %d uses provider %.*s, this rank %s: set HOTLANE_PROVIDER for all", peer,
                          (int)sizeof c->provider, c->provider, mine.provider);
    }
    if (c->eager != mine.eager) {
        return hl_err_say(HL_ERR_OTHER,
                          "rank %d has network buffers of %llu bytes, this rank %llu: set HOTLANE_SMALL (and "
                          "FI_OFI_RXM_BUFFER_SIZE) to the same for all",
                          peer, (unsigned long long)c->eager, (unsigned long long)mine.eager);
    }
    if (c->atomic_hash != mine.atomic_hash) {
        return hl_err_say(HL_ERR_OTHER,
                          "rank %d's provider %s has other atomic operations than this rank's: load the same "
                          "libfabric in all",
                          peer, mine.provider);
    }
    return 0;
}

static int fetch_rank_card(int peer, struct card **out, bool waits)
{
    struct card *c = malloc(sizeof *c);
    if (c == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for the network address of rank %d", peer);
    }
    size_t len = 0;
    char key[24];
    key_of("hl-card", key);
    int rc =
        waits ? hl_boot_get(peer, key, c, sizeof *c, &len) : hl_boot_try_get(peer, key, c, sizeof *c, &len);
    if (rc == HL_ERR_FOUND_NONE) {
        rc = hl_err_say(HL_ERR_OTHER, "rank %d has published no network address", peer);
    }
    rc = rc == 0 ? check_card(peer, c, len) : rc;
    if (rc != 0) {
        free(c);
        return rc;
    }
    *out = c;
    return 0;
}

/* The card of a peer, or NULL with the error in *rc; HL_ERR_AGAIN only if it is not to wait. */
static struct card *find_rank_card(int peer, int *rc, bool waits)
{
    if (cards == NULL) {
        *rc = hl_err_say(HL_ERR_INTERN, "cards were not exchanged");
        return NULL;
    }
    /* acquire: the card is filled; pairs with the release below. */
    struct card *c = hl_aptr_load_acquire(&cards[peer]);
    if (c != NULL) {
        return c;
    }
    if (waits) {
        hl_mutex_lock(&card_lock);
    } else if (!hl_mutex_try(&card_lock)) {
        *rc = HL_ERR_AGAIN;
        return NULL;
    }
    c = hl_aptr_load_relaxed(&cards[peer]); /* relaxed: changed under the lock only. */
    if (c == NULL) {
        *rc = fetch_rank_card(peer, &c, waits);
        if (c != NULL) {
            hl_aptr_store_release(&cards[peer], c); /* release: publishes the card; pairs with the acquire. */
        }
    }
    hl_mutex_unlock(&card_lock);
    return c;
}

/* Meets the other ranks, also with an error of this one: they wait for it at the launcher. */
static int meet_ranks(int rc)
{
    int lost = hl_boot_fence();
    return rc != 0 ? rc : lost;
}

static int publish_card(void)
{
    char key[24];
    cards = cards != NULL ? cards : calloc((size_t)hl_job.size, sizeof *cards);
    if (cards == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for the network addresses of %d ranks", hl_job.size);
    }
    mine.eager = hl_fab.eager;
    mine.atomic_hash = hl_fab.atomic_hash;
    memcpy(mine.provider, hl_fab.provider, sizeof mine.provider);
    return hl_boot_put(key_of("hl-card", key), &mine, offsetof(struct card, parts) + mine_used);
}

int hl_fab_cards_exchange(int rc)
{
    rc = meet_ranks(rc == 0 ? publish_card() : rc);
    /* Each rank compares with the next one only: if any two ranks differ, some rank differs from its next. */
    if (rc == 0 && hl_job.size > 1) {
        (void)find_rank_card((hl_job.rank + 1) % hl_job.size, &rc, true);
    }
    return rc;
}

static int find_part(int peer, enum hl_fab_part part, const void **data, size_t *len, bool waits)
{
    int rc = 0;
    const struct card *c = find_rank_card(peer, &rc, waits);
    if (c == NULL) {
        return rc;
    }
    size_t at = 0;
    for (int p = 0; p < (int)part; p++) {
        at += c->len[p];
    }
    if (c->len[part] == 0) {
        return HL_ERR_FOUND_NONE;
    }
    *data = c->parts + at;
    *len = c->len[part];
    return 0;
}

int hl_fab_card_get(int peer, enum hl_fab_part part, const void **data, size_t *len)
{
    return find_part(peer, part, data, len, true);
}

int hl_fab_card_try(int peer, enum hl_fab_part part, const void **data, size_t *len)
{
    return find_part(peer, part, data, len, false);
}

/* ---- one machine or several ---- */

/* A number that two ranks share exactly when 127.0.0.1 leads from one to the other. */
static uint64_t loopback_identity(void)
{
    struct {
        char boot[64], space[64];
    } here = {.boot = ""};
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        (void)!read(fd, here.boot, sizeof here.boot - 1);
        close(fd);
    }
    (void)!readlink("/proc/self/ns/net", here.space, sizeof here.space - 1);
    return hl_siphash(hl_boot.secret, &here, sizeof here);
}

/* More ranks than that for each CPU of the machine have small buffers: theirs are seldom in a cache. */
#define CROWD 4

/* All ranks, which are on this machine, must find the same: CPUs that ranks may use are known within a
 * node. */
static bool is_job_crowded(void)
{
    bool known = hl_job.node_size == hl_job.size && hl_job.node_cpus != 0;
    return hl_job.size > CROWD * (known ? hl_job.node_cpus : sysconf(_SC_NPROCESSORS_ONLN));
}

/* Sets *same to whether all ranks' numbers are equal. Each rank compares its own with the others', and all
 * find the same: where two numbers differ, every rank's differs from one of them. Where there are several
 * machines the first rank of another node mostly shows it. */
static int judge_machines(uint64_t identity, bool *same)
{
    char key[24];
    *same = true;
    for (int i = 1; i < hl_job.size && *same; i++) {
        int rank = (hl_job.rank + i) % hl_job.size;
        uint64_t other = identity; /* ranks of this node are proved to be on this machine */
        size_t len = 0;
        int rc = hl_job_node_of(rank) >= 0
                     ? 0
                     : hl_boot_get(rank, key_of("hl-machine", key), &other, sizeof other, &len);
        if (rc == HL_ERR_FOUND_NONE) {
            rc = hl_err_say(HL_ERR_OTHER, "rank %d has not published on which machine it runs", rank);
        }
        if (rc != 0) {
            return rc;
        }
        *same = other == identity;
    }
    return 0;
}

int hl_fab_survey(void)
{
    generation++;
    if (hl_job.node_size == hl_job.size) {
        hl_fab.loopback = true;
        hl_fab.crowded = is_job_crowded();
        return 0;
    }
    char key[24];
    uint64_t identity = loopback_identity();
    int rc = hl_boot_put(key_of("hl-machine", key), &identity, sizeof identity);
    bool same = false;
    rc = meet_ranks(rc);
    rc = rc == 0 ? judge_machines(identity, &same) : rc;
    hl_fab.loopback = rc == 0 && same;
    hl_fab.crowded = hl_fab.loopback && is_job_crowded();
    return rc;
}

void hl_fab_cards_forget(void)
{
    for (int r = 0; cards != NULL && r < hl_job.size; r++) {
        free(hl_aptr_load_relaxed(&cards[r])); /* relaxed: no other thread uses the network any more. */
    }
    free(cards);
    cards = NULL;
    memset(&mine, 0, sizeof mine);
    mine_used = 0;
}
