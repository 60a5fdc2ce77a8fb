/* boot: the choice is never a guess, any bytes survive the launcher, and a singleton opens nothing. */
#include "../process.h"
#include "unit.h"

#include "boot.h"
#include "boot_code.h"
#include "boot_method.h"
#include "conf.h"
#include "err.h"
#include "job.h"
#include "pmi1.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* The environment a choice sees: NAME=VALUE strings up to NULL. */
static const char *const *fake;

static const char *fake_env(const char *name)
{
    static char server[16]; /* other runs of this test have another */
    size_t n = strlen(name);
    if (!strcmp(name, "PMIX_SERVER_URI2")) {
        snprintf(server, sizeof server, "%d", (int)getpid());
        return server;
    }
    for (const char *const *e = fake; e && *e; e++) {
        if (!strncmp(*e, name, n) && (*e)[n] == '=') {
            return *e + n + 1;
        }
    }
    return NULL;
}

#define ENV(...) (fake = (const char *const[]){__VA_ARGS__, NULL})

static int choose(const char *forced, const char **name)
{
    static struct hl_boot_job job;
    const struct hl_boot_method *m = NULL;
    int rc = hl_boot_choose(forced, fake_env, &m, &job);
    *name = m ? m->name : "none";
    return rc;
}

START_TEST(every_byte_value_and_length_survives_as_text)
{
    unsigned char in[1024], out[1024];
    char text[2048];
    size_t text_len, data_len;
    for (size_t len = 0; len <= sizeof in; len++) {
        for (size_t i = 0; i < len; i++) {
            in[i] = (unsigned char)(i * 7 + len);
        }
        hl_boot_code_write(in, len, text);
        ck_assert_uint_eq(strlen(text), hl_boot_code_size(len));
        ck_assert_uint_eq(strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."),
                          strlen(text));
        ck_assert_int_eq(hl_boot_code_look(text, &text_len, &data_len), 0);
        ck_assert_uint_eq(text_len, strlen(text));
        ck_assert_uint_eq(data_len, len);
        ck_assert_int_eq(hl_boot_code_read(text, out, len), 0);
        ck_assert_int_eq(memcmp(in, out, len), 0);
    }
}
END_TEST

START_TEST(texts_that_were_changed_are_refused)
{
    static const char *const bad[] = {
        "",        "3",    ".AAAA", "3.AAA",  "3.AAAAA", "3.AA A",  "03.AAAA",
        "-3.AAAA", "1.AB", "2.AAB", "x.AAAA", "1.A=",    "3.AAA\n", "99999999999999.A"};
    unsigned char out[16];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_msg(hl_boot_code_read(bad[i], out, 3) && hl_boot_code_read(bad[i], out, 1) &&
                          hl_boot_code_read(bad[i], out, 2),
                      "\"%s\" was taken", bad[i]);
    }
}
END_TEST

static void feed(struct hl_pmi1_lines *in, const char *bytes, size_t len)
{
    memcpy(in->data + in->have, bytes, len);
    in->have += len;
}

START_TEST(lines_arrive_in_any_pieces)
{
    static const char text[] = "cmd=a rc=0\ncmd=b value=x y=z\n\ncmd=c\n";
    static const char *const want[] = {"cmd=a rc=0", "cmd=b value=x y=z", "", "cmd=c"};
    for (size_t step = 1; step < sizeof text; step++) {
        struct hl_pmi1_lines in = {0};
        char line[64];
        int got = 0;
        for (size_t at = 0; at < sizeof text - 1; at += step) {
            feed(&in, text + at, at + step < sizeof text ? step : sizeof text - 1 - at);
            while (hl_pmi1_take(&in, line, sizeof line) == 1) {
                ck_assert_str_eq(line, want[got]);
                got++;
            }
        }
        ck_assert_int_eq(got, 4);
        ck_assert_uint_eq(in.have, 0);
    }
}
END_TEST

START_TEST(broken_streams_are_noticed)
{
    struct hl_pmi1_lines in = {0};
    char line[16];
    feed(&in, "a\0b\n", 4);
    ck_assert_int_eq(hl_pmi1_take(&in, line, sizeof line), -1);
    in.have = 0;
    feed(&in, "longer than the line\n", 21);
    ck_assert_int_eq(hl_pmi1_take(&in, line, sizeof line), -1);
    memset(in.data, 'x', sizeof in.data);
    in.have = sizeof in.data;
    ck_assert_int_eq(hl_pmi1_take(&in, line, sizeof line), -1);
}
END_TEST

START_TEST(fields_are_found_whole_and_values_hold_anything)
{
    const char *line = "cmd=get_result rc=-1 xrc=5 msg=no  kvsname=k value=rc=7 key=z cmd=q";
    char out[64];
    int n;
    ck_assert_int_eq(hl_pmi1_field(line, "cmd", out, sizeof out), 10);
    ck_assert_str_eq(out, "get_result");
    ck_assert(hl_pmi1_number(line, "rc", &n));
    ck_assert_int_eq(n, -1);
    ck_assert_int_eq(hl_pmi1_field(line, "value", out, sizeof out), 16);
    ck_assert_str_eq(out, "rc=7 key=z cmd=q");
    ck_assert_int_eq(hl_pmi1_field(line, "key", out, sizeof out), -1);
    ck_assert_int_eq(hl_pmi1_field(line, "c", out, sizeof out), -1);
    ck_assert_int_eq(hl_pmi1_field(line, "cmd", out, 10), -1);
    ck_assert(!hl_pmi1_number("rc=1x", "rc", &n));
    ck_assert(!hl_pmi1_number("rc=99999999999", "rc", &n));
}
END_TEST

/* Random lines made of the protocol's own pieces: no crash, and nothing longer than its room comes out. */
START_TEST(garbage_never_crashes_the_parser)
{
    static const char *const piece[] = {"cmd=", "value=", "rc=",   "=",  " ",
                                        "\n",   "\n",     "key=k", "-1", "xxxxxxxxxxxxxxxx"};
    unsigned seed = 12345;
    struct hl_pmi1_lines in = {0};
    char line[128], out[32];
    int n;
    for (int i = 0; i < 200000; i++) {
        seed = seed * 1103515245u + 12345u;
        const char *p = piece[(seed >> 16) % 10];
        if (in.have + strlen(p) <= sizeof in.data) {
            feed(&in, p, strlen(p));
        }
        int rc = hl_pmi1_take(&in, line, sizeof line);
        if (rc < 0) {
            in.have = 0;
        }
        if (rc == 1) {
            ck_assert_int_lt(hl_pmi1_field(line, "value", out, sizeof out), 32);
            ck_assert_int_lt(hl_pmi1_field(line, "cmd", out, sizeof out), 32);
            hl_pmi1_number(line, "rc", &n);
        }
    }
}
END_TEST

START_TEST(nothing_in_the_environment_means_alone)
{
    const char *name;
    ENV("HOME=/", "SLURM_NTASKS=64", "SLURM_STEP_NUM_TASKS=1", "OMPI_COMM_WORLD_SIZE=1", "PMI_SIZE=1");
    ck_assert_int_eq(choose("auto", &name), 0);
    ck_assert_str_eq(name, "self");
}
END_TEST

static const struct {
    const char *env[4];
    const char *words;
} many[] = {
    {{"SLURM_STEP_NUM_TASKS=2", "SLURM_NTASKS=2"}, "srun --mpi=pmi2"},
    {{"OMPI_COMM_WORLD_SIZE=4"}, "Open MPI's launcher"},
    {{"OMPI_COMM_WORLD_SIZE=4", "PMIX_NAMESPACE=x", "PMIX_RANK=1"}, "Open MPI's launcher"},
    {{"PMIX_NAMESPACE=x", "PMIX_RANK=1"}, "PMIx launcher"},
    {{"PMI_SIZE=2"}, "PMI_FD is missing"},
    {{"PMI_SIZE=2", "PMI_RANK=0", "PMI_FD=977"}, "not an open stream socket"},
    {{"PMI_PORT=host:1234"}, "-pmi-port"},
    {{"PALS_RANKID=0"}, "PALS"},
};

START_TEST(one_of_many_without_a_server_is_refused_with_the_fix)
{
    const char *name;
    fake = many[_i].env;
    ck_assert_int_eq(choose("auto", &name), HL_ERR_OTHER);
    ck_assert_str_eq(name, "none");
    const char *text = hl_err_text(HL_ERR_OTHER);
    ck_assert_msg(strstr(text, many[_i].words) != NULL, "\"%s\" lacks \"%s\"", text, many[_i].words);
}
END_TEST

START_TEST(what_a_rank_starts_may_run_alone)
{
    const char *name;
    ENV("SLURM_STEP_NUM_TASKS=8", "OMPI_COMM_WORLD_SIZE=8", HL_BOOT_MARK "=:8:::8::");
    ck_assert_int_eq(choose("auto", &name), 0);
    ck_assert_str_eq(name, "self");
}
END_TEST

/* A launcher that the rank has started speaks anew. */
START_TEST(what_a_ranks_launcher_starts_is_no_child_of_the_rank)
{
    static const char *const news[] = {"SLURM_STEP_NUM_TASKS=4", "SLURM_STEP_ID=1", "PMI_SIZE=8",
                                       "PMI_PORT=a:1"};
    const char *name;
    for (size_t i = 0; i < sizeof news / sizeof *news; i++) {
        ENV(news[i], "SLURM_STEP_NUM_TASKS=8", HL_BOOT_MARK "=:8:::::");
        ck_assert_int_eq(choose("auto", &name), HL_ERR_OTHER);
        ck_assert_str_eq(name, "none");
    }
}
END_TEST

START_TEST(the_override_is_obeyed_or_refused)
{
    const char *name;
    ENV("SLURM_STEP_NUM_TASKS=8");
    ck_assert_int_eq(choose("self", &name), 0);
    ck_assert_str_eq(name, "self");
    ck_assert_int_eq(choose("pmi1", &name), HL_ERR_OTHER);
    ck_assert_int_eq(choose("pmix", &name), HL_ERR_OTHER);
    ck_assert_ptr_nonnull(
        strstr(hl_err_text(HL_ERR_OTHER), HL_PMIX ? "names no such launcher" : "only pmi1 and self"));
}
END_TEST

/* A launcher that has already said all its answers; returns its end of the socket. */
static int canned_launcher(char env[3][32], const char *answers)
{
    static const char *list[4];
    int s[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, s), 0);
    ck_assert_int_eq(write(s[1], answers, strlen(answers)), (ssize_t)strlen(answers));
    snprintf(env[0], 32, "PMI_FD=%d", s[0]);
    snprintf(env[1], 32, "PMI_RANK=1");
    snprintf(env[2], 32, "PMI_SIZE=3");
    for (int i = 0; i < 3; i++) {
        list[i] = env[i];
    }
    fake = list;
    return s[1];
}

static const char hello[] = "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n"
                            "cmd=my_kvsname kvsname=hotlane_0 rc=0\n"
                            "cmd=get_result rc=0 value=0123456789abcdeffedcba9876543210\n";

START_TEST(a_handshake_learns_all_and_hides_the_launcher)
{
    char env[3][32], asked[512];
    struct hl_boot_job job;
    const struct hl_boot_method *m;
    setenv("PMI_RANK", "1", 1);
    setenv("PMIX_RANK", "1", 1);
    setenv("PMI_", "1", 1);
    int end = canned_launcher(env, hello);
    ck_assert_int_eq(hl_boot_choose("auto", fake_env, &m, &job), 0);
    ck_assert_str_eq(m->name, "pmi1");
    ck_assert_int_eq(job.rank, 1);
    ck_assert_int_eq(job.size, 3);
    ck_assert(job.has_secret);
    ck_assert_uint_eq(job.secret[0], 0x0123456789abcdefu);
    ck_assert_uint_eq(job.secret[1], 0xfedcba9876543210u);
    ck_assert_ptr_null(getenv("PMI_RANK"));
    ck_assert_ptr_null(getenv("PMIX_RANK"));
    ck_assert_ptr_null(getenv("PMI_"));
    ck_assert_ptr_nonnull(getenv(HL_BOOT_MARK));
    ck_assert_int_eq(fcntl(m->watch_fd(), F_GETFD), FD_CLOEXEC);
    ssize_t n = read(end, asked, sizeof asked - 1);
    ck_assert_int_gt((int)n, 0);
    asked[n] = 0;
    ck_assert_ptr_nonnull(strstr(asked, "cmd=init pmi_version=1 pmi_subversion=1\ncmd=get_my_kvsname\n"));
    static const char later[] = "cmd=finalize_ack rc=0\ncmd=response_to_init rc=0\n"
                                "cmd=finalize_ack rc=0\ncmd=response_to_init rc=-1\n";
    ck_assert_int_eq(write(end, later, sizeof later - 1), (ssize_t)sizeof later - 1);
    ck_assert_int_eq(m->fini(), 0);
    ck_assert_int_eq(m->watch_fd(), -1);
    ck_assert_int_eq(m->again(), 0);
    ck_assert_int_ge(m->watch_fd(), 0);
    ck_assert_int_eq(m->fini(), 0);
    ck_assert_int_eq(m->again(), HL_ERR_OTHER);
    ck_assert_int_eq(m->watch_fd(), -1);
}
END_TEST

/* Hydra and Slurm's pmi2 do so when a program of this rank has come before. */
START_TEST(a_launcher_that_hung_up_serves_one_program)
{
    char env[3][32];
    const char *name;
    close(canned_launcher(env, ""));
    ck_assert_int_eq(choose("auto", &name), HL_ERR_OTHER);
    ck_assert_str_eq(name, "none");
    ck_assert_ptr_nonnull(strstr(hl_err_text(HL_ERR_OTHER), "has hung up; a rank may run one"));
    ck_assert_ptr_null(strstr(hl_err_text(HL_ERR_OTHER), "PMI_FD is missing"));
}
END_TEST

static void hold_launcher(int ready)
{
    const char *name;
    if (choose("pmi1", &name) == 0 && write(ready, "", 1) == 1) {
        pause();
    }
    _exit(1);
}

START_TEST(a_second_program_of_a_rank_is_refused_while_the_first_lives)
{
    char env[3][32], byte, first[40];
    const char *name;
    int ready[2], end = canned_launcher(env, hello);
    ck_assert_int_eq(pipe(ready), 0);
    pid_t child = fork();
    if (!child) {
        hold_launcher(ready[1]);
    }
    ck_assert_int_gt(child, 0);
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    ck_assert_int_eq(choose("auto", &name), HL_ERR_OTHER);
    snprintf(first, sizeof first, "process %d, another MPI program", (int)child);
    ck_assert_ptr_nonnull(strstr(hl_err_text(HL_ERR_OTHER), first));
    ck_assert_ptr_nonnull(strstr(hl_err_text(HL_ERR_OTHER), "one MPI program at a time"));
    ck_assert_int_eq(kill(child, SIGKILL), 0);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    ck_assert_int_eq(write(end, hello, sizeof hello - 1), (ssize_t)sizeof hello - 1);
    ck_assert_int_eq(choose("auto", &name), 0);
    ck_assert_str_eq(name, "pmi1");
}
END_TEST

/* The child has the parent's socket, by which the next program of this rank asks whether the first one lives. */
START_TEST(a_forked_child_keeps_no_rank_from_starting_again)
{
    static const char later[] = "cmd=finalize_ack rc=0\ncmd=response_to_init rc=0\n";
    char env[3][32];
    struct hl_boot_job job;
    const struct hl_boot_method *m;
    int end = canned_launcher(env, hello);
    ck_assert_int_eq(hl_boot_choose("auto", fake_env, &m, &job), 0);
    pid_t child = fork();
    if (!child) {
        pause();
        _exit(0);
    }
    ck_assert_int_gt(child, 0);
    ck_assert_int_eq(write(end, later, sizeof later - 1), (ssize_t)sizeof later - 1);
    ck_assert_int_eq(m->fini(), 0);
    ck_assert_int_eq(m->again(), 0);
    ck_assert_int_eq(kill(child, SIGKILL), 0);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
}
END_TEST

START_TEST(a_socket_that_answers_nonsense_is_no_launcher)
{
    static const char *const answers[] = {"HTTP/1.0 400 Bad Request\n", "cmd=response_to_init rc=-1\n",
                                          "cmd=response_to_init rc=0\ncmd=get_result rc=0\n"};
    char env[3][32];
    const char *name;
    canned_launcher(env, answers[_i]);
    ck_assert_int_eq(choose("auto", &name), HL_ERR_OTHER);
    ck_assert_str_eq(name, "none");
}
END_TEST

START_TEST(notices_come_between_answers_and_a_hang_up_is_seen)
{
    char env[3][32];
    struct hl_boot_job job;
    const struct hl_boot_method *m;
    int rank, code, end = canned_launcher(env, hello);
    ck_assert_int_eq(hl_boot_choose("auto", fake_env, &m, &job), 0);
    ck_assert_int_eq(m->watch_take(&rank, &code), 0);
    static const char more[] = "cmd=hotlane_died rank=2 code=137\ncmd=barrier_out rc=0\n"
                               "cmd=hotlane_died rank=0 code=1\ncmd=barrier_out rc=-1\n";
    ck_assert_int_eq(write(end, more, sizeof more - 1), (ssize_t)sizeof more - 1);
    ck_assert_int_eq(m->fence(-1, NULL, NULL), 0);
    ck_assert_int_eq(m->fence(-1, NULL, NULL), HL_ERR_PROC_ABORTED);
    ck_assert_int_eq(m->watch_take(&rank, &code), 1);
    ck_assert_int_eq(rank, 2);
    ck_assert_int_eq(code, 137);
    ck_assert_int_eq(m->watch_take(&rank, &code), 1);
    ck_assert_int_eq(rank, 0);
    ck_assert_int_eq(m->watch_take(&rank, &code), 0);
    for (int i = 0; i < 100; i++) {
        ck_assert_int_gt(dprintf(end, "cmd=hotlane_died rank=%d code=1\n", i), 0);
    }
    ck_assert_int_eq(write(end, "cmd=barrier_out rc=0\n", 21), 21);
    ck_assert_int_eq(m->fence(-1, NULL, NULL), 0);
    for (int i = 0; i < 100; i++) {
        ck_assert_int_eq(m->watch_take(&rank, &code), 1);
        ck_assert_int_eq(rank, i);
    }
    ck_assert(!m->watch_waits());
    static const char behind[] = "cmd=barrier_out rc=0\ncmd=hotlane_died rank=1 code=3\n";
    ck_assert_int_eq(write(end, behind, sizeof behind - 1), (ssize_t)sizeof behind - 1);
    ck_assert_int_eq(m->fence(-1, NULL, NULL), 0);
    ck_assert(m->watch_waits()); /* read with the answer: the descriptor does not tell */
    ck_assert_int_eq(m->watch_take(&rank, &code), 1);
    ck_assert_int_eq(rank, 1);
    ck_assert(!m->watch_waits());
    close(end);
    ck_assert_int_eq(m->watch_take(&rank, &code), HL_ERR_OTHER);
    ck_assert_int_eq(m->fence(-1, NULL, NULL), HL_ERR_OTHER);
    ck_assert_ptr_nonnull(strstr(hl_err_text(HL_ERR_OTHER), "launcher"));
}
END_TEST

START_TEST(a_singleton_opens_no_descriptor_and_works_like_a_job)
{
    static char in[3 << 20], out[3 << 20];
    void *board = NULL;
    size_t len = 0;
    unsetenv("PMI_FD");
    ck_assert_int_eq(hl_conf_load(), 0);
    long before = fds_open();
    ck_assert_int_eq(hl_boot_open(), 0);
    ck_assert_int_eq(hl_boot_open(), 0);
    ck_assert_int_eq(hl_job.size, 1);
    ck_assert_int_eq(hl_job.node_size, 1);
    ck_assert_int_eq(hl_job.node_world[0], 0);
    ck_assert_int_eq(hl_job_node_of(0), 0);
    ck_assert_int_eq(hl_job_node_of(1), -1);
    ck_assert_int_eq(hl_boot_node_fd(), -1);
    ck_assert_int_eq(hl_boot_watch_fd(), -1);
    ck_assert_uint_ne(hl_job.nonce, 0);
    for (size_t i = 0; i < sizeof in; i++) {
        in[i] = (char)(i * 31 >> 3);
    }
    ck_assert_int_eq(hl_boot_put("big", in, sizeof in), 0);
    ck_assert_int_eq(hl_boot_fence(), 0);
    ck_assert_int_eq(hl_boot_get(0, "big", out, 10, &len), HL_ERR_TRUNCATE);
    ck_assert_uint_eq(len, sizeof in);
    ck_assert_int_eq(hl_boot_get(0, "big", out, sizeof out, &len), 0);
    ck_assert_int_eq(memcmp(in, out, sizeof in), 0);
    ck_assert_int_eq(hl_boot_get(0, "none", out, sizeof out, &len), HL_ERR_FOUND_NONE);
    ck_assert_int_eq(hl_boot_node_share(100000, NULL, &board), 0);
    ck_assert_int_eq(((char *)board)[99999], 0);
    ck_assert_int_eq(fds_open(), before);
    ck_assert_int_eq(hl_boot_close(false), 0);
    ck_assert_int_eq(hl_boot_open(), 0);
    ck_assert_int_eq(hl_boot_close(true), 0);
    ck_assert_int_eq(hl_boot_close(true), 0);
    ck_assert_int_eq(hl_boot_open(), 0); /* after all */
    ck_assert_int_eq(hl_boot_put("big", in, 5), 0);
    ck_assert_int_eq(hl_boot_get(0, "big", out, sizeof out, &len), 0);
    ck_assert_uint_eq(len, 5);
    ck_assert_int_eq(hl_boot_close(true), 0);
}
END_TEST

START_TEST(a_forked_child_ends_only_itself)
{
    unsetenv("PMI_FD");
    ck_assert_int_eq(hl_conf_load(), 0);
    ck_assert(!hl_boot_is_mine());
    ck_assert_int_eq(hl_boot_open(), 0);
    ck_assert(hl_boot_is_mine());
    pid_t child = fork();
    if (!child) {
        if (hl_boot_is_mine() || hl_boot_close(true)) {
            _exit(99);
        }
        hl_job_abort(7);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 7);
}
END_TEST

/* A launcher that is not ours may not look at the pipe again once it knows of the end. */
START_TEST(last_words_are_read_before_the_launcher_hears_of_the_end)
{
    int out[2], status = 0;
    char words[16] = "";
    unsetenv("PMI_FD");
    ck_assert_int_eq(pipe(out), 0);
    pid_t child = fork();
    if (!child) {
        dup2(out[1], STDOUT_FILENO);
        if (hl_conf_load() == 0 && hl_boot_open() == 0) {
            fputs("last words", stdout);
            hl_job_abort(7);
        }
        _exit(99);
    }
    int unread = 0;
    while (unread == 0) {
        ck_assert_int_eq(ioctl(out[0], FIONREAD, &unread), 0);
    }
    usleep(30000);
    ck_assert_int_eq(waitpid(child, &status, WNOHANG), 0); /* it waits for the reader */
    ck_assert_int_eq(read(out[0], words, sizeof words), 10);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(WEXITSTATUS(status), 7);
    child = fork();
    if (!child) { /* nobody reads: that is not for ever */
        dup2(out[1], STDOUT_FILENO);
        fputs("last words", stdout);
        if (hl_conf_load() == 0 && hl_boot_open() == 0) {
            hl_job_abort(7);
        }
        _exit(99);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(WEXITSTATUS(status), 7);
}
END_TEST

#if HL_PMIX
#include "boot_pmix.h"
#else
static void add_pmix(TCase *tc)
{
    (void)tc;
}
#endif
#include "boot_kvs_cache.h"
#include "boot_launcher.h"
#include "boot_meeting.h"
#include "boot_strangers.h"

static Suite *make_suite(void)
{
    Suite *suite = suite_create("boot");
    TCase *tc = tcase_create("boot");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, every_byte_value_and_length_survives_as_text);
    tcase_add_test(tc, texts_that_were_changed_are_refused);
    tcase_add_test(tc, lines_arrive_in_any_pieces);
    tcase_add_test(tc, deaths_that_are_told_while_the_node_meets_are_not_forgotten);
    tcase_add_test(tc, a_list_of_ranks_that_are_none_is_refused);
    tcase_add_test(tc, broken_streams_are_noticed);
    tcase_add_test(tc, fields_are_found_whole_and_values_hold_anything);
    tcase_add_test(tc, garbage_never_crashes_the_parser);
    tcase_add_test(tc, nothing_in_the_environment_means_alone);
    tcase_add_loop_test(tc, one_of_many_without_a_server_is_refused_with_the_fix, 0,
                        (int)(sizeof many / sizeof *many));
    tcase_add_test(tc, what_a_rank_starts_may_run_alone);
    tcase_add_test(tc, what_a_ranks_launcher_starts_is_no_child_of_the_rank);
    tcase_add_test(tc, the_override_is_obeyed_or_refused);
    tcase_add_test(tc, a_handshake_learns_all_and_hides_the_launcher);
    tcase_add_test(tc, a_launcher_that_hung_up_serves_one_program);
    tcase_add_test(tc, a_second_program_of_a_rank_is_refused_while_the_first_lives);
    tcase_add_test(tc, a_forked_child_keeps_no_rank_from_starting_again);
    tcase_add_loop_test(tc, a_socket_that_answers_nonsense_is_no_launcher, 0, 3);
    tcase_add_test(tc, notices_come_between_answers_and_a_hang_up_is_seen);
    tcase_add_test(tc, a_singleton_opens_no_descriptor_and_works_like_a_job);
    tcase_add_test(tc, a_forked_child_ends_only_itself);
    tcase_add_test(tc, last_words_are_read_before_the_launcher_hears_of_the_end);
    add_pmix(tc);
    add_kvs_cache(tc);
    add_launcher(tc);
    tcase_add_test(tc, nobody_leaves_descriptors_here);
    tcase_add_test(tc, strangers_take_no_place_in_the_queue);
    tcase_add_test(tc, other_users_are_not_heard);
    tcase_add_test(tc, names_have_nothing_in_common);
    suite_add_tcase(suite, tc);
    return suite;
}

UNIT_MAIN(make_suite)
