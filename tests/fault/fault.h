/* What the parts of fault.so share. */
#ifndef FAULT_H
#define FAULT_H

#include <stdbool.h>
#include <stdlib.h>

/* Elsewhere the library is empty, and the tests say that they are skipped. */
#if defined __linux__ && defined __GLIBC__
#define FAULT_WORKS 1
#endif

/* Our own mistakes, not the program's: a line on stderr, exit status 125. */
void fault_die(const char *what, const char *value);

/* Append a line to $FAULT_LOG, if that is set. */
void fault_log(const char *line);

/* FAULT=fork: read the reference; at an allocation (true: this is a child, it fails); a temporary file was made; the
 * end. */
void fault_fork_start(void);
bool fault_fork_here(void);
void fault_fork_temporary(const char *path);
void fault_fork_stop(void);

#endif
