/* The rows of a rank straight from the file's pages.
 *
 * SQLite's loop over rows takes more time than all that is done with them, so a trend_data of the layout that msProbe
 * writes is walked here: https://www.sqlite.org/fileformat2.html, "B-tree Pages" and "Record Format".  SQLite still
 * opens the file, locks it, and reads its schema and all else.  Pages are the file's own only while nothing of them is
 * in a -wal, and their content is fixed inside a read transaction for the reasons given in trend_db_ahead.c.
 *
 * What is not exactly as expected is no error here: the walk ends as SR_TDB_UNFIT and the caller has SQLite read the
 * rows, which knows all layouts and all words for damage.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reader_internal.h"
#include "trend_db_internal.h"

enum {
    MAX_DEPTH = 20,         /* as in SQLite */
    INTERIOR = 2,           /* page types of a tree of keys, */
    LEAF = 10,              /* which a table WITHOUT ROWID is */
    FILE_HEADER = 100,      /* bytes */
    FIRST_TEXT_OR_BLOB = 12 /* serial types from here on */
};

typedef struct {
    int64_t key[SR_TDB_NORM]; /* rank, step, target_id, metric_id */
    double norm;              /* NaN for NULL */
    bool is_null;
} row;

typedef struct {
    const sr_tdb_layout *layout;
    const sr_tdb_range *range;
    sr_tdb_take take;
    void *ctx;
    sqlite3_file *file;
    size_t page_size;
    size_t usable;    /* bytes of a page */
    size_t max_local; /* bytes of a record that has no overflow page */
    uint64_t n_pages, n_visited;
    bool seeking; /* no row was met yet */
    bool any;     /* one of the range was */
    int64_t step; /* of the last row */
    unsigned char *page[MAX_DEPTH];
} walk;

/* ---- numbers ---- */

/* Big-endian; written out so that the compiler sees single loads. */
static uint32_t u16(const unsigned char *p) { return (uint32_t)p[0] << 8 | p[1]; }
static uint32_t u32(const unsigned char *p) { return u16(p) << 16 | u16(p + 2); }
static uint64_t u64(const unsigned char *p) { return (uint64_t)u32(p) << 32 | u32(p + 4); }

static bool long_varint(const unsigned char **p, const unsigned char *end, uint32_t *v) {
    *v = 0;
    for (int i = 0; i < 4 && *p < end; i++) {
        unsigned char byte = *(*p)++;
        *v = *v << 7 | (byte & 0x7fu);
        if (byte < 0x80) return true;
    }
    return false;
}

/* A varint below 2^28; larger ones stand in no record that fits a page. */
static inline bool varint(const unsigned char **p, const unsigned char *end, uint32_t *v) {
    if (*p >= end || **p >= 0x80) return long_varint(p, end, v);
    *v = *(*p)++;
    return true;
}

/* ---- a record ---- */

/* Bytes of a value; SIZE_MAX for the types that SQLite keeps for itself. */
static size_t value_bytes(uint32_t type) {
    static const unsigned char bytes[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0};
    if (type < sizeof bytes) return bytes[type];
    return type < FIRST_TEXT_OR_BLOB ? SIZE_MAX : (type - FIRST_TEXT_OR_BLOB) / 2;
}

static inline bool integer(uint32_t type, const unsigned char *p, int64_t *v) {
    switch (type) {
    case 1: *v = (int8_t)p[0]; return true;
    case 2: *v = (int16_t)u16(p); return true;
    case 3: *v = (int8_t)p[0] * 65536 + (int64_t)u16(p + 1); return true;
    case 4: *v = (int32_t)u32(p); return true;
    case 5: *v = (int16_t)u16(p) * INT64_C(4294967296) + (int64_t)u32(p + 2); return true;
    case 6: *v = (int64_t)u64(p); return true;
    case 8:
    case 9: *v = type - 8; return true;
    default: return false;
    }
}

static bool take_value(row *r, sr_tdb_column column, uint32_t type, const unsigned char *p) {
    int64_t whole;
    if (column < SR_TDB_NORM) return integer(type, p, &r->key[column]);
    if (type == 7) {
        uint64_t bits = u64(p);
        memcpy(&r->norm, &bits, sizeof r->norm);
    } else if (integer(type, p, &whole)) {
        r->norm = (double)whole;
    } else if (type == 0) {
        r->norm = (double)NAN;
    } else {
        return false;
    }
    r->is_null = isnan(r->norm);           /* SQLite takes a stored NaN for NULL */
    if (r->is_null) r->norm = (double)NAN; /* and its bits could mean something to us */
    return true;
}

static size_t count_cells(const unsigned char *page) { return u16(page + 3); }
static size_t header_bytes(const unsigned char *page) { return page[0] == INTERIOR ? 12 : 8; }

/* Where the record of cell `i` begins and ends. False: not in this page, or not all of it. */
static bool find_record(const walk *w, const unsigned char *page, size_t i, const unsigned char **begin,
                        const unsigned char **end) {
    size_t header = header_bytes(page), at = u16(page + header + 2 * i);
    if (at < header + 2 * count_cells(page) || at + 4 > w->usable) return false;
    uint32_t size;
    *begin = page + at + (page[0] == INTERIOR ? 4 : 0);
    *end = page + w->usable;
    if (!varint(begin, *end, &size) || size > w->max_local || size > (size_t)(*end - *begin)) return false;
    *end = *begin + size;
    return true;
}

/* The row in cell `i`. False: it is not as expected. */
static bool read_row(const walk *w, const unsigned char *page, size_t i, row *r) {
    const unsigned char *p, *end;
    uint32_t header_size, type;
    if (!find_record(w, page, i, &p, &end)) return false;
    const unsigned char *record = p;
    if (!varint(&p, end, &header_size) || header_size > (size_t)(end - record)) return false;
    const unsigned char *value = record + header_size, *types_end = value;
    for (size_t k = 0; k < w->layout->n; k++) {
        if (!varint(&p, types_end, &type)) return false; /* or the row is older than a column: its default counts */
        size_t n = value_bytes(type);
        if (n > (size_t)(end - value)) return false;
        sr_tdb_column column = w->layout->column[k];
        if (column != SR_TDB_OTHER && !take_value(r, column, type, value)) return false;
        value += n;
    }
    return p < types_end || value == end; /* all types seen, but bytes are left: SQLite calls that damage */
}

/* ---- the tree ---- */

/* The page, read into the buffer of its depth; NULL: it is not as expected, or memory is out. */
static const unsigned char *read_page(walk *w, uint32_t number, size_t depth) {
    /* in a sound tree no page is met twice */
    if (depth == MAX_DEPTH || number < 2 || number > w->n_pages || w->n_visited++ > w->n_pages) return NULL;
    if (w->page[depth] == NULL) w->page[depth] = sr_reallocarray(NULL, w->page_size, 1);
    unsigned char *page = w->page[depth];
    if (page == NULL) return NULL;
    sqlite3_int64 at = (sqlite3_int64)(number - 1) * (sqlite3_int64)w->page_size;
    if (w->file->pMethods->xRead(w->file, page, (int)w->page_size, at) != SQLITE_OK) return NULL;
    if (page[0] != INTERIOR && page[0] != LEAF) return NULL;
    size_t n_cells = count_cells(page);
    /* only a tree of one page is empty */
    return (n_cells > 0 || depth == 0) && header_bytes(page) + 2 * n_cells <= w->usable ? page : NULL;
}

/* The child before cell `i`, or after the last; 0, which is no page: not as expected. */
static uint32_t child_page(const walk *w, const unsigned char *page, size_t i) {
    if (i == count_cells(page)) return u32(page + 8);
    size_t at = u16(page + header_bytes(page) + 2 * i);
    return at + 4 <= w->usable ? u32(page + at) : 0;
}

/* The first cell that is not before the range. False: something is not as expected. */
static bool lower_bound(const walk *w, const unsigned char *page, size_t n_cells, size_t *cell) {
    size_t lo = 0, hi = n_cells;
    while (lo < hi) {
        /* the cells that SQLite looks at: where keys are damaged it goes wrong as well */
        size_t mid = (lo + hi - 1) / 2;
        row r;
        if (!read_row(w, page, mid, &r)) return false;
        int64_t rank = r.key[SR_TDB_RANK], step = r.key[SR_TDB_STEP];
        if (rank < w->range->rank || (rank == w->range->rank && step < w->range->first))
            lo = mid + 1;
        else
            hi = mid;
    }
    *cell = lo;
    return true;
}

/* Are all cells in the page?  SQLite asks that of each page; here it is asked where not all rows are taken. */
static bool has_all_cells(const walk *w, const unsigned char *page) {
    const unsigned char *begin, *end;
    for (size_t i = 0; i < count_cells(page); i++)
        if (!find_record(w, page, i, &begin, &end)) return false;
    return true;
}

static sr_tdb_walked visit_row(walk *w, const unsigned char *page, size_t i) {
    row r;
    if (!read_row(w, page, i, &r)) return SR_TDB_UNFIT;
    int64_t rank = r.key[SR_TDB_RANK], step = r.key[SR_TDB_STEP];
    if (rank != w->range->rank) return rank > w->range->rank ? SR_TDB_ENDED : SR_TDB_UNFIT;
    if (step < w->step) return SR_TDB_UNFIT; /* keys ascend; w->step begins with the range */
    if (step > w->range->last) return SR_TDB_ENDED;
    w->step = step;
    w->any = true;
    if (r.key[SR_TDB_METRIC] != w->range->metric) return SR_TDB_GOES_ON;
    return w->take(w->ctx, step, r.key[SR_TDB_TARGET], r.norm, r.is_null);
}

/* All rows of the range at and below a page, in order of key: an interior page has rows between its children. */
static sr_tdb_walked visit_page(walk *w, uint32_t number, size_t depth) {
    const unsigned char *page = read_page(w, number, depth);
    if (page == NULL) return SR_TDB_UNFIT;
    size_t n_cells = count_cells(page), i = 0;
    bool interior = page[0] == INTERIOR;
    if ((w->seeking || interior) && !has_all_cells(w, page)) return SR_TDB_UNFIT;
    if (w->seeking && !lower_bound(w, page, n_cells, &i)) return SR_TDB_UNFIT;
    w->seeking = w->seeking && interior;
    for (;; i++) {
        sr_tdb_walked said = interior ? visit_page(w, child_page(w, page, i), depth + 1) : SR_TDB_GOES_ON;
        if (said != SR_TDB_GOES_ON || i >= n_cells) return said;
        said = visit_row(w, page, i);
        if (said == SR_TDB_ENDED && !has_all_cells(w, page)) return SR_TDB_UNFIT;
        if (said != SR_TDB_GOES_ON) return said;
    }
}

/* What the file's header says of its pages.  Meanwhile somebody may have begun a -wal; of a frozen file that is noticed
 * later (sr_tdb_settle). */
static bool read_file_header(walk *w, const sr_tdb_source *src) {
    unsigned char head[FILE_HEADER];
    sqlite3_int64 size = 0;
    if (w->file->pMethods->xRead(w->file, head, sizeof head, 0) != SQLITE_OK ||
        w->file->pMethods->xFileSize(w->file, &size) != SQLITE_OK)
        return false;
    w->page_size = u16(head + 16);
    if (w->page_size == 1) w->page_size = 65536;
    size_t reserved = head[20];
    bool wal_mode = head[18] != 1 || head[19] != 1;
    if (src->mode != SR_TDB_FROZEN && (src->mode != SR_TDB_LOCKED || wal_mode)) return false;
    if (w->page_size < 512 || w->page_size > 65536 || (w->page_size & (w->page_size - 1)) != 0 ||
        w->page_size - reserved < 480)
        return false;
    w->usable = w->page_size - reserved;
    w->max_local = (w->usable - 12) * 64 / 255 - 23;
    w->n_pages = (uint64_t)size / w->page_size;
    return true;
}

sr_tdb_walked sr_tdb_walk(const sr_tdb_source *src, sqlite3 *db, const sr_tdb_layout *layout, const sr_tdb_range *range,
                          sr_tdb_take take, void *ctx) {
    walk w = {.layout = layout, .range = range, .take = take, .ctx = ctx, .seeking = true, .step = range->first};
    if (layout->n == 0 || sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &w.file) != SQLITE_OK ||
        w.file == NULL || w.file->pMethods == NULL || !read_file_header(&w, src))
        return SR_TDB_UNFIT;
    sr_tdb_walked said = visit_page(&w, layout->root, 0);
    for (size_t i = 0; i < MAX_DEPTH; i++) free(w.page[i]);
    if (said == SR_TDB_GOES_ON || said == SR_TDB_ENDED) return w.any ? SR_TDB_ENDED : SR_TDB_NOTHING;
    return said;
}
