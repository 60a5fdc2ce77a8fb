/* Another user of the machine, who tries everything that a job's listening sockets and processes offer.
 *
 * usage: neighbour KEYS STREAMS PID... -- PORT... -- NAME...
 *   KEYS     guess registration keys below this number
 *   STREAMS  folder of bytes that an earlier job sent, a file a connection: replayed whole, cut and bent
 * Started as root it becomes nobody; else it exits with 77. Prints what it tried; exits with 1 and a line for
 * whatever it was allowed. */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define NOBODY 65534
#define STREAM_MAX ((size_t)1 << 20)
#define EVERYWHERE 10    /* keys that are tried at every port */
#define OP_MS 150        /* timeout of one operation */
#define CONTROL_MS 20000 /* with one that must succeed, beside a job that takes all CPUs */

static int allowed; /* what should have been refused */
static unsigned seed = 1;

static void gained(const char *what, long where)
{
    printf("ALLOWED: %s %ld\n", what, where);
    allowed++;
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- processes ---- */

static void try_open(pid_t pid, const char *file)
{
    char path[128];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    int fd = open(path, O_RDONLY);
    if (fd >= 0) {
        gained(path, pid);
        close(fd);
    }
}

static void try_process(pid_t pid)
{
    char bytes[64], path[64];
    struct iovec mine = {bytes, sizeof bytes}, theirs = {(void *)(uintptr_t)0x400000, sizeof bytes};
    static const char *const files[] = {"mem", "environ", "maps", "auxv", "stack"};
    if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) == 0 || errno != EPERM) {
        gained("ptrace of", pid);
    }
    if (process_vm_readv(pid, &mine, 1, &theirs, 1, 0) >= 0 || errno != EPERM) {
        gained("process_vm_readv of", pid);
    }
    if (process_vm_writev(pid, &mine, 1, &theirs, 1, 0) >= 0 || errno != EPERM) {
        gained("process_vm_writev of", pid);
    }
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        try_open(pid, files[i]);
    }
    for (int fd = 0; fd < 64; fd++) { /* memfds and sockets by their links */
        snprintf(path, sizeof path, "fd/%d", fd);
        try_open(pid, path);
    }
    if (kill(pid, 0) == 0) {
        gained("a signal to", pid);
    }
}

/* ---- abstract sockets ---- */

/* `name`: the type of the socket, a colon, its name. */
static void try_name(const char *name)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int type = (int)strtol(name, NULL, 16);
    name = strchr(name, ':') + 1;
    snprintf(a.sun_path + 1, sizeof a.sun_path - 1, "%s", name);
    socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
    int s = socket(AF_UNIX, type, 0);
    char junk[512];
    if (bind(s, (struct sockaddr *)&a, len) == 0) {
        gained("binding a rank's name", s);
    }
    close(s);
    s = socket(AF_UNIX, type, 0);
    bool connected = connect(s, (struct sockaddr *)&a, len) == 0;
    for (int i = 0; i < 100 && connected; i++) {
        memset(junk, i, sizeof junk);
        (void)send(s, junk, (size_t)(rand_r(&seed) % (int)sizeof junk), MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    struct pollfd p = {s, POLLIN, 0};
    ssize_t n = connected && poll(&p, 1, 100) > 0 ? recv(s, junk, sizeof junk, MSG_DONTWAIT) : -1;
    if (n > 0) {
        gained("an answer on a node's meeting place", n);
    }
    close(s);
}

/* ---- bytes on the listening ports ---- */

static struct sockaddr_in address_of(int port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

/* Sends what the other end takes, waits a moment for what it says, and hangs up. */
static void pour(int port, const unsigned char *bytes, size_t len)
{
    struct sockaddr_in a = address_of(port);
    unsigned char answer[4096];
    int s = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    (void)connect(s, (struct sockaddr *)&a, sizeof a);
    struct pollfd p = {s, POLLOUT, 0};
    int64_t until = now_ms() + OP_MS;
    for (size_t at = 0; at < len && now_ms() < until && poll(&p, 1, 20) > 0;) {
        ssize_t n = send(s, bytes + at, len - at, MSG_NOSIGNAL);
        if (n <= 0) {
            break;
        }
        at += (size_t)n;
    }
    p.events = POLLIN;
    while (poll(&p, 1, 10) > 0 && now_ms() < until) {
        if (recv(s, answer, sizeof answer, 0) <= 0) {
            break;
        }
    }
    close(s);
}

static void bend(unsigned char *bytes, size_t len)
{
    for (int flips = 1 + rand_r(&seed) % 8; len > 0 && flips > 0; flips--) {
        /* Mostly near the beginning, where headers are. */
        size_t span = rand_r(&seed) % 2 != 0 && len > 200 ? 200 : len;
        bytes[(size_t)rand_r(&seed) % span] = (unsigned char)rand_r(&seed);
    }
}

/* Headers that promise messages, and nothing behind them: the provider then finds in its buffer what lay
 * there, a message of the job. As tcp;ofi_rxm 1.17 frames its bytes: a hand-shake, then frames, each with a
 * header that holds its length, rxm's header, the message. */
enum { SHAKE = 56, FRAME = 16, LENGTH_AT = 8, RXM = 64 };

static size_t hollow(unsigned char *out, const unsigned char *bytes, size_t len)
{
    uint64_t frame = 0, kept = FRAME + RXM;
    size_t to = SHAKE, count = 0;
    memcpy(out, bytes, len < SHAKE ? len : SHAKE);
    for (size_t at = SHAKE; at + FRAME + RXM <= len && count < 200; at += frame, count++) {
        memcpy(&frame, bytes + at + LENGTH_AT, sizeof frame);
        if (frame < kept || frame > len - at) {
            break; /* an operation by key, or another version of the provider */
        }
        memcpy(out + to, bytes + at, kept);
        memcpy(out + to + LENGTH_AT, &kept, sizeof kept);
        to += kept;
    }
    return len < SHAKE ? len : to;
}

static void replay_file(const char *path, int port, int bends)
{
    unsigned char *bytes = malloc(2 * STREAM_MAX);
    FILE *f = fopen(path, "rb");
    size_t len = f != NULL && bytes != NULL ? fread(bytes, 1, STREAM_MAX, f) : 0;
    if (f != NULL) {
        fclose(f);
    }
    if (len > 0) {
        pour(port, bytes, len);
        pour(port, bytes + STREAM_MAX, hollow(bytes + STREAM_MAX, bytes, len));
    }
    for (int i = 0; i < bends && len > 0; i++) {
        memcpy(bytes + STREAM_MAX, bytes, len);
        bend(bytes + STREAM_MAX, len);
        pour(port, bytes + STREAM_MAX, 1 + (size_t)rand_r(&seed) % len);
    }
    free(bytes);
}

/* Every stream at every port; returns how many there were. */
static int replay(const char *folder, int port, int bends)
{
    char path[512];
    int count = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        if (e->d_name[0] == '.') {
            continue;
        }
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        replay_file(path, port, bends);
        count++;
    }
    if (d != NULL) {
        closedir(d);
    }
    return count;
}

/* ---- libfabric, as a rank would use it ---- */

static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_av *av;
static struct fid_cq *cq;
static struct fid_ep *ep;
static unsigned char buffer[1 << 17];

static bool must(int rc, const char *what)
{
    if (rc != 0) {
        printf("%s: %s\n", what, fi_strerror(-rc));
        exit(2);
    }
    return true;
}

static void open_fabric(void)
{
    struct fi_info *hints = fi_allocinfo();
    hints->fabric_attr->prov_name = strdup("tcp;ofi_rxm");
    hints->ep_attr->type = FI_EP_RDM;
    hints->caps = FI_MSG | FI_RMA | FI_TAGGED;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    must(fi_getinfo(FI_VERSION(1, 17), "127.0.0.1", NULL, FI_SOURCE, hints, &info), "fi_getinfo");
    fi_freeinfo(hints);
    must(fi_fabric(info->fabric_attr, &fabric, NULL), "fi_fabric");
    must(fi_domain(fabric, info, &domain, NULL), "fi_domain");
}

static void open_endpoint(void)
{
    struct fi_av_attr a = {.type = FI_AV_UNSPEC};
    struct fi_cq_attr c = {.format = FI_CQ_FORMAT_MSG, .size = 512};
    must(fi_av_open(domain, &a, &av, NULL), "fi_av_open");
    must(fi_cq_open(domain, &c, &cq, NULL), "fi_cq_open");
    must(fi_endpoint(domain, info, &ep, NULL), "fi_endpoint");
    must(fi_ep_bind(ep, &av->fid, 0), "fi_ep_bind");
    must(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
    must(fi_enable(ep), "fi_enable");
}

static void close_endpoint(void)
{
    fi_close(&ep->fid);
    fi_close(&cq->fid);
    fi_close(&av->fid);
}

/* Waits for the completion of what was posted: 0, or the provider's error; FI_EAGAIN when nothing came. */
static int completion(void)
{
    int64_t until = now_ms() + OP_MS;
    struct fi_cq_msg_entry e;
    struct fi_cq_err_entry err = {0};
    while (now_ms() < until) {
        ssize_t n = fi_cq_read(cq, &e, 1);
        if (n == 1) {
            return 0;
        }
        if (n == -FI_EAVAIL) {
            fi_cq_readerr(cq, &err, 0);
            return err.err;
        }
        usleep(20);
    }
    return FI_EAGAIN;
}

enum what { SEND, SEND_TAGGED, READ, WRITE };

struct op {
    enum what what;
    fi_addr_t to;
    size_t len;
    uint64_t addr, key;
};

static ssize_t post_once(const struct op *o)
{
    static struct fi_context2 context;
    switch (o->what) {
    case SEND:
        return fi_send(ep, buffer, o->len, NULL, o->to, &context);
    case SEND_TAGGED:
        return fi_tsend(ep, buffer, o->len, NULL, o->to, 5, &context);
    case READ:
        return fi_read(ep, buffer, o->len, NULL, o->to, o->addr, o->key, &context);
    default:
        return fi_write(ep, buffer, o->len, NULL, o->to, o->addr, o->key, &context);
    }
}

/* Posts it while the connection is made, and again when that was lost by the operation before: polls let the
 * provider notice. The result of the operation itself. */
static int perform(const struct op *o)
{
    int64_t until = now_ms() + OP_MS;
    int rc = FI_ENOTCONN;
    while ((rc == FI_ENOTCONN || rc == FI_EAGAIN) && now_ms() < until) {
        struct fi_cq_msg_entry e;
        struct fi_cq_err_entry err = {0};
        ssize_t posted = post_once(o);
        rc = posted == 0 ? completion() : (int)-posted;
        for (int i = 0; rc != 0 && i < 200; i++) {
            if (fi_cq_read(cq, &e, 1) == -FI_EAVAIL) {
                fi_cq_readerr(cq, &err, 0);
            }
        }
    }
    return rc;
}

static long refused; /* reads that the other end answered by hanging up */

/* What names the first byte of registered memory; sometimes the other way round. */
static uint64_t address_in(uint64_t key)
{
    bool is_virtual = ((info->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0) ^ (key % 3 == 0);
    return is_virtual ? (uint64_t)(uintptr_t)buffer : 0;
}

static void guess_key(fi_addr_t to, uint64_t key, long port)
{
    struct op o = {READ, to, 8, address_in(key), key};
    int rc = perform(&o);
    if (rc == 0) {
        gained("reading by a guessed key at port", port);
    }
    refused += rc == FI_EIO || rc == FI_ECONNRESET || rc == FI_ECANCELED;
    o.what = WRITE; /* what was done to the job's memory, the job itself looks for */
    (void)perform(&o);
}

/* Messages as they would be in another job, of all lengths, tagged ones, and some that need a hand-shake. */
static int send_messages(fi_addr_t to, int count)
{
    int sent = 0;
    for (int i = 0; i < count; i++) {
        size_t len = i % 32 == 31 ? sizeof buffer : (size_t)rand_r(&seed) % 4096;
        for (size_t k = 0; k < len && k < 4096; k++) {
            buffer[k] = (unsigned char)(k < 64 && i % 2 ? 0 : rand_r(&seed));
        }
        sent += perform(&(struct op){i % 8 == 7 ? SEND_TAGGED : SEND, to, len, 0, 0}) == 0;
    }
    return sent;
}

/* A new endpoint, and who listens at that port. */
static fi_addr_t look_at(int port)
{
    struct sockaddr_in a = address_of(port);
    fi_addr_t to = FI_ADDR_UNSPEC;
    open_endpoint();
    if (fi_av_insert(av, &a, 1, &to, 0, NULL) != 1) {
        printf("port %d: its address is not taken\n", port);
        exit(2);
    }
    return to;
}

/* The first keys at every port, of the others each n-th. */
static void try_fabric(int port, uint64_t keys, uint64_t first, uint64_t n)
{
    fi_addr_t to = look_at(port);
    int sent = send_messages(to, 32);
    printf("port %d: %d messages left\n", port, sent);
    for (uint64_t key = 0; key < keys; key++) {
        if (key < EVERYWHERE || key % n == first) {
            guess_key(to, key, port);
        }
    }
    close_endpoint();
}

/* ---- is a right key accepted? Else the test would show nothing ---- */

#define CONTROL_KEY 5

/* A process with memory under a key, served until it is killed. Never returns. */
static void serve_control(int out)
{
    struct fid_mr *mr;
    struct sockaddr_in a;
    size_t len = sizeof a;
    open_fabric();
    open_endpoint();
    must(fi_mr_reg(domain, buffer, sizeof buffer, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, CONTROL_KEY, 0, &mr,
                   NULL),
         "fi_mr_reg");
    must(fi_getname(&ep->fid, &a, &len), "fi_getname");
    int port = ntohs(a.sin_port);
    if (write(out, &port, sizeof port) != (ssize_t)sizeof port) {
        _exit(2);
    }
    for (;;) {
        struct fi_cq_msg_entry e;
        (void)fi_cq_read(cq, &e, 1);
        usleep(100);
    }
}

static void check_control(int port)
{
    fi_addr_t to = look_at(port);
    struct op o = {READ, to, 8, address_in(CONTROL_KEY), CONTROL_KEY - 1};
    int wrong = perform(&o), right;
    int64_t until = now_ms() + CONTROL_MS;
    o.key = CONTROL_KEY;
    do {
        right = perform(&o);
    } while (right != 0 && now_ms() < until);
    close_endpoint();
    if (wrong == 0 || right != 0) {
        printf("my own memory: a wrong key %s, the right one %s\n", fi_strerror(wrong), fi_strerror(right));
        exit(2);
    }
}

/* Before open_fabric: the provider does not survive a fork. */
static pid_t start_control(int *port)
{
    int ends[2];
    if (pipe(ends) != 0) {
        exit(2);
    }
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        serve_control(ends[1]);
    }
    close(ends[1]);
    if (child < 0 || read(ends[0], port, sizeof *port) != (ssize_t)sizeof *port) {
        exit(2);
    }
    close(ends[0]);
    return child;
}

/* Arguments up to the next "--"; *i moves behind it. */
static int until_dashes(char **argv, int argc, int *i)
{
    int first = *i;
    while (*i < argc && strcmp(argv[*i], "--") != 0) {
        (*i)++;
    }
    return (*i)++ - first;
}

int main(int argc, char **argv)
{
    int control_port, streams = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc < 5) {
        fprintf(stderr, "usage: neighbour KEYS STREAMS PID... -- PORT... -- NAME...\n");
        return 2;
    }
    if (geteuid() != 0 || setgroups(0, NULL) != 0 || setgid(NOBODY) != 0 || setuid(NOBODY) != 0) {
        printf("another user can only be played by root\n");
        return 77;
    }
    int at = 3;
    char **pid = argv + at;
    int pids = until_dashes(argv, argc, &at);
    char **port = argv + at;
    int ports = until_dashes(argv, argc, &at);
    char **name = argv + at;
    int names = until_dashes(argv, argc, &at);
    for (int i = 0; i < pids; i++) {
        try_process((pid_t)atoi(pid[i]));
    }
    for (int i = 0; i < names; i++) {
        try_name(name[i]);
    }
    for (int i = 0; i < ports; i++) {
        streams += replay(argv[2], atoi(port[i]), 3);
    }
    printf("%d processes, %d names, %d streams replayed at %d ports\n", pids, names, streams, ports);
    pid_t control = start_control(&control_port);
    open_fabric();
    check_control(control_port);
    for (int i = 0; i < ports; i++) {
        try_fabric(atoi(port[i]), strtoull(argv[1], NULL, 10), (uint64_t)i, (uint64_t)ports);
    }
    check_control(control_port);
    kill(control, SIGKILL);
    printf("%ld reads by guessed keys refused, %d things were allowed\n", refused, allowed);
    return allowed != 0;
}
