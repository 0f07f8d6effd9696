/* Files by device and inode: one file may have many names. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reader_internal.h"
#include "spikeroot/mem.h"
#include "spikeroot/str.h"

/* ---- a set of files ---- */

static bool same_id(sr_file_id a, sr_file_id b) { return a.ino == b.ino && a.dev == b.dev; }

/* Where the file is, or belongs: an open table with a power of two of places, at most half of them taken. */
static size_t place_of(const sr_file_ids *s, sr_file_id id) {
    uint64_t h = ((uint64_t)id.ino ^ (uint64_t)id.dev << 40) * UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (size_t)(h >> 32) & (s->n_places - 1);
    while (s->taken[at] && !same_id(s->place[at], id)) at = (at + 1) & (s->n_places - 1);
    return at;
}

static bool enlarge(sr_file_ids *s) {
    size_t n = s->n_places == 0 ? 64 : s->n_places * 2;
    sr_file_ids t = {.place = sr_reallocarray(NULL, n, sizeof *t.place), .taken = calloc(n, sizeof *t.taken)};
    t.n_places = n;
    t.n = s->n;
    if (t.place == NULL || t.taken == NULL) {
        sr_file_ids_fini(&t);
        return false;
    }
    for (size_t i = 0; i < s->n_places; i++) {
        if (!s->taken[i]) continue;
        size_t at = place_of(&t, s->place[i]);
        t.place[at] = s->place[i];
        t.taken[at] = true;
    }
    sr_file_ids_fini(s);
    *s = t;
    return true;
}

bool sr_file_ids_add(sr_file_ids *s, const struct stat *sb, bool *fresh) {
    *fresh = false;
    if (s->n * 2 >= s->n_places && !enlarge(s)) return false;
    const sr_file_id id = {sb->st_dev, sb->st_ino};
    size_t at = place_of(s, id);
    if (s->taken[at]) return true;
    s->place[at] = id;
    s->taken[at] = true;
    s->n++;
    *fresh = true;
    return true;
}

void sr_file_ids_fini(sr_file_ids *s) {
    free(s->place);
    free(s->taken);
    memset(s, 0, sizeof *s);
}

/* ---- one file under another name ---- */

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

sr_status sr_file_name_init(sr_file_name *f, const char *path, sr_err *err) {
    struct stat sb;
    sr_str dir = {0};
    memset(f, 0, sizeof *f);
    f->base = base_name(path);
    f->exists = stat(path, &sb) == 0;
    if (!f->exists) { /* then its directory tells */
        size_t n = (size_t)(f->base - path);
        sr_str_addn(&dir, n > 0 ? path : ".", n > 0 ? n : 1);
        if (dir.failed) return sr_fail_mem(err);
        f->nowhere = stat(dir.s, &sb) != 0;
        sr_str_fini(&dir);
    }
    if (!f->nowhere) f->id = (sr_file_id){sb.st_dev, sb.st_ino};
    return SR_OK;
}

bool sr_file_name_same(const sr_file_name *a, const sr_file_name *b) {
    if (a->nowhere || b->nowhere || a->exists != b->exists || !same_id(a->id, b->id)) return false;
    return a->exists || strcmp(a->base, b->base) == 0;
}
