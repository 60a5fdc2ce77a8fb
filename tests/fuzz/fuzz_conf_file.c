/* Any text is taken apart into names and values, or refused with its line. */
#include "conf.h"
#include "conf_internal.h"
#include "err.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int on_line(const char *name, const char *value, const char *where, void *arg)
{
    if (*name == '\0' || strpbrk(name, " \t\n=") != NULL || strchr(value, '\n') != NULL ||
        strncmp(where, "file:", 5) != 0) {
        abort();
    }
    (void)hl_conf_nearest(name);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    int rc = hl_conf_parse_text(text, "file", on_line, NULL);
    if (rc != 0 && (rc != HL_ERR_ARG || strncmp(hl_err_text(rc), "file:", 5) != 0)) {
        abort();
    }
    free(text);
    return 0;
}
