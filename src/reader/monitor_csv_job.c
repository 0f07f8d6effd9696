/* A rank being read: its beginning and its end. The rows between come from monitor_csv_parse.c. */
#include <stdlib.h>
#include <string.h>

#include "monitor_csv_internal.h"

/* ---- the job ---- */

bool csv_job_init(csv_job *j) {
    j->seen.max1 = j->seen.max2 = -1;
    j->seen.min1 = j->seen.min2 = INT32_MAX;
    j->last_name = 0;
    j->arena = sr_arena_new();
    j->buf = malloc(CSV_BLOCK);
    return j->arena != NULL && j->buf != NULL;
}

/* What is only needed while rows come in: of thousands of ranks only those being read have it. */
static void free_scratch(csv_job *j) {
    sr_arena_free(j->arena);
    free(j->buf);
    free(j->names.items);
    free(j->name_bucket);
    free(j->rows.items);
    free(j->pending.items);
    j->arena = NULL;
    j->buf = NULL;
    memset(&j->names, 0, sizeof j->names);
    j->name_bucket = NULL;
    j->n_name_buckets = 0;
    memset(&j->rows, 0, sizeof j->rows);
    memset(&j->pending, 0, sizeof j->pending);
}

void csv_job_fini(csv_job *j) {
    free_scratch(j);
    free(j->stats.items);
    free(j->norm_missing);
    free(j->conflict);
    sr_sheet_free(j->left_out);
    sr_warnings_fini(&j->warnings);
    memset(j, 0, sizeof *j);
}

/* ---- after the last file ---- */

typedef struct {
    int64_t step;
    int32_t point;
    csv_row_info info;
    size_t row;
} rank_row;

static int by_step(const void *a, const void *b) {
    const rank_row *x = a, *y = b;
    if (x->step != y->step) return x->step < y->step ? -1 : 1;
    return (x->point > y->point) - (x->point < y->point);
}

/* The rows of one step, in order: does a run have two micro steps in it, and which does only an earlier run have? */
static void finish_step(csv_job *j, const rank_row *r, size_t n, size_t *dropped) {
    uint32_t run = 0;
    int32_t last = 0;
    for (size_t i = 0; i < n; i++)
        if (r[i].info.run >= run) {
            run = r[i].info.run;
            last = r[i].point;
        }
    for (size_t i = 1; i < n; i++)
        for (size_t k = 0; k < i && !j->seen.multi2; k++)
            j->seen.multi2 = r[i].info.micro >= 0 && r[k].info.micro >= 0 && r[i].info.run == r[k].info.run;
    for (size_t i = 0; i < n; i++)
        if (r[i].info.run < run && r[i].point > last)
            for (size_t c = 0; c < sr_sheet_columns(j->sheet); c++)
                if (!sr_absent(sr_sheet_get(j->sheet, r[i].row, (int32_t)c))) {
                    sr_sheet_clear(j->sheet, r[i].row, (int32_t)c);
                    ++*dropped;
                }
}

static sr_status drop_stale_rows(csv_job *j, sr_err *err) {
    if (!j->points.micro || j->want_stats || j->rank_assumed || j->rows.n == 0) return SR_OK;
    rank_row *r = sr_reallocarray(NULL, j->rows.n, sizeof *r);
    if (r == NULL) return sr_fail_mem(err);
    for (size_t i = 0; i < j->rows.n; i++) {
        sr_point p = sr_sheet_point(j->sheet, i);
        r[i] = (rank_row){p.step, p.micro_step, j->rows.items[i], i};
    }
    qsort(r, j->rows.n, sizeof *r, by_step);
    size_t dropped = 0;
    for (size_t i = 0, n; i < j->rows.n; i += n) {
        for (n = 1; i + n < j->rows.n && r[i + n].step == r[i].step;) n++;
        finish_step(j, r + i, n, &dropped);
    }
    free(r);
    sr_warn(&j->warnings, "csv_rows_superseded", dropped, NULL,
            "steps were recorded twice (a resumed run); the later run's rows replaced the earlier ones");
    j->n_superseded += dropped;
    return SR_OK;
}

sr_status csv_job_finish(csv_job *j, sr_err *err) {
    sr_status rc = drop_stale_rows(j, err);
    if (rc == SR_OK && j->warnings.failed) rc = sr_fail_mem(err);
    free_scratch(j);
    return rc;
}
