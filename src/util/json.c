#include "spikeroot/json.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spikeroot/infile.h"
#include "spikeroot/limit.h"
#include "spikeroot/num.h"
#include "spikeroot/value.h"
#include "spikeroot/version.h"

/* ---- building ---- */

/* Set when any builder call failed since sr_json_root: sr_json_print then refuses the tree, so that no caller can
 * write a document with a key missing. */
static _Thread_local bool incomplete;

static cJSON *attach(cJSON *parent, const char *key, cJSON *item) {
    bool ok = item != NULL && parent != NULL &&
              (key != NULL ? cJSON_AddItemToObject(parent, key, item) != 0 : cJSON_AddItemToArray(parent, item) != 0);
    if (ok) return item;
    cJSON_Delete(item);
    incomplete = true;
    return NULL;
}

cJSON *sr_json_object(cJSON *parent, const char *key) { return attach(parent, key, cJSON_CreateObject()); }

cJSON *sr_json_array(cJSON *parent, const char *key) { return attach(parent, key, cJSON_CreateArray()); }

cJSON *sr_json_null(cJSON *parent, const char *key) { return attach(parent, key, cJSON_CreateNull()); }

cJSON *sr_json_bool(cJSON *parent, const char *key, bool v) { return attach(parent, key, cJSON_CreateBool(v)); }

cJSON *sr_json_str(cJSON *parent, const char *key, const char *s) {
    if (s == NULL) return sr_json_null(parent, key);
    return attach(parent, key, cJSON_CreateString(s));
}

cJSON *sr_json_int(cJSON *parent, const char *key, int64_t v) {
    char text[SR_NUM_TEXT];
    (void)snprintf(text, sizeof text, "%lld", (long long)v);
    return attach(parent, key, cJSON_CreateRaw(text));
}

cJSON *sr_json_int_if(cJSON *parent, const char *key, bool known, int64_t v) {
    return known ? sr_json_int(parent, key, v) : sr_json_null(parent, key);
}

cJSON *sr_json_num(cJSON *parent, const char *key, double v) {
    if (sr_absent(v)) return sr_json_null(parent, key);
    if (isnan(v)) return sr_json_str(parent, key, "NaN");
    if (isinf(v)) return sr_json_str(parent, key, v > 0 ? "Infinity" : "-Infinity");
    char text[SR_NUM_TEXT];
    return attach(parent, key, cJSON_CreateRaw(sr_format_double(v, text)));
}

cJSON *sr_json_root(int phase) {
    cJSON *root = cJSON_CreateObject();
    incomplete = false;
    sr_json_int(root, "phase", phase);
    sr_json_int(root, "schema_version", SR_SCHEMA_VERSION);
    cJSON *tool = sr_json_object(root, "tool");
    sr_json_str(tool, "name", "spikeroot");
    sr_json_str(tool, "version", SR_VERSION);
    return root;
}

/* ---- printing ---- */

static void print_string(const char *s, sr_str *out) {
    sr_str_addc(out, '"');
    for (const unsigned char *p = (const unsigned char *)s; *p != '\0';) {
        size_t n = sr_utf8_length((const char *)p);
        if (n == 0) {
            sr_str_add(out, "\xef\xbf\xbd");
            p++;
        } else if (n > 1) {
            sr_str_addn(out, (const char *)p, n);
            p += n;
        } else {
            if (*p == '"' || *p == '\\') {
                sr_str_addc(out, '\\');
                sr_str_addc(out, (char)*p);
            } else if (*p == '\n') {
                sr_str_add(out, "\\n");
            } else if (*p == '\t') {
                sr_str_add(out, "\\t");
            } else if (*p < 0x20 || *p == 0x7f) {
                sr_str_addf(out, "\\u%04x", *p);
            } else {
                sr_str_addc(out, (char)*p);
            }
            p++;
        }
    }
    sr_str_addc(out, '"');
}

static void newline(sr_str *out, int depth) {
    sr_str_addc(out, '\n');
    for (int i = 0; i < depth; i++) sr_str_add(out, "  ");
}

static void print_item(const cJSON *item, sr_str *out, int depth) {
    char text[SR_NUM_TEXT];
    if (cJSON_IsObject(item) || cJSON_IsArray(item)) {
        bool object = cJSON_IsObject(item) != 0;
        sr_str_addc(out, object ? '{' : '[');
        for (const cJSON *c = item->child; c != NULL; c = c->next) {
            newline(out, depth + 1);
            if (object) {
                print_string(c->string, out);
                sr_str_add(out, ": ");
            }
            print_item(c, out, depth + 1);
            if (c->next != NULL) sr_str_addc(out, ',');
        }
        if (item->child != NULL) newline(out, depth);
        sr_str_addc(out, object ? '}' : ']');
    } else if (cJSON_IsString(item)) {
        print_string(item->valuestring, out);
    } else if (cJSON_IsRaw(item)) {
        sr_str_add(out, item->valuestring);
    } else if (cJSON_IsNumber(item)) {
        sr_str_add(out, sr_format_double(item->valuedouble, text));
    } else {
        sr_str_add(out, cJSON_IsTrue(item) ? "true" : cJSON_IsFalse(item) ? "false" : "null");
    }
}

sr_status sr_json_print(const cJSON *root, sr_str *out, sr_err *err) {
    if (root == NULL || incomplete) return sr_fail_mem(err);
    print_item(root, out, 0);
    sr_str_addc(out, '\n');
    return out->failed ? sr_fail_mem(err) : SR_OK;
}

/* ---- reading ---- */

_Static_assert(CJSON_NESTING_LIMIT >= SR_JSON_MAX_DEPTH, "the limit named in messages is not the one that holds");

static bool starts(const char *p, const char *end, const char *word) {
    size_t n = strlen(word);
    return (size_t)(end - p) >= n && memcmp(p, word, n) == 0;
}

/* The UTF-16 unit of the escape \uXXXX at p, -1 if there is none. */
static long escaped_unit(const char *p, const char *end) {
    long unit = 0;
    if (end - p < 6 || p[0] != '\\' || p[1] != 'u') return -1;
    for (int i = 2; i < 6; i++) {
        static const char digits[] = "0123456789abcdef";
        const char *d = p[i] != '\0' ? strchr(digits, p[i] >= 'A' && p[i] <= 'F' ? p[i] - 'A' + 'a' : p[i]) : NULL;
        if (d == NULL) return -1;
        unit = unit * 16 + (d - digits);
    }
    return unit;
}

/* What is wrong with the escape at p, else NULL; *n is its length. */
static const char *check_escape(const char *p, const char *end, size_t *n) {
    long unit = escaped_unit(p, end);
    *n = unit < 0 ? 2 : 6;
    if (unit == 0) return "a string holds a NUL character";
    if (unit < 0xd800 || unit > 0xdfff) return NULL;
    long second = escaped_unit(p + 6, end);
    *n = 12;
    return unit <= 0xdbff && second >= 0xdc00 && second <= 0xdfff
               ? NULL
               : "half of a surrogate pair (\\ud800 to \\udfff) stands alone, which is no character";
}

/* The word that Python writes at p and JSON does not have, or NULL. */
static const char *nonfinite(const char *p, const char *end) {
    return *p == 'N' && starts(p, end, "NaN")         ? "NaN"
           : *p == 'I' && starts(p, end, "Infinity")  ? "Infinity"
           : *p == '-' && starts(p, end, "-Infinity") ? "-Infinity"
                                                      : NULL;
}

/* Copy the text with bare NaN, Infinity and -Infinity quoted.  What cJSON would not name is found here: returns what is
 * wrong, and *at is where; NULL: nothing so far. */
static const char *clean_text(const char *text, size_t len, sr_str *out, size_t *at) {
    const char *end = text + len, *from = text, *p = text, *wrong = NULL;
    bool in_string = false, any = false;
    long depth = 0;
    for (size_t n = 1; p < end; p += n, n = 1) {
        const char *word = in_string ? NULL : nonfinite(p, end);
        if (*p == '\0')
            wrong = "NUL byte in JSON text; if it is UTF-16, convert it to UTF-8";
        else if (*p == '"')
            in_string = !in_string;
        else if (in_string && *p == '\\')
            wrong = check_escape(p, end, &n);
        else if (!in_string && (*p == '[' || *p == '{') && ++depth > SR_JSON_MAX_DEPTH)
            wrong =
                "nested deeper than the limit of " SR_TEXT(SR_JSON_MAX_DEPTH) " brackets; no result of spikeroot is";
        else if (!in_string && (*p == ']' || *p == '}'))
            depth--;
        if (wrong != NULL) break;
        any = any || strchr(" \t\r\n", *p) == NULL;
        if (n > (size_t)(end - p)) n = (size_t)(end - p);
        if (word == NULL) continue;
        sr_str_addn(out, from, (size_t)(p - from));
        sr_str_addf(out, "\"%s\"", word);
        n = strlen(word);
        from = p + n;
    }
    if (wrong == NULL && !any) wrong = "the file is empty";
    if (wrong == NULL && (in_string || depth > 0)) wrong = "cut off here";
    if (from < end) sr_str_addn(out, from, (size_t)(end - from));
    *at = (size_t)(p - text);
    return wrong;
}

static _Thread_local bool refused;

static void *allocate(size_t size) {
    void *p = sr_limit_malloc(size);
    refused = refused || p == NULL;
    return p;
}

static void set_hooks(void) {
    cJSON_Hooks hooks = {allocate, free};
    cJSON_InitHooks(&hooks);
}

cJSON *sr_json_parse_value(const char *text, size_t len, const char **end, bool *no_memory) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, set_hooks);
    refused = false;
    cJSON *root = cJSON_ParseWithLengthOpts(text, len, end, 0);
    *no_memory = root == NULL && refused;
    return root;
}

static int cmp_key(const void *a, const void *b) {
    const char *const *x = a, *const *y = b;
    return strcmp(*x, *y);
}

/* A key that the members of the object `first`, ... have twice, or NULL. *no_memory: it could not be told. */
static const char *repeated_member(const cJSON *first, bool *no_memory) {
    enum { FEW = 32 };
    const char *few[FEW], **key = few, *twice = NULL;
    size_t n = 0, i = 0;
    for (const cJSON *c = first; c != NULL; c = c->next) n++;
    if (n > FEW && (key = malloc(n * sizeof *key)) == NULL) {
        *no_memory = true;
        return NULL;
    }
    for (const cJSON *c = first; c != NULL; c = c->next) key[i++] = c->string;
    qsort(key, n, sizeof *key, cmp_key);
    for (i = 1; i < n && twice == NULL; i++)
        if (strcmp(key[i - 1], key[i]) == 0) twice = key[i];
    if (key != few) free(key);
    return twice;
}

const char *sr_json_repeated_key(const cJSON *item, bool *no_memory) {
    const char *twice = cJSON_IsObject(item) ? repeated_member(item->child, no_memory) : NULL;
    for (const cJSON *c = item->child; c != NULL && twice == NULL && !*no_memory; c = c->next)
        if (c->child != NULL) twice = sr_json_repeated_key(c, no_memory);
    return twice;
}

/* What follows a value, and what stands in it twice. */
static sr_status check_tree(const cJSON *root, const char *name, const sr_str *clean, size_t at, sr_err *err) {
    bool no_memory = false;
    while (at < clean->len && strchr(" \t\r\n", clean->s[at]) != NULL) at++;
    if (at < clean->len)
        return sr_fail(err, SR_EINPUT, "%s: something follows the JSON document near byte %zu", name, at);
    const char *twice = sr_json_repeated_key(root, &no_memory);
    if (no_memory) return sr_fail_mem(err);
    if (twice == NULL) return SR_OK;
    return sr_fail(err, SR_EINPUT,
                   "%s: the key \"%.60s\" stands twice in one object, so it is not certain which counts; "
                   "make the file again",
                   name, twice);
}

sr_status sr_json_parse(const char *text, size_t len, const char *name, cJSON **out, sr_err *err) {
    sr_str clean = {0};
    *out = NULL;
    size_t at = 0, skip = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    const char *wrong = clean_text(text + skip, len - skip, &clean, &at);
    sr_status st = wrong != NULL ? sr_fail(err, SR_EINPUT, "%s: byte %zu: %s", name, at + skip, wrong) : SR_OK;
    if (st == SR_OK && clean.failed) st = sr_fail_mem(err);
    if (st != SR_OK) goto out;
    const char *end = NULL;
    bool no_memory;
    cJSON *root = sr_json_parse_value(sr_str_text(&clean), clean.len, &end, &no_memory);
    at = end != NULL ? (size_t)(end - sr_str_text(&clean)) : 0;
    if (no_memory)
        st = sr_fail_mem(err);
    else if (root == NULL)
        st = sr_fail(err, SR_EINPUT, "%s: not valid JSON near byte %zu", name, at);
    else
        st = check_tree(root, name, &clean, at, err);
    if (st == SR_OK)
        *out = root;
    else
        cJSON_Delete(root);
out:
    sr_str_fini(&clean);
    return st;
}

sr_status sr_json_read_file(const char *path, size_t limit, cJSON **out, sr_err *err) {
    sr_str text = {0};
    *out = NULL;
    sr_status st = sr_infile_read(path, limit > 0 ? limit : SR_JSON_MAX_BYTES, &text, err);
    if (st == SR_OK)
        st = sr_json_parse(sr_str_text(&text), text.len, strcmp(path, "-") == 0 ? "standard input" : path, out, err);
    sr_str_fini(&text);
    return st;
}

bool sr_json_get_num(const cJSON *item, double *out) {
    if (item == NULL || cJSON_IsNull(item)) {
        *out = sr_absent_value();
        return true;
    }
    if (cJSON_IsNumber(item)) {
        *out = item->valuedouble;
        return true;
    }
    if (!cJSON_IsString(item)) return false;
    const char *s = item->valuestring;
    if (strcmp(s, "NaN") != 0 && strcmp(s, "Infinity") != 0 && strcmp(s, "-Infinity") != 0) return false;
    return sr_parse_double(s, strlen(s), out);
}

bool sr_json_get_int(const cJSON *item, int64_t *out) {
    if (item == NULL || !cJSON_IsNumber(item)) return false;
    double v = item->valuedouble;
    if (!(v > -9007199254740992.0 && v < 9007199254740992.0)) return false; /* beyond, neighbours read the same */
    int64_t i = (int64_t)v;
    if ((double)i < v || (double)i > v) return false;
    *out = i;
    return true;
}

const char *sr_json_get_str(const cJSON *item) { return cJSON_IsString(item) ? item->valuestring : NULL; }

sr_status sr_json_check_phase(const cJSON *root, const char *name, int phase, sr_err *err) {
    int64_t found, version;
    if (!cJSON_IsObject(root) || !sr_json_get_int(cJSON_GetObjectItemCaseSensitive(root, "phase"), &found))
        return sr_fail(err, SR_EINPUT, "%s: phase: missing; give the JSON file that 'spikeroot phase%d' wrote", name,
                       phase);
    if (found != phase)
        return sr_fail(err, SR_EINPUT, "%s: phase: is %lld; give the JSON file that 'spikeroot phase%d' wrote", name,
                       (long long)found, phase);
    if (!sr_json_get_int(cJSON_GetObjectItemCaseSensitive(root, "schema_version"), &version))
        return sr_fail(err, SR_EINPUT, "%s: schema_version: missing or no whole number", name);
    if (version != SR_SCHEMA_VERSION)
        return sr_fail(err, SR_EINPUT,
                       "%s: schema_version: is %lld, this program reads %d; make the file again with this "
                       "version",
                       name, (long long)version, SR_SCHEMA_VERSION);
    return SR_OK;
}
