/* Bytes as text that every launcher's key-value space carries unchanged. Private to boot. */
#ifndef HL_BOOT_CODE_H
#define HL_BOOT_CODE_H

#include <stddef.h>
#include <stdint.h>

/* Characters needed for `len` bytes, the final zero not counted: "LENGTH." and URL-safe base64 without
 * padding. */
size_t hl_boot_code_size(size_t len);

/* Writes them and a zero to `text`, which holds hl_boot_code_size(len) + 1. */
void hl_boot_code_write(const void *data, size_t len, char *text);

/* Length of the whole text whose beginning (up to its end or at least 24 characters) is `text`, and of its
 * data; -1 if it is none. */
int hl_boot_code_look(const char *text, size_t *text_len, size_t *data_len);

/* Decodes a whole text into data[data_len]. -1 if it is not exactly what hl_boot_code_write makes. */
int hl_boot_code_read(const char *text, void *data, size_t data_len);

/* Reads the 32 hexadecimal digits of a job secret. -1 if it is not that. */
int hl_boot_code_secret(const char *hex, uint64_t secret[2]);

#endif
