/* A scanner over the members of a JSON object in a file of any size.
 *
 * It finds where members begin and end, respecting strings, escapes and nesting, in a buffer that grows to the largest
 * member; what a member holds is for cJSON to say.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dump_stat_internal.h"
#include "spikeroot/infile.h"
#include "spikeroot/mem.h"
#include "spikeroot/progress.h"

#ifndef SR_SCAN_CHUNK /* bytes a read() asks for; the fuzz targets take few, so that more lies across two reads */
#define SR_SCAN_CHUNK (256 * 1024)
#endif
enum { CHUNK = SR_SCAN_CHUNK };

/* Read more behind what is there. False at the end of the file, or on an error (then s->failed). */
static bool fill(sr_scan *s) {
    if (s->eof || s->failed) return false;
    if (s->mark > 0) {
        memmove(s->buf, s->buf + s->mark, s->len - s->mark);
        s->base += s->mark;
        s->len -= s->mark;
        s->pos -= s->mark;
        s->mark = 0;
    }
    if (s->len >= SR_DUMP_MAX_MEMBER) {
        (void)sr_fail(s->err, SR_EINPUT,
                      "%s: the entry at byte %llu is larger than the limit of %d MiB; is this a dump of "
                      "msProbe with task statistics?",
                      s->path, (unsigned long long)s->base, SR_DUMP_MAX_MEMBER / (1024 * 1024));
        s->failed = true;
        return false;
    }
    if (s->len == s->cap && !sr_grow((void **)&s->buf, &s->cap, s->cap + CHUNK, 1)) {
        (void)sr_fail_mem(s->err);
        s->failed = true;
        return false;
    }
    ssize_t n;
    do n = read(s->fd, s->buf + s->len, s->cap - s->len);
    while (n < 0 && errno == EINTR);
    if (n < 0) {
        (void)sr_fail_os(s->err, errno, "%s: cannot read", s->path);
        s->failed = true;
        return false;
    }
    sr_progress_add((uint64_t)n);
    s->eof = n == 0;
    s->len += (size_t)n;
    return n > 0;
}

/* The byte at pos, -1 at the end. */
static int peek(sr_scan *s) {
    if (s->pos == s->len && !fill(s)) return -1;
    return (unsigned char)s->buf[s->pos];
}

static int skip_space(sr_scan *s) {
    int c;
    while ((c = peek(s)) == ' ' || c == '\n' || c == '\r' || c == '\t') s->pos++;
    return c;
}

static sr_scan_event stop(sr_scan *s, int c) {
    if (s->failed) return SR_SCAN_FAILED;
    if (c < 0) return SR_SCAN_CUT;
    s->bad_at = s->base + s->pos;
    return SR_SCAN_BAD;
}

/* Pass over a string; pos is behind its opening quote and ends behind the closing one. */
static bool skip_string(sr_scan *s) {
    size_t start = s->pos - s->mark;
    for (;;) {
        char *q = memchr(s->buf + s->pos, '"', s->len - s->pos);
        if (q == NULL) {
            s->pos = s->len;
            if (!fill(s)) return false;
            continue;
        }
        size_t n = 0; /* a quote behind an odd number of backslashes is not the end */
        while (q - n > s->buf + s->mark + start && q[-1 - (ptrdiff_t)n] == '\\') n++;
        s->pos = (size_t)(q - s->buf) + 1;
        if (n % 2 == 0) return true;
    }
}

static bool skip_nested(sr_scan *s) {
    static const char mark[UCHAR_MAX + 1] = {['"'] = 1, ['{'] = 2, ['['] = 2, ['}'] = 3, [']'] = 3};
    int depth = 0;
    do {
        const char *p = s->buf + s->pos, *end = s->buf + s->len;
        while (p < end && mark[(unsigned char)*p] == 0) p++;
        s->pos = (size_t)(p - s->buf);
        if (p == end) {
            if (!fill(s)) return false;
            continue;
        }
        char what = mark[(unsigned char)*p];
        s->pos++;
        if (what == 1) {
            if (!skip_string(s)) return false;
        } else if (what == 2) {
            depth++;
            if (depth > s->depth) s->depth = depth;
        } else {
            depth--;
        }
    } while (depth > 0);
    return true;
}

sr_status sr_scan_open(sr_scan *s, const char *path, sr_err *err) {
    memset(s, 0, sizeof *s);
    s->path = path;
    s->err = err;
    s->fd = sr_infile_open(path);
    if (s->fd < 0 && errno == EINVAL)
        return sr_fail(err, SR_EINPUT,
                       "%s: is a FIFO, device or directory, not a file; name a dump that is made of files", path);
    if (s->fd < 0) return sr_fail_os(err, errno, "%s: cannot open", path);
    s->buf = malloc(CHUNK);
    if (s->buf == NULL) return sr_fail_mem(err);
    s->cap = CHUNK;
    return SR_OK;
}

void sr_scan_fini(sr_scan *s) {
    free(s->buf);
    if (s->fd >= 0) (void)close(s->fd);
    memset(s, 0, sizeof *s);
    s->fd = -1;
}

/* Open the outermost object. */
static sr_scan_event begin(sr_scan *s) {
    if (peek(s) == 0xef) { /* a byte order mark */
        for (int i = 0; i < 3; i++) {
            if (peek(s) != (unsigned char)"\xef\xbb\xbf"[i]) return stop(s, peek(s));
            s->pos++;
        }
    }
    int c = skip_space(s);
    if (c != '{') return stop(s, c);
    s->pos++;
    s->level = 1;
    return SR_SCAN_MEMBER;
}

sr_scan_event sr_scan_next(sr_scan *s) {
    s->mark = s->pos;
    if (s->level == 0) {
        sr_scan_event e = begin(s);
        if (e != SR_SCAN_MEMBER) return e;
    }
    int c = skip_space(s);
    if (c == '}') {
        s->pos++;
        s->level--;
        s->comma = true;
        if (s->level > 0) return SR_SCAN_END;
        s->mark = s->pos;
        c = skip_space(s);
        return c < 0 && !s->failed ? SR_SCAN_END : stop(s, c);
    }
    if (s->comma) {
        if (c != ',') return stop(s, c);
        s->pos++;
        c = skip_space(s);
    }
    if (c != '"') return stop(s, c);
    s->mark = s->pos;
    s->pos++;
    s->key_at = 1;
    if (!skip_string(s)) return stop(s, -1);
    s->key_len = s->pos - s->mark - 2;
    c = skip_space(s);
    if (c != ':') return stop(s, c);
    s->pos++;
    c = skip_space(s);
    if (c < 0 || c == ',' || c == '}' || c == ']') return stop(s, c);
    s->comma = true;
    return SR_SCAN_MEMBER;
}

sr_scan_event sr_scan_value(sr_scan *s) {
    s->value_at = s->pos - s->mark;
    s->depth = 0;
    int c = peek(s);
    if (c == '"') {
        s->pos++;
        if (!skip_string(s)) return stop(s, -1);
    } else if (c == '{' || c == '[') {
        if (!skip_nested(s)) return stop(s, -1);
    } else {
        while ((c = peek(s)) >= 0 && strchr(",}] \t\r\n", c) == NULL) s->pos++;
        if (c < 0) return stop(s, c);
    }
    s->value_len = s->pos - s->mark - s->value_at;
    return SR_SCAN_MEMBER;
}

bool sr_scan_enter(sr_scan *s) {
    if (peek(s) != '{') return false;
    s->pos++;
    s->level++;
    s->comma = false;
    return true;
}
