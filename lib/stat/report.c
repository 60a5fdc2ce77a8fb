/* Closing statistics: a rank's line, the job's table, the job's line for programs. */
#include "stat.h"

#include "conf.h"
#include "err.h"
#include "log.h"
#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STATS_JOB = 1, STATS_RANKS, STATS_JSON }; /* in the order of the words of HOTLANE_STATS */

/* A counter, summed up over the ranks whose counters are known. */
struct summary {
    uint64_t sum, least, most;
    int least_at, most_at;
};

static struct summary sum_up(const uint64_t *all, const bool *here, int ranks, int row)
{
    struct summary s = {.least = UINT64_MAX, .least_at = -1, .most_at = -1};
    for (int rank = 0; rank < ranks; rank++) {
        uint64_t value = all[(size_t)rank * (size_t)hl_stat_count() + (size_t)row];
        if (!here[rank]) {
            continue;
        }
        s.sum += value;
        if (s.least_at < 0 || value < s.least) {
            s.least = value;
            s.least_at = rank;
        }
        if (s.most_at < 0 || value > s.most) {
            s.most = value;
            s.most_at = rank;
        }
    }
    return s;
}

void hl_stat_print(void)
{
    char line[1400];
    if (hl_conf.stats == STATS_RANKS) {
        hl_stat_words(line, sizeof line);
        hl_log(HL_LOG_ERROR, "counters:%s", line);
    }
}

void hl_stat_print_none(int code)
{
    static const char *const words[] = {[STATS_JOB] = "1", [STATS_RANKS] = "2", [STATS_JSON] = "json"};
    if (hl_conf.stats != 0) {
        hl_log(HL_LOG_ERROR,
               "HOTLANE_STATS=%s: there are no counters, as this rank ended the job with code %d",
               words[hl_conf.stats], code);
    }
}

static void print_table(const uint64_t *all, const bool *here, int ranks, int known)
{
    hl_log(HL_LOG_ERROR, "statistics of %d of %d rank%s; counters that are not zero:", known, ranks,
           hl_plural(ranks));
    hl_log(HL_LOG_ERROR, "%20s %15s %20s %20s", "", "sum", "least, at rank", "most, at rank");
    for (int i = 0; i < hl_stat_count(); i++) {
        struct summary s = sum_up(all, here, ranks, i);
        if (s.sum != 0) {
            hl_log(HL_LOG_ERROR, "%20s %15" PRIu64 " %13" PRIu64 " %6d %13" PRIu64 " %6d  %s",
                   hl_stat_name(i), s.sum, s.least, s.least_at, s.most, s.most_at, hl_stat_help(i));
        }
    }
}

static char *path; /* absolute path of the file, since programs change their folder; NULL: there is no file */

static int open_file(void)
{
    return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
}

/* Sets `path`. Returns 0 or an errno. */
static int take_path(void)
{
    const char *file = hl_conf.stats_file;
    char *folder = *file != '/' ? getcwd(NULL, 0) : strdup("");
    int why = folder == NULL ? errno : 0;

    free(path);
    path = NULL;
    if (why == 0 && asprintf(&path, "%s%s%s", folder, *file != '/' ? "/" : "", file) < 0) {
        path = NULL;
        why = ENOMEM;
    }
    free(folder);
    return why;
}

/* Opens the file and closes it again. Returns 0 or an errno. */
static int try_file(void)
{
    struct stat st;

    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) {
        return 0; /* a pipe is not tried: its reader would see the close as the end */
    }
    int fd = open_file();
    if (fd < 0) {
        return errno;
    }
    close(fd);
    return 0;
}

int hl_stat_open(void)
{
    if (hl_conf.stats != STATS_JSON || hl_conf.stats_file[0] == '\0') {
        return 0;
    }
    int why = take_path();
    why = why != 0 ? why : try_file();
    if (why != 0) {
        hl_conf.stats = 0; /* so that hl_stat_print_none says nothing: this error is enough */
        return hl_err_say(HL_ERR_ARG, "HOTLANE_STATS_FILE=%s: %s: name a file that rank 0 can write",
                          hl_conf.stats_file, strerror(why));
    }
    return 0;
}

/* Writes the text by one call, so that lines of several jobs in one file do not mix. */
static void write_report(const char *text, size_t len)
{
    int fd = path != NULL ? open_file() : STDERR_FILENO;

    if (fd < 0 || write(fd, text, len) != (ssize_t)len) {
        hl_log(HL_LOG_ERROR, "HOTLANE_STATS_FILE=%s: %s", path != NULL ? path : "", strerror(errno));
    }
    if (path != NULL && fd >= 0) {
        close(fd);
    }
}

static void print_json(const uint64_t *all, const bool *here, int ranks, int known)
{
    char *text = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);
    if (f == NULL) {
        hl_log(HL_LOG_ERROR, "no memory for statistics");
        return;
    }
    fprintf(f, "{\"ranks\":%d,\"known\":%d,\"counters\":{", ranks, known);
    for (int i = 0; i < hl_stat_count(); i++) {
        struct summary s = sum_up(all, here, ranks, i);
        fprintf(f,
                "%s\"%s\":{\"sum\":%" PRIu64 ",\"least\":%" PRIu64 ",\"least_at\":%d,\"most\":%" PRIu64
                ",\"most_at\":%d}",
                i > 0 ? "," : "", hl_stat_name(i), s.sum, s.least_at < 0 ? 0 : s.least, s.least_at, s.most,
                s.most_at);
    }
    fprintf(f, "}}\n");
    if (fclose(f) == 0) {
        write_report(text, len);
    }
    free(text);
}

void hl_stat_print_job(const uint64_t *all, const bool *here, int ranks)
{
    int known = 0;
    for (int rank = 0; rank < ranks; rank++) {
        known += here[rank];
    }
    if (hl_conf.stats == STATS_JOB) {
        print_table(all, here, ranks, known);
    } else if (hl_conf.stats == STATS_JSON) {
        print_json(all, here, ranks, known);
    }
}

bool hl_stat_is_of_job(void)
{
    return hl_conf.stats == STATS_JOB || hl_conf.stats == STATS_JSON;
}
