/* Finds the stretches of symmetric static data by the loader's list of objects. */
#include "objects.h"

#include "err.h"
#include "util.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#define COPY_RELOCATION R_X86_64_COPY
#elif defined(__aarch64__)
#define COPY_RELOCATION R_AARCH64_COPY
#elif defined(__powerpc64__)
#define COPY_RELOCATION R_PPC64_COPY
#elif defined(__riscv)
#define COPY_RELOCATION R_RISCV_COPY
#elif defined(__s390x__)
#define COPY_RELOCATION R_390_COPY
#else
#error "the number of this machine's copy relocation is not known"
#endif

struct object {
    const char *path; /* from the loader; "" for the executable */
    const char *name; /* SONAME, or the path's last part */
    ElfW(Addr) at;
    const ElfW(Phdr) * ph;
    int n_ph;
    const ElfW(Dyn) * dyn;
    const char *strings;
    unsigned is; /* enum mark */
};

enum mark {
    START = 1, /* loaded with the program */
    OURS = 2,  /* Hotlane, or needed by it */
    CHOSEN = 4
};

struct objects {
    struct object *at;
    int n;
    size_t room;
};

/* ---- reading an object ---- */

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* The loaded address for a value of the dynamic section, which some loaders leave as it is in the file. */
static const void *loaded_address(const struct object *o, ElfW(Addr) value)
{
    return (const void *)(value < o->at ? value + o->at : value);
}

static ElfW(Addr) dyn_value(const struct object *o, ElfW(Sxword) tag)
{
    for (const ElfW(Dyn) *d = o->dyn; d != NULL && d->d_tag != DT_NULL; d++) {
        if (d->d_tag == tag) {
            return d->d_un.d_ptr;
        }
    }
    return 0;
}

static const ElfW(Phdr) * find_header(const struct object *o, uint32_t type)
{
    for (int i = 0; i < o->n_ph; i++) {
        if (o->ph[i].p_type == type) {
            return &o->ph[i];
        }
    }
    return NULL;
}

static int add_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct objects *list = arg;
    (void)size;
    if (!hl_grow(&list->at, (size_t)list->n, &list->room, sizeof *list->at)) {
        return HL_ERR_NO_MEM;
    }
    struct object *o = &list->at[list->n++];
    *o = (struct object){.path = list->n == 1 ? "" : info->dlpi_name,
                         .at = info->dlpi_addr,
                         .ph = info->dlpi_phdr,
                         .n_ph = info->dlpi_phnum};
    const ElfW(Phdr) *dynamic = find_header(o, PT_DYNAMIC);
    o->dyn = dynamic != NULL ? (const void *)(o->at + dynamic->p_vaddr) : NULL;
    o->strings = loaded_address(o, dyn_value(o, DT_STRTAB));
    ElfW(Addr) soname = dyn_value(o, DT_SONAME);
    o->name = soname != 0 ? o->strings + soname : last_part(o->path);
    return 0;
}

static int collect_objects(struct objects *list)
{
    *list = (struct objects){NULL, 0, 0};
    if (dl_iterate_phdr(add_object, list) != 0 || list->n == 0) {
        free(list->at);
        return hl_err_say(HL_ERR_NO_MEM, "no memory for the list of loaded objects");
    }
    return 0;
}

static bool is_in(const struct object *o, const void *addr)
{
    for (int i = 0; i < o->n_ph; i++) {
        const ElfW(Phdr) *p = &o->ph[i];
        if (p->p_type == PT_LOAD && (ElfW(Addr))addr - (o->at + p->p_vaddr) < p->p_memsz) {
            return true;
        }
    }
    return false;
}

/* ---- choosing objects ---- */

static bool does_need_library(const struct object *o, const char *name)
{
    for (const ElfW(Dyn) *d = o->dyn; d != NULL && d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_NEEDED && strcmp(o->strings + d->d_un.d_val, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Does a relocation of this table name a function of OpenSHMEM? */
static bool does_name_shmem(const struct object *o, ElfW(Sxword) table, ElfW(Sxword) bytes)
{
    const ElfW(Rela) *rela = loaded_address(o, dyn_value(o, table));
    const ElfW(Sym) *symbols = loaded_address(o, dyn_value(o, DT_SYMTAB));
    size_t n = dyn_value(o, table) != 0 ? dyn_value(o, bytes) / sizeof *rela : 0;
    for (size_t i = 0; i < n; i++) {
        const char *name = o->strings + symbols[ELF64_R_SYM(rela[i].r_info)].st_name;
        if (strncmp(name, "shmem_", 6) == 0 || strcmp(name, "start_pes") == 0) {
            return true;
        }
    }
    return false;
}

/* Was the object linked with OpenSHMEM, under either name of the library? */
static bool does_need_shmem(const struct object *o)
{
    return does_need_library(o, "libsma.so.1") ||
           (does_need_library(o, "libhotlane.so.0") &&
            (does_name_shmem(o, DT_RELA, DT_RELASZ) || does_name_shmem(o, DT_JMPREL, DT_PLTRELSZ)));
}

static bool is_library_of_ours(const struct object *o)
{
    static const char *const names[] = {"libhotlane.so.0", "libsma.so.1", "libmpi_abi.so.1"};
    for (size_t i = 0; i < HL_COUNT_OF(names); i++) {
        if (strcmp(o->name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Marks all objects that marked objects need, directly or through others. */
static void spread_mark(struct objects *list, enum mark mark)
{
    bool more = true;
    while (more) {
        more = false;
        for (int i = 0; i < list->n; i++) {
            for (int k = 0; k < list->n && (list->at[i].is & mark) != 0; k++) {
                struct object *to = &list->at[k];
                if ((to->is & mark) == 0 && does_need_library(&list->at[i], to->name)) {
                    to->is |= mark;
                    more = true;
                }
            }
        }
    }
}

static bool is_in_folder(const char *path, const char *with, size_t len)
{
    return strncmp(path, with, len) == 0 && path[len] == '/';
}

static bool is_of_system(const struct objects *list, const struct object *o)
{
    static const char *const folders[] = {"/lib", "/lib64", "/usr/lib", "/usr/lib64"};
    for (size_t i = 0; i < HL_COUNT_OF(folders); i++) {
        if (is_in_folder(o->path, folders[i], strlen(folders[i]))) {
            return true;
        }
    }
    for (int i = 0; i < list->n; i++) {
        const struct object *c = &list->at[i];
        size_t folder = (size_t)(last_part(c->path) - c->path);
        if (strcmp(c->name, "libc.so.6") == 0 && folder > 1 && is_in_folder(o->path, c->path, folder - 1)) {
            return true;
        }
    }
    return false;
}

/* Is the library part of the executable (libhotlane.a)? Then no library's name tells that the program uses
 * SHMEM. */
static bool is_in_executable(const struct objects *list)
{
    return is_in(&list->at[0], (const void *)(uintptr_t)&hl_objects_find);
}

static void choose_objects(struct objects *list)
{
    bool with_program = is_in_executable(list) || does_need_shmem(&list->at[0]);
    list->at[0].is |= START;
    spread_mark(list, START);
    for (int i = 1; i < list->n; i++) {
        struct object *o = &list->at[i];
        o->is |= is_library_of_ours(o) ? OURS : 0;
        with_program = with_program || ((o->is & START) != 0 && strcmp(o->name, "libsma.so.1") == 0);
    }
    spread_mark(list, OURS);
    list->at[0].is |= with_program ? CHOSEN : 0;
    for (int i = 1; i < list->n; i++) {
        struct object *o = &list->at[i];
        bool came_along = with_program && (o->is & START) != 0 && !is_of_system(list, o);
        o->is |= (o->is & OURS) == 0 && (came_along || does_need_shmem(o)) ? CHOSEN : 0;
    }
}

static bool is_chosen(const struct object *o)
{
    return (o->is & CHOSEN) != 0;
}

/* ---- stretches ---- */

static uint64_t stir_hash(uint64_t hash, const void *data, size_t len)
{
    const uint64_t key[2] = {hash, 0};
    return hl_siphash(key, data, len);
}

/* Adds the linker's build id to the hash, or, if there is none, the object's table of names. */
static uint64_t stir_build(uint64_t hash, const struct object *o)
{
    for (int i = 0; i < o->n_ph; i++) {
        const ElfW(Phdr) *p = &o->ph[i];
        const char *note = (const char *)(o->at + p->p_vaddr), *end = note + p->p_memsz;
        while (p->p_type == PT_NOTE && note + sizeof(ElfW(Nhdr)) < end) {
            const ElfW(Nhdr) *n = (const void *)note;
            const char *text = note + sizeof *n, *data = text + hl_round_up(n->n_namesz, 4);
            if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 && memcmp(text, "GNU", 4) == 0) {
                return stir_hash(hash, data, n->n_descsz);
            }
            note = data + hl_round_up(n->n_descsz, p->p_align == 8 ? 8 : 4);
        }
    }
    return stir_hash(hash, o->strings, dyn_value(o, DT_STRSZ));
}

static uint64_t hash_object(const struct object *o, bool is_executable)
{
    uint64_t hash = is_executable ? 1 : stir_hash(2, o->name, strlen(o->name));
    return stir_build(stir_hash(hash, o->ph, (size_t)o->n_ph * sizeof *o->ph), o);
}

/* Sets *out to the stretch of one writable segment of the object; false when all of it is read-only now. The
 * loader makes only whole pages read-only: the page in which RELRO ends stays writable. */
static bool cut_stretch(const struct object *o, const ElfW(Phdr) * p, struct hl_stretch *out)
{
    const ElfW(Phdr) *relro = find_header(o, PT_GNU_RELRO);
    ElfW(Addr) page = (ElfW(Addr))sysconf(_SC_PAGESIZE), at = o->at + p->p_vaddr;
    ElfW(Addr) lo = at & ~(page - 1), hi = hl_round_up(at + p->p_memsz, page);
    if (relro != NULL && relro->p_vaddr >= (p->p_vaddr & ~(page - 1)) &&
        relro->p_vaddr < p->p_vaddr + p->p_memsz) {
        ElfW(Addr) end = (o->at + relro->p_vaddr + relro->p_memsz) & ~(page - 1);
        lo = end > lo ? end : lo;
    }
    if (lo >= hi) {
        return false;
    }
    ElfW(Addr) file_end = at + p->p_filesz;
    *out = (struct hl_stretch){.base = (char *)lo, /* NOLINT(performance-no-int-to-ptr) */
                               .len = hi - lo,
                               .filled = file_end > lo ? file_end - lo : 0};
    return true;
}

static int count_stretches(const struct objects *list)
{
    struct hl_stretch s;
    int n = 0;
    for (int i = 0; i < list->n; i++) {
        for (int k = 0; k < list->at[i].n_ph && is_chosen(&list->at[i]); k++) {
            const ElfW(Phdr) *p = &list->at[i].ph[k];
            n += p->p_type == PT_LOAD && (p->p_flags & PF_W) != 0 && cut_stretch(&list->at[i], p, &s);
        }
    }
    return n;
}

static void add_stretches(const struct object *o, bool is_executable, struct hl_objects *out)
{
    for (int k = 0; k < o->n_ph; k++) {
        struct hl_stretch *s = &out->stretches[out->n_stretches];
        const ElfW(Phdr) *p = &o->ph[k];
        if (p->p_type == PT_LOAD && (p->p_flags & PF_W) != 0 && cut_stretch(o, p, s)) {
            s->id = stir_hash(hash_object(o, is_executable), &k, sizeof k);
            snprintf(s->name, sizeof s->name, "%s", is_executable ? "the executable" : o->name);
            out->n_stretches++;
        }
    }
}

/* ---- variables of other libraries in the executable ---- */

/* Does a chosen library define the variable? Then the executable's copy is the program's own data. */
static bool is_of_program(const struct objects *list, const char *name)
{
    for (int i = 1; i < list->n; i++) {
        void *handle = is_chosen(&list->at[i]) ? dlopen(list->at[i].path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
        bool here = handle != NULL && is_in(&list->at[i], dlsym(handle, name));
        if (handle != NULL) {
            dlclose(handle);
        }
        if (here) {
            return true;
        }
    }
    return false;
}

static int compare_address(const void *a, const void *b)
{
    const struct hl_foreign *x = a, *y = b;
    return x->base < y->base ? -1 : x->base > y->base;
}

static int add_foreign(const struct objects *list, struct hl_objects *out)
{
    const struct object *o = &list->at[0];
    const ElfW(Rela) *rela = loaded_address(o, dyn_value(o, DT_RELA));
    const ElfW(Sym) *symbols = loaded_address(o, dyn_value(o, DT_SYMTAB));
    size_t n = dyn_value(o, DT_RELA) != 0 ? dyn_value(o, DT_RELASZ) / sizeof *rela : 0, copies = 0;
    for (size_t i = 0; i < n; i++) {
        copies += ELF64_R_TYPE(rela[i].r_info) == COPY_RELOCATION;
    }
    out->foreign = calloc(copies + 1, sizeof *out->foreign);
    if (out->foreign == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for the list of copied names");
    }
    for (size_t i = 0; i < n && is_chosen(o); i++) {
        const ElfW(Sym) *s = &symbols[ELF64_R_SYM(rela[i].r_info)];
        if (ELF64_R_TYPE(rela[i].r_info) == COPY_RELOCATION &&
            !is_of_program(list, o->strings + s->st_name)) {
            out->foreign[out->n_foreign++] = (struct hl_foreign){.base = (char *)(o->at + rela[i].r_offset),
                                                                 .len = s->st_size,
                                                                 .name = o->strings + s->st_name};
        }
    }
    qsort(out->foreign, (size_t)out->n_foreign, sizeof *out->foreign, compare_address);
    return 0;
}

/* ---- public functions ---- */

static void drop_objects(struct hl_objects *objects)
{
    free(objects->stretches);
    free(objects->foreign);
    *objects = (struct hl_objects){.is_static = false};
}

int hl_objects_find(struct hl_objects *out)
{
    struct objects list;
    *out = (struct hl_objects){.is_static = false};
    int rc = collect_objects(&list);
    if (rc != 0) {
        return rc;
    }
    choose_objects(&list);
    out->is_static = find_header(&list.at[0], PT_INTERP) == NULL;
    out->stretches = calloc((size_t)count_stretches(&list) + 1, sizeof *out->stretches);
    if (out->stretches == NULL) {
        rc = hl_err_say(HL_ERR_NO_MEM, "no memory for the list of static data");
        goto drop_list;
    }
    for (int i = 0; i < list.n; i++) {
        if (is_chosen(&list.at[i])) {
            add_stretches(&list.at[i], i == 0, out);
        }
        if (is_chosen(&list.at[i]) && i > 0) { /* kept loaded: the handle is never closed */
            (void)dlopen(list.at[i].path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
        }
    }
    rc = add_foreign(&list, out);
    if (rc != 0) {
        drop_objects(out);
    }
drop_list:
    free(list.at);
    return rc;
}

bool hl_objects_have_shmem(void)
{
    struct objects list;
    if (collect_objects(&list) != 0) {
        return false;
    }
    bool have = is_in_executable(&list);
    for (int i = 0; i < list.n; i++) {
        have = have || does_need_shmem(&list.at[i]);
    }
    free(list.at);
    return have;
}

const char *hl_objects_name_at(const void *addr)
{
    Dl_info info;
    return dladdr(addr, &info) != 0 && info.dli_fname != NULL ? last_part(info.dli_fname) : "";
}
