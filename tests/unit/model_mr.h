/* Registrations of the model provider (model.h), as its mode bits have them: keys that are asked for or its
 * own, addresses or offsets, bound and enabled before they are of use. */
#ifndef MODEL_MR_H
#define MODEL_MR_H

#include "model_state.h"

/* Set before the provider is opened. */
static uint64_t model_mr_mode = FI_MR_VIRT_ADDR;
static size_t model_key_size = 8;

struct model_mr {
    struct fid_mr fid;
    struct model_mr *next;
    char *base;
    size_t len;
    uint64_t key; /* of fid when enabled */
    bool bound, enabled;
};

static struct model_mr *model_regions;
static uint64_t model_keys_given;

static int model_mr_close(struct fid *fid)
{
    struct model_mr **at = &model_regions;
    while (&(*at)->fid.fid != fid) {
        at = &(*at)->next;
    }
    struct model_mr *mr = *at;
    *at = mr->next;
    free(mr);
    model.objects--;
    return 0;
}

static int model_mr_bind(struct fid *fid, struct fid *to, uint64_t flags)
{
    (void)flags;
    struct model_mr *mr = fid->context;
    if ((model_mr_mode & FI_MR_ENDPOINT) == 0 || to->fclass != FI_CLASS_EP) {
        return -FI_EINVAL;
    }
    mr->bound = true;
    return 0;
}

static int model_mr_control(struct fid *fid, int command, void *arg)
{
    (void)arg;
    struct model_mr *mr = fid->context;
    if (command != FI_ENABLE || !mr->bound) {
        return -FI_EINVAL;
    }
    mr->enabled = true;
    mr->fid.key = mr->key;
    return 0;
}

static struct fi_ops model_mr_fid_ops = {.size = sizeof model_mr_fid_ops,
                                         .close = model_mr_close,
                                         .bind = model_mr_bind,
                                         .control = model_mr_control};

static bool model_key_is_taken(uint64_t key)
{
    const struct model_mr *mr = model_regions;
    while (mr != NULL && mr->fid.key != key) {
        mr = mr->next;
    }
    return mr != NULL;
}

/* Its own are of 4 bytes, as those of InfiniBand. */
static int model_choose_key(uint64_t wish, uint64_t *key)
{
    if (model_mr_mode & FI_MR_PROV_KEY) {
        *key = (++model_keys_given * UINT64_C(2654435761)) & 0xffffffff;
        return 0;
    }
    *key = wish;
    bool fits = model_key_size >= 8 || wish >> (8 * model_key_size) == 0;
    return !fits ? -FI_EKEYREJECTED : model_key_is_taken(wish) ? -FI_ENOKEY : 0;
}

static int model_mr_reg(struct fid *domain, const struct fi_mr_attr *attr, uint64_t flags,
                        struct fid_mr **out)
{
    (void)domain, (void)flags;
    model.registered++;
    if (model.mr_again > 0 || model.mr_no_key > 0) {
        return model.mr_again > 0 ? (model.mr_again--, -FI_EAGAIN) : (model.mr_no_key--, -FI_ENOKEY);
    }
    uint64_t key;
    int rc = model_choose_key(attr->requested_key, &key);
    if (rc != 0) {
        return rc;
    }
    struct model_mr *mr = calloc(1, sizeof *mr);
    *mr = (struct model_mr){.fid = {{FI_CLASS_MR, mr, &model_mr_fid_ops}, .key = key},
                            .next = model_regions,
                            .base = attr->mr_iov->iov_base,
                            .len = attr->mr_iov->iov_len,
                            .key = key,
                            .enabled = (model_mr_mode & FI_MR_ENDPOINT) == 0};
    if (!mr->enabled) {
        mr->fid.key = FI_KEY_NOTAVAIL; /* until then, see model_mr_control */
    }
    model_regions = mr;
    model.objects++;
    *out = &mr->fid;
    return 0;
}

static struct fi_ops_mr model_mr_ops = {.size = sizeof model_mr_ops, .regattr = model_mr_reg};

/* The memory that an operation names, or NULL: such an operation fails. Without model.keys all of this
 * process's is within reach, whatever the key. */
static uint64_t *model_reach(uint64_t key, uint64_t addr, size_t len)
{
    if (!model.keys) {
        return (uint64_t *)(uintptr_t)addr;
    }
    for (const struct model_mr *mr = model_regions; mr != NULL; mr = mr->next) {
        uint64_t first = model_mr_mode & FI_MR_VIRT_ADDR ? (uint64_t)(uintptr_t)mr->base : 0;
        if (mr->enabled && mr->fid.key == key && addr - first <= mr->len && len <= mr->len - (addr - first)) {
            return (uint64_t *)(void *)(mr->base + (addr - first));
        }
    }
    return NULL;
}

#endif
