/* mpiexec: recognizes programs of another MPI. Each of their ranks is alone ("rank 0 of 1") and may end with
 * exit code 0, so nothing else would show it. The loader can list the libraries of a program at any time.
 * Libraries that are loaded later, or by programs that a script starts, are looked for when ranks that have
 * not spoken PMI write output. Programs without any MPI are left alone. */
#include "mx.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* What is known about the program of a part. */
struct finding {
    char *library; /* path of another MPI's library, or NULL */
    bool ours;     /* it has this library, too, and has only not initialized it */
};
static struct finding *finding;

static bool is_mpi(const char *file)
{
    static const char *const libraries[] = {"libmpi.so",     "libmpi_",    "libmpich.so",  "libmpich_",
                                            "liboshmem.so.", "libsma.so.", "libhotlane.so"};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        if (!strncmp(file, libraries[i], strlen(libraries[i]))) {
            return true;
        }
    }
    return false;
}

static void take_library(struct finding *f, const char *path)
{
    const char *file = strrchr(path, '/'), *folder = hl_mx_library_folder();
    if (!file || !is_mpi(file + 1)) {
        return;
    }
    char *real = realpath(path, NULL);
    const char *end = real ? strrchr(real, '/') : NULL;
    if (!strncmp(file + 1, "libhotlane", 10) ||
        (end && folder && !strncmp(real, folder, (size_t)(end - real)) && !folder[end - real])) {
        f->ours = true;
    } else if (!f->library) {
        f->library = strcpy(hl_mx_alloc(strlen(path) + 1), path);
    }
    free(real);
}

/* Looks at the paths in lines: each from behind `mark` to the next blank. */
static void take_lines(struct finding *f, FILE *in, const char *mark)
{
    char *line = NULL;
    size_t cap = 0;
    while (getline(&line, &cap, in) >= 0) {
        char *path = strstr(line, mark);
        if (path && (path = strchr(path, '/'))) {
            path[strcspn(path, " \n")] = 0;
            take_library(f, path);
        }
    }
    free(line);
}

/* Is the process another launcher? Its ranks are not of this job. */
static bool is_launcher(int pid)
{
    static const char *const launchers[] = {"mpiexec", "mpirun", "oshrun", "orterun", "prterun",
                                            "orted",   "prted",  "hydra",  "srun"};
    char path[64], name[32] = "";
    snprintf(path, sizeof path, "/proc/%d/comm", pid);
    FILE *in = fopen(path, "re");
    if (!in || !fgets(name, sizeof name, in)) {
        name[0] = 0;
    }
    if (in) {
        fclose(in);
    }
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        if (!strncmp(name, launchers[i], strlen(launchers[i]))) {
            return true;
        }
    }
    return false;
}

/* Looks at the libraries of a process and of its children. */
static void look_at(struct finding *f, int pid, int depth)
{
    char path[64];
    int child;
    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    FILE *in = fopen(path, "re");
    if (in) {
        take_lines(f, in, " /");
        fclose(in);
    }
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", pid, pid);
    in = depth > 0 && !is_launcher(pid) ? fopen(path, "re") : NULL;
    while (in && fscanf(in, "%d", &child) == 1) {
        look_at(f, child, depth - 1);
    }
    if (in) {
        fclose(in);
    }
}

void hl_mx_foreign_look(int rank)
{
    enum { DEPTH = 8 }; /* levels of scripts that start scripts */
    struct hl_mx_rank *r = &hl_mx.rank[rank];
    struct finding *f = &finding[r->part];
    r->writes++;
    if (hl_mx.size == 1 || r->spoke || r->exited || f->library || (r->writes & (r->writes - 1))) {
        return; /* looks at outputs 1, 2, 4, 8, ...: a process that writes much has loaded all */
    }
    look_at(f, (int)r->pid, DEPTH);
}

void hl_mx_foreign_open(void)
{
    finding = hl_mx_alloc(sizeof *finding * (size_t)hl_mx.opt.nparts);
}

/* Writes to `path` the file that exec would run for `name`: itself if it has a slash, else the first found in
 * PATH. */
static bool find_program(const char *name, char *path, size_t cap)
{
    struct stat st;
    const char *dirs = getenv("PATH");
    if (strchr(name, '/')) {
        return (size_t)snprintf(path, cap, "%s", name) < cap;
    }
    for (; dirs && *dirs; dirs += strcspn(dirs, ":"), dirs += *dirs == ':') {
        int len = (int)strcspn(dirs, ":");
        if ((size_t)snprintf(path, cap, "%.*s/%s", len ? len : 1, len ? dirs : ".", name) < cap &&
            !access(path, X_OK) && !stat(path, &st) && S_ISREG(st.st_mode)) {
            return true;
        }
    }
    return false;
}

/* Writes to `loader` the loader that the program's header names; false: it names none, or is no program. */
static bool find_loader(int dir, const char *path, char *loader, size_t cap)
{
    Elf64_Ehdr head;
    Elf64_Phdr part;
    int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
    bool found = false;
    if (fd >= 0 && pread(fd, &head, sizeof head, 0) == (ssize_t)sizeof head &&
        !memcmp(head.e_ident, ELFMAG, SELFMAG) && head.e_ident[EI_CLASS] == ELFCLASS64 &&
        head.e_phentsize == sizeof part) {
        for (int i = 0; i < head.e_phnum && !found; i++) {
            found = pread(fd, &part, sizeof part, (off_t)head.e_phoff + i * (off_t)sizeof part) ==
                        (ssize_t)sizeof part &&
                    part.p_type == PT_INTERP && part.p_filesz < cap &&
                    pread(fd, loader, part.p_filesz, (off_t)part.p_offset) == (ssize_t)part.p_filesz;
        }
    }
    if (found) {
        loader[part.p_filesz] = 0;
    }
    if (fd >= 0) {
        close(fd);
    }
    return found;
}

/* Has the loader list the libraries of the program of part `p`, as found for its ranks. No code of the
 * program runs. */
static void ask_loader(struct finding *f, int p)
{
    const struct hl_mx_part *part = &hl_mx.opt.part[p];
    char path[PATH_MAX], loader[PATH_MAX];
    int out[2], dir = part->wdir ? open(part->wdir, O_PATH | O_DIRECTORY | O_CLOEXEC) : AT_FDCWD;
    if (!find_program(part->argv[0], path, sizeof path) || !find_loader(dir, path, loader, sizeof loader) ||
        pipe2(out, O_CLOEXEC)) {
        return;
    }
    char *words[] = {loader, (char[]){"--list"}, path, NULL};
    pid_t pid = fork();
    if (!pid) {
        hl_mx_signals_restore();
        if ((dir < 0 || !fchdir(dir)) && dup2(out[1], 1) == 1 && dup2(hl_mx.pmi_slot, 2) == 2) {
            execve(loader, words, hl_mx_spawn_env(p));
        }
        _exit(127);
    }
    close(out[1]);
    FILE *in = fdopen(out[0], "r");
    if (in) {
        take_lines(f, in, " => ");
        fclose(in);
    }
    if (pid > 0) {
        waitpid(pid, NULL, 0);
    }
    if (dir >= 0) {
        close(dir);
    }
}

void hl_mx_foreign_tell(void)
{
    bool shmem = hl_mx_is_shmem();
    for (int p = 0; p < hl_mx.opt.nparts && hl_mx.size > 1; p++) {
        struct finding *f = &finding[p];
        bool spoke = false, ran = false;
        for (int i = 0; i < hl_mx.size; i++) {
            spoke |= hl_mx.rank[i].part == p && hl_mx.rank[i].spoke;
            ran |= hl_mx.rank[i].part == p && hl_mx.rank[i].pid;
        }
        if (spoke || !ran) {
            continue;
        }
        if (!f->library) {
            ask_loader(f, p);
        }
        if (f->library && !f->ours) {
            hl_mx_say("%s did not speak to this launcher and loads %s, which is not Hotlane's: each rank "
                      "that calls "
                      "%s is number 0 of 1 there; compile it with Hotlane's %s, or start it with that "
                      "library's own "
                      "launcher",
                      hl_mx.opt.part[p].argv[0], f->library, shmem ? "shmem_init" : "MPI_Init",
                      shmem ? "oshcc" : "mpicc");
        }
    }
}
