/* Loading libfabric and choosing the provider. */
#include "fab_lib.h"

#include "conf.h"
#include "err.h"
#include "job.h"
#include "lock.h"
#include "log.h"
#include "nic.h"
#include "prove.h"
#include "thread.h"
#include "util.h"

#include <link.h>
#include <rdma/fi_errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

struct hl_fab hl_fab;
struct fi_info *hl_fab_info;
struct fid_fabric *hl_fab_fabric;

static struct hl_mutex open_lock = HL_MUTEX_INIT;
static hl_a32 is_open;  /* atomic: changed under open_lock, read by any thread */
static int open_result; /* guarded by open_lock */
static bool tried;      /* guarded by open_lock */
static size_t buffer;   /* bytes wished for the largest message without a hand-shake; guarded by open_lock */
static char why[512] = "network not needed so far";

#define OLDEST FI_VERSION(1, 17)
#define MODES (FI_CONTEXT | FI_CONTEXT2)
#define MR_MODES (FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT)
/* FI_MR_HMEM is about memory of devices, which is never used; FI_MR_SCALABLE is the old word for no
 * demands. */
#define MR_HARMLESS (FI_MR_HMEM | FI_MR_SCALABLE)

/* Hints, tried one after the other. They ask for nothing that is not used, since providers demand whatever
 * they are allowed to demand, needed or not. */
static const struct wish {
    uint64_t caps;
    uint64_t mr_mode;
} wishes[] = {
    {FI_MSG | FI_RMA | FI_ATOMIC, MR_MODES},
    {FI_MSG | FI_RMA, MR_MODES},
    {FI_MSG | FI_RMA, MR_MODES | FI_MR_LOCAL}, /* finds a provider only to say why it is refused */
};

static void raise_file_limit(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files); /* after a refusal lane opens fewer lanes */
    }
}

static struct fi_info *new_hints(const char *provider, const struct wish *wish)
{
    struct fi_info *hints = hl_fab_lib.dupinfo(NULL);
    if (hints == NULL) {
        return NULL;
    }
    hints->fabric_attr->prov_name = strdup(provider);
    if (hints->fabric_attr->prov_name == NULL) { /* NULL would ask for any provider */
        hl_fab_lib.freeinfo(hints);
        return NULL;
    }
    hints->ep_attr->type = FI_EP_RDM;
    hints->caps = wish->caps;
    hints->mode = MODES;
    hints->tx_attr->msg_order = hints->rx_attr->msg_order = FI_ORDER_SAS;
    hints->domain_attr->mr_mode = (int)wish->mr_mode;
    hints->domain_attr->data_progress =
        hl_provider_find(provider, hl_fab_lib.version())->lazy ? FI_PROGRESS_AUTO : FI_PROGRESS_MANUAL;
    hints->domain_attr->threading = FI_THREAD_SAFE;
    return hints;
}

static const struct hl_provider *provider_of(const struct fi_info *info)
{
    return hl_provider_find(info->fabric_attr->prov_name, hl_fab_lib.version());
}

static int query_provider(const char *provider, const struct wish *wish, struct fi_info **list)
{
    struct fi_info *hints = new_hints(provider, wish);
    if (hints == NULL) {
        return -FI_ENOMEM;
    }
    bool keep = hl_fab.loopback && hl_provider_find(provider, hl_fab_lib.version())->loopback;
    int rc = hl_fab_lib.getinfo(OLDEST, keep ? "127.0.0.1" : NULL, NULL, keep ? FI_SOURCE : 0, hints, list);
    hl_fab_lib.freeinfo(hints);
    return rc;
}

/* NULL when the provider can be used, else the words for what prevents it. */
static const char *find_lack(const struct fi_info *info)
{
    const struct hl_provider *row = provider_of(info);
    if (row->unusable != NULL) {
        return row->unusable;
    }
    if (info->domain_attr->mr_mode & FI_MR_LOCAL) {
        return "it demands registration of local buffers (FI_MR_LOCAL)";
    }
    if (info->domain_attr->mr_mode & ~(uint64_t)(MR_MODES | MR_HARMLESS)) {
        return "it demands an unknown memory registration mode";
    }
    if (info->mode & ~(uint64_t)MODES) {
        return "it demands an unknown mode";
    }
    if ((info->domain_attr->mr_mode & FI_MR_ALLOCATED) != 0 && hl_provider_locks(row) > hl_lockable_bytes()) {
        return "its buffers do not fit into the memory that this process may lock (raise `ulimit -l`, or "
               "memlock in /etc/security/limits.d)";
    }
    if (hl_fab.loopback && row->loopback && info->src_addr == NULL) {
        return "it cannot be kept on the loopback interface";
    }
    return NULL;
}

/* A copy of the first description in the list that can be used; else NULL, and *lack says why. libfabric also
 * lists layers above the provider that was asked for; they have other rows and are skipped. */
static struct fi_info *take_fitting(const struct fi_info *list, const struct hl_provider *row,
                                    const char **lack)
{
    for (const struct fi_info *i = list; i != NULL; i = i->next) {
        if (row->name != NULL && strcmp(row->name, i->fabric_attr->prov_name) != 0) {
            continue;
        }
        const char *one = find_lack(i);
        if (one == NULL) {
            struct fi_info *copy = hl_fab_lib.dupinfo(i);
            *lack = copy == NULL ? "it leaves no memory for its description" : NULL;
            return copy;
        }
        *lack = *lack == NULL ? one : *lack;
    }
    return NULL;
}

/* A usable description that libfabric offers under that name; the caller frees it. Else NULL, and *lack says
 * what prevents its use, or is NULL where libfabric offers nothing. */
static struct fi_info *find_fitting(const char *provider, const char **lack)
{
    struct fi_info *found = NULL;
    const struct hl_provider *row = hl_provider_find(provider, hl_fab_lib.version());
    *lack = NULL;
    for (size_t i = 0; i < HL_COUNT_OF(wishes) && found == NULL && *lack == NULL; i++) {
        struct fi_info *list = NULL;
        bool wanted = row->atomics || (wishes[i].caps & FI_ATOMIC) == 0;
        if (wanted && query_provider(provider, &wishes[i], &list) == 0) {
            found = take_fitting(list, row, lack);
            hl_fab_lib.freeinfo(list);
        }
    }
    return found;
}

/* Bytes of the largest message that is sent without a hand-shake. */
static size_t eager_size(const struct fi_info *info, const struct hl_provider *row)
{
    size_t most = hl_min_size(row->eager, buffer);
    const char *set = row->eager_var != NULL ? hl_conf_env(row->eager_var) : NULL;
    uint64_t bytes;
    if (set != NULL && hl_conf_parse_size(set, &bytes) == 0 && bytes >= HL_PROVIDER_EAGER) {
        most = hl_min_size((size_t)bytes, 65536);
    }
    return hl_min_size(most, info->ep_attr->max_msg_size);
}

static void note_facts(const struct fi_info *i)
{
    const struct hl_provider *row = provider_of(i);
    size_t lanes = row->lanes != 0 ? row->lanes : 64;
    snprintf(hl_fab.provider, sizeof hl_fab.provider, "%s", i->fabric_attr->prov_name);
    hl_fab.row = row;
    hl_fab.eager = eager_size(i, row);
    hl_fab.post_max = i->ep_attr->max_msg_size;
    hl_fab.inject = i->tx_attr->inject_size;
    hl_fab.lanes_max = hl_max_size(hl_min_size(i->domain_attr->ep_cnt, lanes), 1);
    hl_fab.ordered = row->ordered;
    hl_fab.naps = row->wait == HL_PROVIDER_NAPS ? "its descriptor is known not to speak" : NULL;
    hl_fab.pins = row->pins && (i->domain_attr->mr_mode & FI_MR_ALLOCATED) != 0;
    hl_fab.virt_addr = (i->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0;
    hl_fab.key_size = (i->domain_attr->mr_mode & FI_MR_PROV_KEY) == 0 ? i->domain_attr->mr_key_size : 0;
    hl_fab.mr_bind = (i->domain_attr->mr_mode & FI_MR_ENDPOINT) != 0;
}

static void close_provider(void)
{
    hl_fab_lib.freeinfo(hl_fab_info);
    hl_fab_info = NULL;
    hl_fab_fabric = NULL;
}

/* Takes over `info`, opens its fabric and runs the opening test if the row asks for it. */
static int open_provider(struct fi_info *info)
{
    hl_fab_info = info;
    note_facts(info);
    int rc = hl_fab_lib.fabric(info->fabric_attr, &hl_fab_fabric, NULL);
    if (rc != 0) {
        rc = hl_err_say(HL_ERR_OTHER, "provider %s does not open: %s", hl_fab.provider, hl_fab_strerror(rc));
        close_provider();
        return rc;
    }
    const char *naps = NULL;
    rc = hl_fab.row->wait != HL_PROVIDER_WAKES ? hl_fab_prove(&naps) : 0;
    hl_fab.naps = hl_fab.naps != NULL ? hl_fab.naps : naps;
    if (rc != 0) {
        (void)fi_close(&hl_fab_fabric->fid);
        close_provider();
    }
    return rc;
}

static int choose_named(const char *provider)
{
    const char *lack;
    struct fi_info *found = find_fitting(provider, &lack);
    if (found != NULL) {
        snprintf(why, sizeof why, "%s: named by HOTLANE_PROVIDER", found->fabric_attr->prov_name);
        return open_provider(found);
    }
    return hl_err_say(
        HL_ERR_OTHER,
        "HOTLANE_PROVIDER=%s cannot be used here: %s. `fi_info -l` (libfabric-bin) lists what is "
        "installed; unset the variable to have one chosen",
        provider, lack != NULL ? lack : "libfabric offers no fitting endpoint of it");
}

static void note_skipped(char *skipped, size_t cap, const char *provider, const char *why_not)
{
    size_t used = strlen(skipped);
    snprintf(skipped + used, cap - used, "; %s skipped: %s", provider, why_not);
    hl_log(HL_LOG_INFO, "provider %s skipped: %s", provider, why_not);
}

/* The row of the next provider that may be chosen, *i being 0 at first. When all ranks are on one machine,
 * only providers that can be kept on the loopback interface are considered. */
static const struct hl_provider *next_choice(size_t *i)
{
    const struct hl_provider *row;
    do {
        row = hl_provider_choice((*i)++, hl_fab_lib.version());
    } while (row != NULL && hl_fab.loopback && !row->loopback);
    return row;
}

static int refuse_all(const char *skipped)
{
    const char *users = hl_conf_env("FI_PROVIDER"); /* libfabric reads it and offers nothing else */
    if (skipped[0] != '\0') {
        return hl_err_say(HL_ERR_OTHER, "none of libfabric's providers here can be used%s", skipped);
    }
    return hl_err_say(HL_ERR_OTHER,
                      "libfabric finds no provider with messages and RMA%s%s%s that Hotlane takes unless "
                      "HOTLANE_PROVIDER names it",
                      hl_fab.loopback ? " on the loopback interface" : "",
                      users != NULL ? " with FI_PROVIDER=" : "", users != NULL ? users : "");
}

static int choose_best(void)
{
    char skipped[384] = "";
    const struct hl_provider *row;
    for (size_t i = 0; (row = next_choice(&i)) != NULL;) {
        const char *lack;
        struct fi_info *found = find_fitting(row->name, &lack);
        int rc = found != NULL ? open_provider(found) : HL_ERR_OTHER;
        if (rc == 0) {
            snprintf(why, sizeof why, "%s: %s%s", row->name,
                     hl_fab.loopback ? "all ranks are on this machine, loopback only"
                                     : "best of what libfabric offers",
                     skipped);
            return 0;
        }
        if (found != NULL || lack != NULL) {
            note_skipped(skipped, sizeof skipped, row->name, found != NULL ? hl_err_text(rc) : lack);
        }
    }
    return refuse_all(skipped);
}

static int check_version(void)
{
    uint32_t version = hl_fab_lib.version();
    if (version >= OLDEST) {
        return 0;
    }
    return hl_err_say(
        HL_ERR_OTHER,
        "libfabric %u.%u is too old: %u.%u or newer is needed (LD_LIBRARY_PATH leads to another "
        "one)",
        FI_MAJOR(version), FI_MINOR(version), FI_MAJOR(OLDEST), FI_MINOR(OLDEST));
}

static void load_and_choose(void *result)
{
    uint64_t begun_ns = hl_now_ns();
    int rc = hl_fab_lib_load();
    rc = rc == 0 ? check_version() : rc;
    if (rc == 0) {
        rc = hl_conf.provider[0] != '\0' ? choose_named(hl_conf.provider) : choose_best();
    }
    hl_fab.start_ns = hl_now_ns() - begun_ns;
    *(int *)result = rc;
}

/* Signal handlers before libfabric was loaded. A provider may install its own while it loads (psm3 does, to
 * print stacks); these would replace the program's, and stay when libfabric is gone. Other threads of the
 * program may set some meanwhile, which stay: only handlers are undone whose code came with libfabric. */
static struct sigaction signals[NSIG];
static size_t objects_before; /* loaded objects (the program and shared libraries); later ones come behind */

/* A look at the loaded objects: how many there are, and which one holds which code. */
struct object_look {
    uintptr_t code[2];
    size_t count, holder[2]; /* the number of the object with that code, from 1 on; 0: none has it */
};

static int look_at_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    struct object_look *look = arg;
    look->count++;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t first = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        for (int k = 0; k < 2 && info->dlpi_phdr[i].p_type == PT_LOAD; k++) {
            bool inside = look->code[k] - first < info->dlpi_phdr[i].p_memsz;
            look->holder[k] = inside ? look->count : look->holder[k];
        }
    }
    return 0;
}

static void remember_signals(void)
{
    struct object_look look = {.count = 0};
    dl_iterate_phdr(look_at_object, &look);
    objects_before = look.count;
    for (int i = 1; i < NSIG; i++) {
        sigaction(i, NULL, &signals[i]);
    }
}

/* True for code of libfabric, or of a library that was loaded with it. */
static bool is_of_libfabric(void (*code)(int))
{
    struct object_look look = {.code = {(uintptr_t)code, (uintptr_t)hl_fab_lib.getinfo}};
    dl_iterate_phdr(look_at_object, &look);
    return look.holder[0] != 0 && (look.holder[0] > objects_before || look.holder[0] == look.holder[1]);
}

static void restore_signals(void)
{
    for (int i = 1; i < NSIG; i++) {
        struct sigaction now;
        if (sigaction(i, NULL, &now) == 0 && now.sa_handler != signals[i].sa_handler &&
            is_of_libfabric(now.sa_handler)) {
            sigaction(i, &signals[i], NULL);
        }
    }
}

/* Warns of a network card that is not used: TCP is slow. */
static void tell_unused_card(void)
{
    char text[900];
    if (hl_job.size > 1 && hl_job.rank == 0 && !hl_fab.loopback && hl_nic_warning("", text, sizeof text)) {
        hl_log(HL_LOG_WARN, "%s", text);
    }
}

/* True when a provider that pins may be chosen. A guess: settings must be lent before libfabric is loaded. */
static bool is_pinning_possible(void)
{
    return hl_conf.provider[0] != '\0' ? hl_provider_find(hl_conf.provider, OLDEST)->pins
                                       : !hl_fab.loopback && hl_nic_is_there();
}

static void tell_small_buffers(size_t wished)
{
    char may[HL_BYTES_TEXT];
    if (hl_fab.pins && buffer < wished && hl_job.rank == 0) {
        hl_log(HL_LOG_WARN,
               "this process may lock %s of memory: network buffers of %zu bytes instead of %zu, which is "
               "slower "
               "(raise `ulimit -l`, or memlock in /etc/security/limits.d)",
               hl_bytes_text(hl_lockable_bytes(), may), buffer, wished);
    }
}

static bool are_buffers_small(void)
{
    return hl_conf.small == HL_CONF_AUTO ? hl_fab.crowded : hl_conf.small == HL_CONF_ON;
}

static int open_first(void)
{
    int rc = 0;
    size_t wished = are_buffers_small() ? 4096 : 16384;
    raise_file_limit();
    bool pins = is_pinning_possible();
    buffer = hl_provider_buffer(pins ? hl_lockable_bytes() : UINT64_MAX, wished);
    remember_signals();
    hl_conf_with_env(hl_provider_settings(buffer, pins, hl_nic_is_emulated()), load_and_choose, &rc);
    restore_signals();
    if (rc != 0) {
        return rc;
    }
    tell_small_buffers(wished);
    hl_fab.version = hl_fab_lib.version();
    if (hl_fab.naps != NULL) {
        hl_log(HL_LOG_INFO, "provider %s: %s: receive threads look every millisecond", hl_fab.provider,
               hl_fab.naps);
    }
    tell_unused_card();
    hl_thread_need_stack(HL_STACK_FABRIC);
    hl_log(HL_LOG_INFO, "network: %s (libfabric %u.%u), messages up to %zu bytes without a hand-shake", why,
           FI_MAJOR(hl_fab.version), FI_MINOR(hl_fab.version), hl_fab.eager);
    return 0;
}

int hl_fab_open(void)
{
    hl_mutex_lock(&open_lock);
    if (!tried) {
        tried = true;
        open_result = open_first();
        /* release: publishes hl_fab and the fabric; pairs with the acquire in hl_fab_is_open. */
        hl_a32_store_release(&is_open, open_result == 0);
    }
    int rc = open_result;
    hl_mutex_unlock(&open_lock);
    return rc;
}

bool hl_fab_is_open(void)
{
    /* acquire: hl_fab and the fabric are set; pairs with the release in hl_fab_open. */
    return hl_a32_load_acquire(&is_open) != 0;
}

const char *hl_fab_why(void)
{
    return why;
}

bool hl_fab_report(size_t *i, struct hl_fab_report *out)
{
    const struct hl_provider *row;
    do {
        row = hl_provider_row((*i)++, hl_fab_lib.version());
    } while (row != NULL && !hl_fab_has(row));
    if (row == NULL) {
        return false;
    }
    const char *lack;
    struct fi_info *found = find_fitting(row->name, &lack);
    *out = found != NULL && row == hl_fab.row ? (struct hl_fab_report){row, "used", NULL}
           : found != NULL && row->by_name != NULL
               ? (struct hl_fab_report){row, "taken by name only", row->by_name}
           : found != NULL ? (struct hl_fab_report){row, "offered", NULL}
           : lack != NULL
               ? (struct hl_fab_report){row, "refused", lack}
               : (struct hl_fab_report){row, "not offered", "libfabric finds no device or address for it"};
    if (found != NULL) {
        hl_fab_lib.freeinfo(found);
    }
    return true;
}

const char *hl_fab_usable(void)
{
    static char offers[256];
    const struct hl_provider *row;
    offers[0] = '\0';
    for (size_t i = 0; hl_fab_is_open() && (row = next_choice(&i)) != NULL;) {
        const char *lack;
        struct fi_info *found = find_fitting(row->name, &lack);
        size_t used = strlen(offers);
        if (found != NULL) {
            snprintf(offers + used, sizeof offers - used, "%s%s", used > 0 ? ", " : "", row->name);
            hl_fab_lib.freeinfo(found);
        }
    }
    return offers;
}

bool hl_fab_has(const struct hl_provider *row)
{
    struct fi_info *list = NULL;
    bool found = false;
    size_t len = hl_provider_core(row);
    if (hl_fab_lib.getinfo(OLDEST, NULL, NULL, FI_PROV_ATTR_ONLY, NULL, &list) == 0) {
        for (const struct fi_info *i = list; i != NULL; i = i->next) {
            const char *name = i->fabric_attr->prov_name;
            found = found || (strlen(name) == len && strncmp(name, row->name, len) == 0);
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
        close_provider();
        hl_fab_cards_forget();
        tried = false;
    }
    hl_mutex_unlock(&open_lock);
}
