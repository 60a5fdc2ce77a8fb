/* Error codes, their classes and texts: those of the standard, and those that users add. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "errh.h"
#include "lock.h"

/* A class or code that a user added: its number is MPI_ERR_LASTCODE + 1 + its place in the array. */
struct added {
    bool used;
    int class_; /* for a class its own number */
    char *words;
};

static struct hl_mutex lock = HL_MUTEX_INIT;
static struct added *added HL_GUARDED_BY(lock);
static int n_added HL_GUARDED_BY(lock);

enum { LAST_CLASS = 62 };

/* The row of a code that the user added, or NULL. */
static struct added *code_row(int code) HL_REQUIRES(lock)
{
    int at = code - MPI_ERR_LASTCODE - 1;

    return at >= 0 && at < n_added && added[at].used ? &added[at] : NULL;
}

int hl_errh_class(int code)
{
    if (code >= MPI_SUCCESS && code <= LAST_CLASS) {
        return code;
    }
    if (code > MPI_T_ERR_CANNOT_INIT - 1 && code <= MPI_T_ERR_PVAR_NO_ATOMIC) {
        return code;
    }
    hl_mutex_lock(&lock);
    const struct added *row = code_row(code);
    int class_ = row != NULL ? row->class_ : MPI_ERR_UNKNOWN;
    hl_mutex_unlock(&lock);
    return class_;
}

/* Writes the text of an added code; false if there is no such code. */
static bool get_added_string(int code, char *out)
{
    hl_mutex_lock(&lock);
    const struct added *row = code_row(code);
    bool found = row != NULL;
    snprintf(out, MPI_MAX_ERROR_STRING, "%s", found && row->words != NULL ? row->words : "");
    hl_mutex_unlock(&lock);
    return found;
}

static const char *tool_words(int code)
{
    static const char *const words[] = {"the library cannot be opened",
                                        "the tool interface is not accessible now",
                                        "MPI_T_init_thread was not called",
                                        "the library does not support that",
                                        "no memory",
                                        "invalid argument, or a value that is not allowed",
                                        "the index is out of range",
                                        "the number of the item is out of range",
                                        "the session is none, or was freed",
                                        "the handle is none, or was freed",
                                        "there is nothing of this name",
                                        "there is no memory for a handle",
                                        "there is no memory for a session",
                                        "the variable cannot be set now",
                                        "the variable cannot be set, or not any more",
                                        "the counter cannot be written",
                                        "the counter cannot be started and stopped",
                                        "the counter cannot be read and written in one step"};
    return words[code - MPI_T_ERR_CANNOT_INIT];
}

int hl_errh_string(int code, char *out)
{
    if (code == MPI_SUCCESS) {
        snprintf(out, MPI_MAX_ERROR_STRING, "no error");
        return 0;
    }
    if (code > 0 && code <= LAST_CLASS) {
        const char *general = hl_err_words(-code), *detail = hl_err_text(-code);
        if (strcmp(general, detail) == 0) {
            snprintf(out, MPI_MAX_ERROR_STRING, "%s", general);
        } else {
            snprintf(out, MPI_MAX_ERROR_STRING, "%s: %s", general, detail);
        }
        return 0;
    }
    if (code >= MPI_T_ERR_CANNOT_INIT && code <= MPI_T_ERR_PVAR_NO_ATOMIC) {
        snprintf(out, MPI_MAX_ERROR_STRING, "MPI_T: %s", tool_words(code));
        return 0;
    }
    if (get_added_string(code, out)) {
        return 0;
    }
    return hl_err_say(HL_ERR_ARG, "%d is no error code", code);
}

int hl_errh_last_code(void)
{
    hl_mutex_lock(&lock);
    int n = n_added;
    hl_mutex_unlock(&lock);
    return MPI_ERR_LASTCODE + n;
}

/* Adds a row. class_ 0: it is a class, and its own class. */
static int add_code(int class_, int *code)
{
    hl_mutex_lock(&lock);
    struct added *more = realloc(added, ((size_t)n_added + 1) * sizeof *added);
    if (more != NULL) {
        added = more;
        *code = MPI_ERR_LASTCODE + 1 + n_added;
        added[n_added++] = (struct added){true, class_ == 0 ? *code : class_, NULL};
    }
    hl_mutex_unlock(&lock);
    return more != NULL ? 0 : hl_err_say(HL_ERR_NO_MEM, "no memory for an error code");
}

int hl_errh_add_class(int *class_)
{
    return add_code(0, class_);
}

int hl_errh_add_code(int class_, int *code)
{
    if (class_ <= MPI_SUCCESS || hl_errh_class(class_) != class_) {
        return hl_err_say(HL_ERR_ARG, "%d is no error class", class_);
    }
    return add_code(class_, code);
}

int hl_errh_set_string(int code, const char *string)
{
    char *copy = NULL;

    if (string != NULL && asprintf(&copy, "%.*s", MPI_MAX_ERROR_STRING - 1, string) < 0) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for the text of error code %d", code);
    }
    hl_mutex_lock(&lock);
    struct added *row = code_row(code);
    if (row != NULL) {
        char *old = row->words;
        row->words = copy;
        copy = old;
    }
    hl_mutex_unlock(&lock);
    free(copy);
    return row != NULL ? 0 : hl_err_say(HL_ERR_ARG, "%d is no error code that a user added", code);
}

/* Removes a row, and all unused rows at the end, so that the last used code gets smaller again. */
static int drop_code(int code, bool is_class)
{
    hl_mutex_lock(&lock);
    struct added *row = code_row(code);
    bool found = row != NULL && row->words == NULL && (row->class_ == code) == is_class;
    for (int i = 0; found && is_class && i < n_added; i++) {
        found = !added[i].used || &added[i] == row || added[i].class_ != code;
    }
    if (found) {
        row->used = false;
        while (n_added > 0 && !added[n_added - 1].used) {
            n_added--;
        }
    }
    hl_mutex_unlock(&lock);
    return found ? 0
                 : hl_err_say(HL_ERR_ARG, "%d is no error %s that a user added, or something still uses it",
                              code, is_class ? "class" : "code");
}

int hl_errh_remove_class(int class_)
{
    return drop_code(class_, true);
}

int hl_errh_remove_code(int code)
{
    return drop_code(code, false);
}
