/* Loading libfabric and choosing the provider. */
#include "fab_lib.h"

#include "conf.h"
#include "err.h"
#include "lock.h"
#include "log.h"
#include "thread.h"
#include "util.h"

#include <rdma/fi_errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

struct hl_fab hl_fab;
struct fi_info *hl_fab_info;
struct fid_fabric *hl_fab_fabric;

static struct hl_mutex open_lock = HL_MUTEX_INIT;
static hl_a32 is_open;
static int open_result; /* guarded by open_lock */
static bool tried;      /* guarded by open_lock */
static char why[512] = "network not needed so far";
static char offers[256]; /* providers that could be taken, best first */

/* Best first. Not here: shm (hangs when a peer dies), net (reports delivery before it happens), psm3 (offers
 * itself on any Ethernet). */
static const char *const preferred[] = {"cxi", "efa", "opx", "verbs;ofi_rxm", "tcp;ofi_rxm"};

#define MODES (FI_CONTEXT | FI_CONTEXT2)
#define MR_MODES (FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT)

/* Settings that libfabric and what it loads read once, at their start; the user's own win. The last two keep
 * two libraries of one vendor's NICs from catching the program's signals. */
#define ALWAYS                                                                                               \
    "FI_OFI_RXM_MSG_RX_SIZE=64", "FI_OFI_RXM_CM_PROGRESS_INTERVAL=100", "FI_OFI_RXM_CQ_EQ_FAIRNESS=16",      \
        "IPATH_NO_BACKTRACE=1", "HFI_NO_BACKTRACE=1", NULL
static const char *const settings[] = {"FI_OFI_RXM_BUFFER_SIZE=16384", ALWAYS};
static const char *const small_settings[] = {"FI_OFI_RXM_BUFFER_SIZE=4096", ALWAYS};

static void raise_file_limit(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files); /* a refusal leaves fewer lanes, see lane */
    }
}

static struct fi_info *new_hints(const char *provider)
{
    struct fi_info *hints = hl_fab_lib.dupinfo(NULL);
    if (hints == NULL) {
        return NULL;
    }
    hints->fabric_attr->prov_name = provider != NULL ? strdup(provider) : NULL;
    hints->ep_attr->type = FI_EP_RDM;
    hints->caps = FI_MSG | FI_RMA | FI_ATOMIC;
    hints->mode = MODES;
    hints->tx_attr->msg_order = hints->rx_attr->msg_order = FI_ORDER_SAS;
    /* Local registration is asked for so that such providers show up and can be named; see usable. */
    hints->domain_attr->mr_mode = MR_MODES | FI_MR_LOCAL;
    hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
    hints->domain_attr->threading = FI_THREAD_SAFE;
    return hints;
}

static int ask(const char *provider, struct fi_info **list)
{
    struct fi_info *hints = new_hints(provider);
    if (hints == NULL) {
        return -FI_ENOMEM;
    }
    const char *node = hl_fab.loopback ? "127.0.0.1" : NULL;
    int rc = hl_fab_lib.getinfo(FI_VERSION(1, 17), node, NULL, node != NULL ? FI_SOURCE : 0, hints, list);
    hl_fab_lib.freeinfo(hints);
    return rc;
}

/* Its endpoints, which all get the address that is asked for as their name, would clash as well. */
static bool serves_one_node(const char *provider)
{
    return strcmp(provider, "shm") == 0 || strcmp(provider, "sm2") == 0;
}

/* NULL when it can serve, else what it lacks. */
static const char *usable(const struct fi_info *info)
{
    if (serves_one_node(info->fabric_attr->prov_name)) {
        return "serves one node only, whose ranks share memory without it";
    }
    if (info->domain_attr->mr_mode & FI_MR_LOCAL) {
        return "demands registration of local buffers (FI_MR_LOCAL)";
    }
    if (info->domain_attr->mr_mode & ~(uint64_t)MR_MODES) {
        return "demands an unknown memory registration mode";
    }
    if (info->mode & ~(uint64_t)MODES) {
        return "demands an unknown mode";
    }
    if (hl_fab.loopback && info->src_addr == NULL &&
        strcmp(info->fabric_attr->prov_name, "tcp;ofi_rxm") == 0) {
        return "cannot be kept on the loopback interface";
    }
    return NULL;
}

/* The first usable description of `provider` in the list; notes why others are not. */
static struct fi_info *pick(struct fi_info *list, const char *provider, char *skipped, size_t cap)
{
    for (struct fi_info *i = list; i != NULL; i = i->next) {
        if (strcmp(i->fabric_attr->prov_name, provider) != 0) {
            continue;
        }
        const char *lack = usable(i);
        if (lack == NULL) {
            return i;
        }
        if (strstr(skipped, provider) == NULL) {
            size_t used = strlen(skipped);
            snprintf(skipped + used, cap - used, "; %s skipped: %s", provider, lack);
            hl_log(HL_LOG_INFO, "provider %s skipped: it %s", provider, lack);
        }
    }
    return NULL;
}

static int choose_named(const char *provider)
{
    struct fi_info *list = NULL;
    char lack[256] = "";
    int rc = ask(provider, &list);
    struct fi_info *found = rc == 0 ? pick(list, list->fabric_attr->prov_name, lack, sizeof lack) : NULL;
    if (found != NULL) {
        hl_fab_info = hl_fab_lib.dupinfo(found);
        snprintf(why, sizeof why, "%s: named by HOTLANE_PROVIDER", found->fabric_attr->prov_name);
        snprintf(offers, sizeof offers, "%s", found->fabric_attr->prov_name);
    }
    if (list != NULL) {
        hl_fab_lib.freeinfo(list);
    }
    if (found != NULL) {
        return hl_fab_info != NULL ? 0 : HL_ERR_NO_MEM;
    }
    return hl_err_say(
        HL_ERR_OTHER,
        "HOTLANE_PROVIDER=%s cannot be used here: %s%s. `fi_info -l` (libfabric-bin) lists what "
        "is installed; unset the variable to have one chosen",
        provider, rc != 0 ? hl_fab_strerror(rc) : "no fitting endpoint", lack);
}

/* Notes all that could be taken. */
static struct fi_info *best_of(struct fi_info *list, char *skipped, size_t cap)
{
    struct fi_info *found = NULL;
    char later[256] = "";
    offers[0] = '\0';
    for (size_t i = 0; i < HL_COUNT_OF(preferred); i++) {
        struct fi_info *one = found == NULL ? pick(list, preferred[i], skipped, cap)
                                            : pick(list, preferred[i], later, sizeof later);
        size_t used = strlen(offers);
        if (one != NULL) {
            snprintf(offers + used, sizeof offers - used, "%s%s", used > 0 ? ", " : "", preferred[i]);
            found = found != NULL ? found : one;
        }
    }
    return found;
}

static int choose_best(void)
{
    struct fi_info *list = NULL;
    char skipped[256] = "";
    /* On one machine only the provider that can be kept on the loopback interface is of interest. */
    const char *only = hl_fab.loopback ? "tcp;ofi_rxm" : NULL;
    int rc = ask(only, &list);
    if (rc != 0) {
        const char *users = hl_conf_env("FI_PROVIDER"); /* libfabric reads it and offers nothing else */
        return hl_err_say(
            HL_ERR_OTHER, "libfabric finds no provider with messages, RMA and atomics%s%s%s: %s",
            hl_fab.loopback ? " on the loopback interface" : "", users != NULL ? " with FI_PROVIDER=" : "",
            users != NULL ? users : "", hl_fab_strerror(rc));
    }
    struct fi_info *found = best_of(list, skipped, sizeof skipped);
    if (found != NULL) {
        hl_fab_info = hl_fab_lib.dupinfo(found);
        snprintf(why, sizeof why, "%s: %s%s", found->fabric_attr->prov_name,
                 hl_fab.loopback ? "all ranks are on this machine, loopback only"
                                 : "best of what libfabric offers",
                 skipped);
    }
    hl_fab_lib.freeinfo(list);
    if (found == NULL) {
        return hl_err_say(HL_ERR_OTHER, "none of libfabric's providers here can be used%s", skipped);
    }
    return hl_fab_info != NULL ? 0 : HL_ERR_NO_MEM;
}

/* Largest message that leaves without a hand-shake: rxm's buffer, else what the provider may copy at most. */
static size_t eager_size(const struct fi_info *info)
{
    size_t most = hl_conf.small ? 4096 : 16384;
    const char *set = hl_conf_env("FI_OFI_RXM_BUFFER_SIZE");
    uint64_t bytes;
    if (strstr(info->fabric_attr->prov_name, "ofi_rxm") != NULL && set != NULL &&
        hl_conf_parse_size(set, &bytes) == 0 && bytes >= 1024) {
        most = hl_min_size((size_t)bytes, 65536);
    }
    return hl_min_size(most, info->ep_attr->max_msg_size);
}

/* Their NICs take small operations as they come. */
static bool has_nic(const char *provider)
{
    static const char *const nics[] = {"cxi", "efa", "opx", "psm", "verbs", "usnic", "gni", "bgq"};
    for (size_t i = 0; i < HL_COUNT_OF(nics); i++) {
        if (strncmp(provider, nics[i], strlen(nics[i])) == 0) {
            return true;
        }
    }
    return false;
}

static void note_facts(void)
{
    const struct fi_info *i = hl_fab_info;
    snprintf(hl_fab.provider, sizeof hl_fab.provider, "%s", i->fabric_attr->prov_name);
    hl_fab.eager = eager_size(i);
    hl_fab.inject = i->tx_attr->inject_size;
    hl_fab.lanes_max = hl_max_size(hl_min_size(i->domain_attr->ep_cnt, 64), 1);
    hl_fab.joins = !has_nic(hl_fab.provider);
    hl_fab.version = hl_fab_lib.version();
    hl_fab.pins = has_nic(hl_fab.provider) && (i->domain_attr->mr_mode & FI_MR_ALLOCATED) != 0;
    hl_fab.virt_addr = (i->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0;
    hl_fab.own_keys = (i->domain_attr->mr_mode & FI_MR_PROV_KEY) == 0 && i->domain_attr->mr_key_size >= 8;
    hl_fab.mr_bind = (i->domain_attr->mr_mode & FI_MR_ENDPOINT) != 0;
}

static void choose(void *result)
{
    *(int *)result = hl_conf.provider[0] != '\0' ? choose_named(hl_conf.provider) : choose_best();
}

static void load_and_choose(void *result)
{
    int rc = hl_fab_lib_load();
    if (rc == 0) {
        const void *inside = (const void *)(uintptr_t)hl_fab_lib.getinfo;
        (void)hl_fab_in_huge_pages(inside);
        hl_fab_without_symbols(inside, choose, &rc);
    }
    *(int *)result = rc;
}

static int open_first(void)
{
    int rc = 0;
    raise_file_limit();
    hl_conf_with_env(hl_conf.small ? small_settings : settings, load_and_choose, &rc);
    if (rc != 0) {
        return rc;
    }
    rc = hl_fab_lib.fabric(hl_fab_info->fabric_attr, &hl_fab_fabric, NULL);
    if (rc != 0) {
        hl_fab_lib.freeinfo(hl_fab_info);
        hl_fab_info = NULL;
        return hl_err_say(HL_ERR_OTHER, "provider %s does not open: %s", hl_fab.provider,
                          hl_fab_strerror(rc));
    }
    note_facts();
    hl_thread_need_stack(HL_STACK_FABRIC);
    hl_log(HL_LOG_INFO, "network: %s (libfabric %u.%u)", why, FI_MAJOR(hl_fab.version),
           FI_MINOR(hl_fab.version));
    return 0;
}

int hl_fab_open(void)
{
    hl_mutex_lock(&open_lock);
    if (!tried) {
        tried = true;
        open_result = open_first();
        /* release: hl_fab and the fabric; pairs with the acquire in hl_fab_is_open. */
        hl_a32_store_release(&is_open, open_result == 0);
    }
    int rc = open_result;
    hl_mutex_unlock(&open_lock);
    return rc;
}

bool hl_fab_is_open(void)
{
    /* acquire: pairs with the release in hl_fab_open. */
    return hl_a32_load_acquire(&is_open) != 0;
}

const char *hl_fab_why(void)
{
    return why;
}

const char *hl_fab_usable(void)
{
    return offers;
}

bool hl_fab_has(const char *provider)
{
    struct fi_info *list = NULL;
    bool found = false;
    if (hl_fab_lib.getinfo(FI_VERSION(1, 17), NULL, NULL, FI_PROV_ATTR_ONLY, NULL, &list) == 0) {
        for (const struct fi_info *i = list; i != NULL; i = i->next) {
            found = found || strcmp(i->fabric_attr->prov_name, provider) == 0;
        }
        hl_fab_lib.freeinfo(list);
    }
    return found;
}

const char *hl_fab_strerror(int code)
{
    return hl_fab_lib.strerror != NULL ? hl_fab_lib.strerror(code < 0 ? -code : code) : "unknown error";
}

void hl_fab_close(void)
{
    hl_mutex_lock(&open_lock);
    if (hl_a32_load_relaxed(&is_open)) {   /* relaxed: changed under the lock only. */
        hl_a32_store_release(&is_open, 0); /* release: after the last use; pairs with hl_fab_is_open. */
        int rc = fi_close(&hl_fab_fabric->fid);
        if (rc != 0) {
            hl_log(HL_LOG_INFO, "the provider's fabric is still in use at the end: %s", hl_fab_strerror(rc));
        }
        hl_fab_lib.freeinfo(hl_fab_info);
        hl_fab_info = NULL;
        hl_fab_fabric = NULL;
        hl_fab_cards_forget();
        tried = false;
    }
    hl_mutex_unlock(&open_lock);
}
