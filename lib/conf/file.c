/* Files of settings: where they are, and how their lines are read. */
#include "conf_internal.h"

#include "err.h"
#include "hl_build.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MOST ((size_t)1 << 20) /* most bytes of a settings file */

static char *trim_blanks(char *from, char *end)
{
    while (from < end && strchr(" \t\r", *from) != NULL) {
        from++;
    }
    while (end > from && strchr(" \t\r", end[-1]) != NULL) {
        end--;
    }
    *end = '\0';
    return from;
}

static int parse_line(char *line, const char *where, hl_conf_line_fn *fn, void *arg)
{
    char *text = trim_blanks(line, line + strlen(line));
    if (*text == '\0' || *text == '#') {
        return 0;
    }
    char *equals = strchr(text, '=');
    char *name = equals != NULL ? trim_blanks(text, equals) : text;
    if (equals == NULL || *name == '\0' || strpbrk(name, " \t") != NULL) {
        return hl_err_say(HL_ERR_ARG, "%s: expected NAME=value", where);
    }
    char *value = equals + 1;
    return fn(name, trim_blanks(value, value + strlen(value)), where, arg);
}

int hl_conf_parse_text(char *text, const char *path, hl_conf_line_fn *fn, void *arg)
{
    int rc = 0;
    for (int number = 1; rc == 0 && text != NULL; number++) {
        char *line = strsep(&text, "\n"), *where;
        if (asprintf(&where, "%s:%d", path, number) < 0) {
            return hl_err_say(HL_ERR_NO_MEM, "no memory to read %s", path);
        }
        rc = parse_line(line, where, fn, arg);
        free(where);
    }
    return rc;
}

int hl_conf_read_file(const char *path, hl_conf_line_fn *fn, void *arg)
{
    FILE *f = fopen(path, "re");
    if (f == NULL) {
        return errno == ENOENT || errno == ENOTDIR ? HL_ERR_NO_SUCH_FILE
                                                   : hl_err_say(errno == EACCES ? HL_ERR_ACCESS : HL_ERR_ARG,
                                                                "%s: %s", path, strerror(errno));
    }
    char *text = malloc(FILE_MOST + 1);
    size_t len = text != NULL ? fread(text, 1, FILE_MOST + 1, f) : 0;
    int rc = 0;
    if (text == NULL || ferror(f)) {
        rc = hl_err_say(HL_ERR_ARG, "%s: cannot be read: %s", path, strerror(errno));
    } else if (len > FILE_MOST || memchr(text, '\0', len) != NULL) {
        rc = hl_err_say(HL_ERR_ARG, "%s: this is not a file of NAME=value lines", path);
    } else {
        text[len] = '\0';
        rc = hl_conf_parse_text(text, path, fn, arg);
    }
    free(text);
    fclose(f);
    return rc;
}

bool hl_conf_prefix_of(const char *library, const char *libdir, const char *fallback, char *out, size_t cap)
{
    const char *slash = strrchr(library, '/');
    size_t dir = slash != NULL ? (size_t)(slash - library) : 0, tail = strlen(libdir);
    if (dir > tail && library[dir - tail - 1] == '/' && strncmp(library + dir - tail, libdir, tail) == 0) {
        size_t len = dir - tail - 1;
        return (size_t)snprintf(out, cap, "%.*s", (int)(len > 0 ? len : 1), len > 0 ? library : "/") < cap;
    }
    return (size_t)snprintf(out, cap, "%s", fallback) < cap;
}

bool hl_conf_prefix(char *out, size_t cap)
{
    Dl_info self;
    const char *file = dladdr(&hl_conf, &self) != 0 && self.dli_fname != NULL ? self.dli_fname : "";
    /* A program's name may have no path, so /proc/self/exe is used then. */
    char *path = realpath(strchr(file, '/') != NULL ? file : "/proc/self/exe", NULL);
    const char *real = path != NULL ? path : "";
    bool fits = hl_conf_prefix_of(real, HL_LIBDIR, "", out, cap);
    if (fits && out[0] == '\0') {
        fits = hl_conf_prefix_of(real, HL_BINDIR, HL_PREFIX, out, cap);
    }
    free(path);
    return fits;
}

/* The system-wide file. When its folder lies under the configured prefix, it moves with the prefix. */
static bool system_file(char *out, size_t cap)
{
    size_t built = strlen(HL_PREFIX);
    if (strncmp(HL_SYSCONFDIR, HL_PREFIX "/", built + 1) != 0) {
        return (size_t)snprintf(out, cap, "%s/hotlane.conf", HL_SYSCONFDIR) < cap;
    }
    if (!hl_conf_prefix(out, cap)) {
        return false;
    }
    size_t len = strlen(out);
    return (size_t)snprintf(out + len, cap - len, "%s/hotlane.conf", &HL_SYSCONFDIR[built]) < cap - len;
}

static bool user_file(char *out, size_t cap)
{
    const char *config = hl_conf_env("XDG_CONFIG_HOME"), *home = hl_conf_env("HOME");
    if (config != NULL && config[0] == '/') {
        return (size_t)snprintf(out, cap, "%s/hotlane.conf", config) < cap;
    }
    return home != NULL && home[0] == '/' &&
           (size_t)snprintf(out, cap, "%s/.config/hotlane.conf", home) < cap;
}

bool hl_conf_default_file(int which, char *out, size_t cap)
{
    return which == 0 ? system_file(out, cap) : which == 1 && user_file(out, cap);
}
