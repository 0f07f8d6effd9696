/* Lines out of large blocks.  read(), not mmap: a file that shrinks while it is mapped would kill the process. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor_csv_internal.h"
#include "spikeroot/infile.h"
#include "spikeroot/progress.h"

int csv_lines_open(csv_lines *l, const char *path, char *buf, uint64_t limit) {
    memset(l, 0, sizeof *l);
    l->buf = buf;
    l->fd = sr_infile_open(path);
    if (l->fd < 0) return errno;
    struct stat st;
    if (fstat(l->fd, &st) != 0) {
        int e = errno;
        csv_lines_close(l);
        return e;
    }
    l->left = st.st_size > 0 ? (uint64_t)st.st_size : 0;
    if (limit > 0 && l->left > limit) l->left = limit;
    return 0;
}

void csv_lines_close(csv_lines *l) {
    if (l->fd >= 0) (void)close(l->fd);
    l->fd = -1;
}

/* Append to the buffer; false at the end of the file or when reading fails. */
static bool fill(csv_lines *l) {
    if (l->pos > 0) {
        memmove(l->buf, l->buf + l->pos, l->len - l->pos);
        l->len -= l->pos;
        l->pos = 0;
    }
    size_t want = CSV_BLOCK - l->len;
    if ((uint64_t)want > l->left) want = (size_t)l->left;
    if (want == 0) return false;
    ssize_t got;
    do {
        got = read(l->fd, l->buf + l->len, want);
    } while (got < 0 && errno == EINTR);
    if (got < 0) l->os_errno = errno;
    if (got <= 0) {
        l->left = 0; /* the file has shrunk, or can't be read further */
        return false;
    }
    sr_progress_add((uint64_t)got);
    l->len += (size_t)got;
    l->left -= (uint64_t)got;
    return true;
}

csv_line_kind csv_lines_next(csv_lines *l, const char **s, size_t *n) {
    size_t looked = 0; /* bytes after pos known to hold no LF */
    for (;;) {
        char *from = l->buf + l->pos;
        char *lf = memchr(from + looked, '\n', l->len - l->pos - looked);
        if (lf != NULL) {
            *s = from;
            *n = (size_t)(lf - from);
            l->pos += *n + 1;
            l->line_no++;
            bool was_long = l->skipping || *n > CSV_MAX_LINE;
            l->skipping = false;
            if (was_long) return CSV_LINE_LONG;
            if (*n > 0 && lf[-1] == '\r') --*n;
            return CSV_LINE;
        }
        looked = l->len - l->pos;
        if (looked > CSV_MAX_LINE) { /* its rest is read and dropped */
            l->lone_cr = l->lone_cr || memchr(l->buf + l->pos, '\r', looked) != NULL;
            l->skipping = true;
            l->pos = l->len;
            looked = 0;
        }
        if (fill(l)) continue;
        if (l->os_errno != 0) return CSV_FAILED;
        *s = l->buf + l->pos;
        *n = looked;
        l->pos = l->len;
        if (l->skipping) {
            l->skipping = false;
            l->line_no++;
            return CSV_LINE_LONG;
        }
        if (*n == 0) return CSV_END;
        l->line_no++;
        if ((*s)[*n - 1] == '\r') --*n;
        return CSV_LINE_CUT;
    }
}
