/* Whatever a launcher writes: lines are found, fields are cut out, coded values are decoded or refused, in
 * bounds. */
#include "boot_code.h"
#include "pmi1.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *line = malloc(size + 1), *out = malloc(size + 1), *again = malloc(2 * size + 32);
    memcpy(line, data, size);
    line[size] = '\0';
    int number;
    hl_pmi1_number(line, "rc", &number);
    int len = hl_pmi1_field(line, "value", out, size + 1);
    if (len >= 0 && strlen(out) != (size_t)len) {
        abort();
    }
    size_t text_len, data_len;
    if (hl_boot_code_look(line, &text_len, &data_len) == 0 && data_len <= size) {
        char *decoded = malloc(data_len + 1);
        /* What decodes is exactly what the writer makes. */
        if (hl_boot_code_read(line, decoded, data_len) == 0) {
            hl_boot_code_write(decoded, data_len, again);
            if (strcmp(again, line) != 0) {
                abort();
            }
        }
        free(decoded);
    }
    free(line);
    free(out);
    free(again);
    return 0;
}
