/* Inside the module: bytes as text that every launcher's key-value space carries unchanged. */
#ifndef HL_BOOT_CODE_H
#define HL_BOOT_CODE_H

#include <stddef.h>
#include <stdint.h>

/* Characters that `len` bytes take as text ("LENGTH." and URL-safe base64 without padding), without the final
 * zero. */
size_t hl_boot_code_size(size_t len);

/* Writes the text of `len` bytes and a zero to `text`, which has room for hl_boot_code_size(len) + 1. */
void hl_boot_code_write(const void *data, size_t len, char *text);

/* Sets the lengths of a whole text and of its data by the text's beginning (all of it, or at least 24
 * characters). Returns 0, or -1 if it is no such text. */
int hl_boot_code_look(const char *text, size_t *text_len, size_t *data_len);

/* Decodes a whole text into data[data_len]. Returns 0, or -1 if hl_boot_code_write would not make this
 * text. */
int hl_boot_code_read(const char *text, void *data, size_t data_len);

/* Reads the 32 hexadecimal digits of a job secret. Returns 0, or -1 if `hex` is something else. */
int hl_boot_code_secret(const char *hex, uint64_t secret[2]);

#endif
