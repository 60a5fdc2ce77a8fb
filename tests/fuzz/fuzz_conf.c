/* Any value of any variable is taken whole or refused with a text; nothing is read past its end. */
#include "conf.h"
#include "err.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* First byte: which variable; the rest: its value. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1) {
        return 0;
    }
    size_t count;
    const struct hl_var *vars = hl_conf_vars(&count);
    char *value = malloc(size);
    memcpy(value, data + 1, size - 1);
    value[size - 1] = '\0';
    union {
        int word;
        int64_t n;
        uint64_t bytes;
        const char *text;
    } out;
    const struct hl_var *v = &vars[data[0] % count];
    int rc = hl_conf_parse(v, value, &out);
    if (rc != 0 && (rc != HL_ERR_ARG || strstr(hl_err_text(rc), v->name) == NULL)) {
        abort();
    }
    if (rc == 0 && v->kind == HL_CONF_INT && v->max != 0 && (uint64_t)out.n > v->max) {
        abort();
    }
    free(value);
    return 0;
}
