/* Files that are made: by the permissions that were asked for, or not at all; and room for what will be written,
 * where the file system cannot give it. */
#include "io_test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* Root may open any file; users may not. */
static void be_a_user(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3];

    CHECK_EQ(syscall(SYS_capget, &head, caps), 0);
    uint32_t override = UINT32_C(1) << CAP_DAC_OVERRIDE | UINT32_C(1) << CAP_DAC_READ_SEARCH;
    caps[0].effective &= ~override;
    caps[0].permitted &= ~override; /* who reads another's memory must have all that this may have */
    CHECK_EQ(syscall(SYS_capset, &head, caps), 0);
}

static int open_as(const char *file, int amode, const char *perms, MPI_File *f)
{
    MPI_Info info;

    MPI_Info_create(&info);
    if (perms != NULL) {
        MPI_Info_set(info, "file_perm", perms);
    }
    int code = MPI_File_open(MPI_COMM_WORLD, file, amode | MPI_MODE_CREATE, info, f);
    MPI_Info_free(&info);
    return code;
}

static int perms_of_file(void)
{
    struct stat s;

    CHECK_EQ(stat(name, &s), 0);
    return (int)(s.st_mode & 07777);
}

static void remove_file(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(me != 0 || unlink(name) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* All ranks get the file that rank 0 makes, which later nobody may write. */
static void permissions(void)
{
    static const struct {
        const char *hint;
        mode_t mask;
        int amode, perms;
    } rows[] = {
        {"0444", 0, MPI_MODE_WRONLY, 0444},  {"444", 0022, MPI_MODE_RDWR | MPI_MODE_EXCL, 0444},
        {"0", 0, MPI_MODE_RDWR, 0},          {"0000000000000000640", 0, MPI_MODE_RDWR, 0640},
        {"0266", 0022, MPI_MODE_RDWR, 0244}, {NULL, 0222, MPI_MODE_WRONLY | MPI_MODE_EXCL, 0444},
        {NULL, 0022, MPI_MODE_RDWR, 0644},
    };
    MPI_File f;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mode_t mask = umask(rows[i].mask);
        OK(open_as(name, rows[i].amode, rows[i].hint, &f));
        CHECK_EQ(perms_of_file(), rows[i].perms);
        OK(MPI_File_write_at_all(f, me, "x", 1, MPI_CHAR, MPI_STATUS_IGNORE));
        OK(MPI_File_close(&f));
        CHECK_EQ(perms_of_file(), rows[i].perms);
        umask(mask);
        remove_file();
    }
    /* A file that is there keeps its own. */
    if (me == 0) {
        close(open(name, O_CREAT | O_WRONLY, 0600));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    OK(open_as(name, MPI_MODE_RDWR, "0444", &f));
    CHECK_EQ(perms_of_file(), 0600);
    OK(MPI_File_close(&f));
    remove_file();
}

static int stat_after(struct stat *s)
{
    MPI_Barrier(MPI_COMM_WORLD);
    int rc = stat(name, s);
    MPI_Barrier(MPI_COMM_WORLD);
    return rc;
}

/* The last rank cannot open the file: what rank 0 has made for that goes, what was there stays. */
static void nothing_left(void)
{
    char nowhere[300];
    struct stat s;
    MPI_File f;

    snprintf(nowhere, sizeof nowhere, "%s-nowhere/x", name);
    const char *mine = me == size - 1 ? nowhere : name;
    for (int i = 0; i < 2; i++) {
        CHECK_CLASS(open_as(mine, MPI_MODE_RDWR | (i == 0 ? 0 : MPI_MODE_EXCL), i == 0 ? NULL : "0400", &f),
                    MPI_ERR_NO_SUCH_FILE);
        CHECK(stat_after(&s) != 0 && errno == ENOENT);
    }
    for (int bytes = 0; bytes < 2; bytes++) {
        if (me == 0) {
            int fd = open(name, O_CREAT | O_EXCL | O_WRONLY, 0600);
            CHECK(fd >= 0 && write(fd, "x", (size_t)bytes) == bytes);
            close(fd);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_CLASS(open_as(mine, MPI_MODE_RDWR, "0400", &f), MPI_ERR_NO_SUCH_FILE);
        CHECK(stat_after(&s) == 0 && s.st_size == bytes && (s.st_mode & 0777) == 0600);
        remove_file();
    }
    /* A link whose file is not there is no file. */
    if (me == 0) {
        snprintf(nowhere, sizeof nowhere, "%s-linked", name);
        CHECK_EQ(symlink(nowhere, name), 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    OK(open_as(name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, NULL, &f));
    CHECK_EQ(stat_after(&s), 0);
    OK(MPI_File_close(&f));
    CHECK(stat_after(&s) != 0 && errno == ENOENT);
    remove_file();
}

/* The kernel has no fallocate for us, as some file systems. */
static bool forbid_fallocate(int error)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fallocate, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* Room is taken behind what is there, which nobody needs to read for it. */
static void room(void)
{
    static const MPI_Offset sizes[] = {2, 100, 4096, 3000000, 10};
    char bytes[200];
    MPI_Offset before = size, now = -1;
    MPI_Status st;
    MPI_File f;
    int n = 0;

    OK(open_as(name, MPI_MODE_WRONLY, NULL, &f));
    OK(MPI_File_write_at_all(f, me, "x", 1, MPI_CHAR, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        OK(MPI_File_preallocate(f, sizes[i]));
        OK(MPI_File_get_size(f, &now));
        before = sizes[i] > before ? sizes[i] : before;
        CHECK_EQ(now, before);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    OK(MPI_File_close(&f));
    OK(open_as(name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, NULL, &f));
    OK(MPI_File_read_at(f, 0, bytes, sizeof bytes, MPI_BYTE, &st));
    MPI_Get_count(&st, MPI_BYTE, &n);
    CHECK_EQ(n, (int)sizeof bytes);
    for (int i = 0; i < size; i++) {
        CHECK_EQ(bytes[i], 'x');
    }
    OK(MPI_File_close(&f));
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(void)
{
    be_a_user(); /* before drivers of network cards are open, which refuse who has changed its rights since then */
    io_start("io-made");
    permissions();
    nothing_left();
    room();
    if (forbid_fallocate(EOPNOTSUPP)) {
        room();
        forbid_fallocate(ENOSYS); /* the last filter's word counts */
        room();
    }
    MPI_Finalize();
    return 0;
}
