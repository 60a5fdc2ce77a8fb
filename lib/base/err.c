/* Error codes and the words that go with them. */
#include "err.h"

#include <errno.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static _Thread_local int said_code;
static _Thread_local char said_text[HL_ERR_TEXT];
static _Thread_local bool said_reported;

int hl_err_say(int code, const char *fmt, ...)
{
    va_list args;
    char *text = malloc(sizeof said_text); /* the last text may be among the arguments */
    va_start(args, fmt);
    vsnprintf(text != NULL ? text : said_text, sizeof said_text, fmt, args);
    va_end(args);
    if (text != NULL) {
        memcpy(said_text, text, strlen(text) + 1);
        free(text);
    }
    if (code == HL_ERR_NO_MEM && strstr(said_text, "ulimit") == NULL) {
        size_t at = strlen(said_text);
        snprintf(said_text + at, sizeof said_text - at, "%s", hl_err_hint(ENOMEM));
    }
    said_code = code;
    said_reported = false;
    return code;
}

int hl_err_say_none(int code, const char *noun, const void *handle)
{
    /* All have different values, so a null handle of another kind of object is named, too. */
    static const struct {
        const void *handle;
        const char *name;
    } nulls[] = {
        {MPI_COMM_NULL, "MPI_COMM_NULL"},         {MPI_GROUP_NULL, "MPI_GROUP_NULL"},
        {MPI_DATATYPE_NULL, "MPI_DATATYPE_NULL"}, {MPI_OP_NULL, "MPI_OP_NULL"},
        {MPI_WIN_NULL, "MPI_WIN_NULL"},           {MPI_FILE_NULL, "MPI_FILE_NULL"},
        {MPI_INFO_NULL, "MPI_INFO_NULL"},         {MPI_REQUEST_NULL, "MPI_REQUEST_NULL"},
        {MPI_MESSAGE_NULL, "MPI_MESSAGE_NULL"},   {MPI_ERRHANDLER_NULL, "MPI_ERRHANDLER_NULL"},
        {MPI_SESSION_NULL, "MPI_SESSION_NULL"},   {NULL, "a null pointer (a handle that was never set?)"}};
    for (size_t i = 0; i < sizeof nulls / sizeof nulls[0]; i++) {
        if (nulls[i].handle == handle) {
            return hl_err_say(code, "the %s is %s", noun, nulls[i].name);
        }
    }
    return hl_err_say(code, "%p is no %s, or one that was freed", handle, noun);
}

const char *hl_err_words(int code)
{
    switch (code) {
#define HL_ERR_CASE(name, number, words)                                                                     \
    case HL_ERR_##name:                                                                                      \
        return words;
        HL_ERR_ROWS(HL_ERR_CASE)
#undef HL_ERR_CASE
    default:
        return code == 0 ? "no error" : "unknown error";
    }
}

const char *hl_err_text(int code)
{
    return code != 0 && code == said_code ? said_text : hl_err_words(code);
}

const char *hl_err_text_unreported(int code)
{
    return said_reported ? hl_err_words(code) : hl_err_text(code);
}

void hl_err_reported(void)
{
    said_reported = true;
}

bool hl_err_is_limited(int resource)
{
    struct rlimit r;
    return getrlimit((__rlimit_resource_t)resource, &r) == 0 && r.rlim_cur != RLIM_INFINITY;
}

/* Names the limits of memory that are set: the kernel does not say which one was met. */
static const char *hint_of_memory(void)
{
    bool space = hl_err_is_limited(RLIMIT_AS), data = hl_err_is_limited(RLIMIT_DATA);
    return space && data ? " (address space and private memory are limited, ulimit -v and ulimit -d)"
           : space       ? " (address space is limited, ulimit -v)"
           : data        ? " (private memory is limited, ulimit -d)"
                         : "";
}

const char *hl_err_hint(int error)
{
    switch (error) {
    case EMFILE:
        return " (raise the limit of open files, ulimit -n)";
    case ENFILE:
        return " (raise the system's limit of open files, sysctl fs.file-max)";
    case EAGAIN:
        return " (raise the limit of processes and threads, ulimit -u, or pids.max of the control group)";
    case ENOMEM:
        return hint_of_memory();
    case EPERM:
    case EACCES:
    case ENOSYS:
        return " (a sandbox forbids the call: allow it in its seccomp profile)";
    default:
        return "";
    }
}

int hl_err_class(int code)
{
    if (code >= 0) {
        return code == 0 ? 0 : -HL_ERR_UNKNOWN;
    }
    return code >= HL_ERR_ABI || code < HL_ERR_USERS ? -code : -HL_ERR_OTHER;
}
