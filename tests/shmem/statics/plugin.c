/* What is loaded by dlopen, and uses SHMEM itself. */
#include <shmem.h>

static long words[10] = {51, 52};

void *plugin_data = words;

long *plugin_words(void);
long *plugin_words(void)
{
    return words;
}

void plugin_put(int pe, long value);
void plugin_put(int pe, long value)
{
    shmem_long_p(&words[3], value, pe);
}
