/* Reading the documents: fields by table, the first error wins. */
#ifndef SR_REPORT_READ_JSON_H
#define SR_REPORT_READ_JSON_H

#include "report_internal.h"

typedef struct {
    sr_arena *arena;
    const char *name; /* of the file */
    sr_err *err;
    sr_status status; /* after the first error nothing is read any more */
} sr_rep_reading;

typedef enum {
    SR_F_INT,         /* int64_t: needed */
    SR_F_INT_OR_NONE, /* int64_t: SR_NONE for null or missing */
    SR_F_NUM,         /* double: absent for null or missing */
    SR_F_STR,         /* const char *: needed */
    SR_F_STR_OR_NULL, /* const char *: NULL for null or missing */
    SR_F_BOOL         /* bool: false for missing */
} sr_rep_kind;

typedef struct {
    const char *key;
    sr_rep_kind kind;
    size_t offset;
} sr_rep_field;

/* Read the members of `o` into the struct at `base`. `where` is the object's path for messages, e.g. "summary.steps"; a
 * negative `index` is left out of it. */
void sr_rep_read(sr_rep_reading *in, const cJSON *o, const char *where, long index, const sr_rep_field *f, size_t n,
                 void *base);
#define SR_REP_READ(in, o, where, index, fields, base)                                                                 \
    sr_rep_read((in), (o), (where), (index), (fields), sizeof(fields) / sizeof *(fields), (base))

/* A member; an object or array that must be there, else NULL and an error. */
const cJSON *sr_rep_get(const cJSON *o, const char *key);
const cJSON *sr_rep_object(sr_rep_reading *in, const cJSON *o, const char *key);
/* The array, and room for its elements of `size` bytes in *items; NULL after an error. */
const cJSON *sr_rep_array(sr_rep_reading *in, const cJSON *o, const char *key, size_t size, void **items, size_t *n);

void sr_rep_bad(sr_rep_reading *in, const char *where, long index, const char *key, const char *want);
sr_rep_texts sr_rep_read_texts(sr_rep_reading *in, const cJSON *o, const char *key);
/* The member `selection`; one that is null or missing (older files) takes all. */
void sr_rep_read_part(sr_rep_reading *in, const cJSON *root, sr_left_out *l);
sr_rep_warnings sr_rep_read_warnings(sr_rep_reading *in, const cJSON *o);

sr_rep_p1 *sr_rep_read_p1(sr_rep_reading *in, const cJSON *root);
sr_rep_p2 *sr_rep_read_p2(sr_rep_reading *in, const cJSON *root);
sr_rep_p3 *sr_rep_read_p3(sr_rep_reading *in, const cJSON *root);

#endif
