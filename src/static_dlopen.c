/*
 * Linked into the static program only (make static), with the linker's --wrap=dlopen: what its parts mean by dlopen.
 *
 * sqlite3 can load extensions, so Debian's archive of it refers to dlopen. That of a static glibc looks for the shared
 * libraries of the machine it was linked on, which is why the linker warns of it. spikeroot loads no extension: here
 * dlopen fails, always, and nothing is looked for.
 */
#include <stddef.h>

void *__wrap_dlopen(const char *file, int mode);

void *__wrap_dlopen(const char *file, int mode) {
    (void)file;
    (void)mode;
    return NULL;
}
