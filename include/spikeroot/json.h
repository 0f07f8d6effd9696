/* JSON in and out, on cJSON.  Contract: docs/output.md.
 *
 * Writing: a tree of cJSON items is built with the helpers below and printed by sr_json_print.
 * Numbers are written exactly; a value that is not finite becomes the string "NaN", "Infinity" or
 * "-Infinity"; an absent value (SR_ABSENT, see value.h) becomes null.
 *
 * Every sr_json_* builder returns the new item (owned by its parent) or NULL when memory is out; a NULL parent gives
 * NULL.  No result needs checking: sr_json_print refuses a tree of which any part could not be made since the last
 * sr_json_root in this thread.
 */
#ifndef SPIKEROOT_JSON_H
#define SPIKEROOT_JSON_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spikeroot/err.h"
#include "spikeroot/str.h"

/* ---- writing ---- */

/* Members of an object, or (key NULL) elements of an array. */
cJSON *sr_json_object(cJSON *parent, const char *key);
cJSON *sr_json_array(cJSON *parent, const char *key);
cJSON *sr_json_str(cJSON *parent, const char *key, const char *s); /* s NULL: null */
cJSON *sr_json_int(cJSON *parent, const char *key, int64_t v);
cJSON *sr_json_int_if(cJSON *parent, const char *key, bool known, int64_t v); /* not known: null */
cJSON *sr_json_num(cJSON *parent, const char *key, double v);                 /* absent: null; NaN, Inf: string */
cJSON *sr_json_bool(cJSON *parent, const char *key, bool v);
cJSON *sr_json_null(cJSON *parent, const char *key);

/* A document's root: {"phase": phase, "schema_version": 1, "tool": {name, version}}. Free with cJSON_Delete. */
cJSON *sr_json_root(int phase);

/* Print a tree with two-space indent, keys in the order they were added, one LF at the end.
 * Bytes that are not valid UTF-8 are written as U+FFFD.  Iterative in width, recursive in depth only. */
sr_status sr_json_print(const cJSON *root, sr_str *out, sr_err *err);

/* ---- reading ---- */

#define SR_JSON_MAX_BYTES ((size_t)1 << 30) /* of a file */
#define SR_JSON_MAX_DEPTH 1000              /* brackets inside one another; cJSON's own limit is not below it */

/* Read a whole file ("-": standard input; or a pipe that has a writer) as one JSON document of at most `limit` bytes
 * (0: SR_JSON_MAX_BYTES).  Bare NaN, Infinity and -Infinity (as Python writes them) are accepted and become strings of
 * that name; a number beyond double becomes an infinity, as in Python.  Errors, naming the byte offset or the key:
 * trailing garbage, a second document, NUL, half a surrogate pair, more than SR_JSON_MAX_DEPTH, a key that stands twice
 * in one object, a file that is empty or cut off.  Bytes that are no UTF-8 are kept.
 * The caller frees *out with cJSON_Delete. */
sr_status sr_json_read_file(const char *path, size_t limit, cJSON **out, sr_err *err);

/* The same for text in memory; `name` is used in messages. */
sr_status sr_json_parse(const char *text, size_t len, const char *name, cJSON **out, sr_err *err);

/* cJSON's parser on the beginning of text: *end is where the value ends, or where it is wrong.  NULL: it is wrong, or
 * (*no_memory) memory is out or the limit of limit.h reached.  cJSON allocates through limit.h from the first call on.
 */
cJSON *sr_json_parse_value(const char *text, size_t len, const char **end, bool *no_memory);

/* The first key found that stands twice in one object of the tree, or NULL. Owned by the tree. *no_memory is set when
 * it could not be told, else left alone. */
const char *sr_json_repeated_key(const cJSON *item, bool *no_memory);

/* A number as sr_json_num wrote it: number, "NaN", "Infinity", "-Infinity"; null or missing gives SR_ABSENT.
 * False for any other type. */
bool sr_json_get_num(const cJSON *item, double *out);

/* An integer below 2^53 in size (a number without a fraction). False for anything else, *out untouched. */
bool sr_json_get_int(const cJSON *item, int64_t *out);

/* Is this document one of ours: an object with this `phase` and a schema_version we read?  Unknown keys are fine.
 * Errors: SR_EINPUT, naming `name`, what the document is and what to give instead. */
sr_status sr_json_check_phase(const cJSON *root, const char *name, int phase, sr_err *err);

/* The string, or NULL if item is NULL or no string. Owned by the tree. */
const char *sr_json_get_str(const cJSON *item);

#endif
