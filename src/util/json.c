#include "spikeroot/json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spikeroot/num.h"
#include "spikeroot/value.h"
#include "spikeroot/version.h"

/* ---- building ---- */

/* Set when any builder call failed since sr_json_root: sr_json_print then refuses the tree, so that no caller can
 * write a document with a key missing. */
static _Thread_local bool incomplete;

static cJSON *attach(cJSON *parent, const char *key, cJSON *item) {
    bool ok = item != NULL && parent != NULL && (key != NULL ? cJSON_AddItemToObject(parent, key, item) != 0
                                             : cJSON_AddItemToArray(parent, item) != 0);
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

/* Length of the valid UTF-8 sequence at s (RFC 3629: no overlong forms, no surrogates), 0 if there is none. */
static size_t utf8_length(const unsigned char *s) {
    if (s[0] < 0x80) return 1;
    size_t n = s[0] >= 0xc2 && s[0] <= 0xdf ? 2 : (s[0] & 0xf0) == 0xe0 ? 3 : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4 : 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
        (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return n;
}

static void print_string(const char *s, sr_str *out) {
    sr_str_addc(out, '"');
    for (const unsigned char *p = (const unsigned char *)s; *p != '\0';) {
        size_t n = utf8_length(p);
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

static bool starts(const char *p, const char *end, const char *word) {
    size_t n = strlen(word);
    return (size_t)(end - p) >= n && memcmp(p, word, n) == 0;
}

/* Copy the text with bare NaN, Infinity and -Infinity quoted (Python writes them; JSON has no such words). */
static sr_status quote_nonfinite(const char *text, size_t len, const char *name, sr_str *out, sr_err *err) {
    const char *end = text + len, *from = text;
    bool in_string = false;
    for (const char *p = text; p < end;) {
        if (*p == '\0') return sr_fail(err, SR_EINPUT, "%s: byte %zu: NUL byte in JSON text", name, (size_t)(p - text));
        if (in_string) {
            if (*p == '\\') {
                if (starts(p, end, "\\u0000"))
                    return sr_fail(err, SR_EINPUT, "%s: byte %zu: a string holds a NUL character", name,
                                   (size_t)(p - text));
                p++;
            } else if (*p == '"') {
                in_string = false;
            }
            p++;
            continue;
        }
        if (*p == '"') {
            in_string = true;
            p++;
            continue;
        }
        const char *word = *p == 'N' && starts(p, end, "NaN") ? "NaN"
                           : *p == 'I' && starts(p, end, "Infinity") ? "Infinity"
                           : *p == '-' && starts(p, end, "-Infinity") ? "-Infinity"
                                                                        : NULL;
        if (word == NULL) {
            p++;
            continue;
        }
        sr_str_addn(out, from, (size_t)(p - from));
        sr_str_addf(out, "\"%s\"", word);
        p += strlen(word);
        from = p;
    }
    if (from < end) sr_str_addn(out, from, (size_t)(end - from));
    return out->failed ? sr_fail_mem(err) : SR_OK;
}

sr_status sr_json_parse(const char *text, size_t len, const char *name, cJSON **out, sr_err *err) {
    sr_str clean = {0};
    *out = NULL;
    if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        text += 3;
        len -= 3;
    }
    sr_status st = quote_nonfinite(text, len, name, &clean, err);
    if (st != SR_OK) goto out;
    const char *end = NULL;
    cJSON *root = cJSON_ParseWithLengthOpts(sr_str_text(&clean), clean.len, &end, 0);
    size_t at = end != NULL ? (size_t)(end - sr_str_text(&clean)) : 0;
    if (root == NULL) {
        st = sr_fail(err, SR_EINPUT, "%s: not valid JSON near byte %zu%s", name, at,
                     at >= clean.len ? ": the file is empty or cut off" : "");
        goto out;
    }
    while (at < clean.len && strchr(" \t\r\n", clean.s[at]) != NULL) at++;
    if (at < clean.len) {
        cJSON_Delete(root);
        st = sr_fail(err, SR_EINPUT, "%s: something follows the JSON document near byte %zu", name, at);
        goto out;
    }
    *out = root;
out:
    sr_str_fini(&clean);
    return st;
}

static sr_status slurp(FILE *f, const char *name, size_t limit, sr_str *text, sr_err *err) {
    char chunk[65536];
    size_t n;
    while ((n = fread(chunk, 1, sizeof chunk, f)) > 0) {
        if (text->len + n > limit)
            return sr_fail(err, SR_EINPUT, "%s: larger than the limit of %zu bytes for a JSON file", name, limit);
        sr_str_addn(text, chunk, n);
        if (text->failed) return sr_fail_mem(err);
    }
    if (ferror(f)) return sr_fail_os(err, errno, "%s: cannot read", name);
    return SR_OK;
}

sr_status sr_json_read_file(const char *path, size_t limit, cJSON **out, sr_err *err) {
    enum { MIB = 1024 * 1024 };
    bool stdin_ = strcmp(path, "-") == 0;
    const char *name = stdin_ ? "standard input" : path;
    *out = NULL;
    FILE *f = stdin_ ? stdin : fopen(path, "rb");
    if (f == NULL) return sr_fail_os(err, errno, "%s: cannot open", name);
    sr_str text = {0};
    sr_status st = slurp(f, name, limit > 0 ? limit : (size_t)1024 * MIB, &text, err);
    if (!stdin_) (void)fclose(f);
    if (st == SR_OK) st = sr_json_parse(sr_str_text(&text), text.len, name, out, err);
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
        return sr_fail(err, SR_EINPUT, "%s: phase: missing; give the JSON file that 'spikeroot phase%d' wrote", name, phase);
    if (found != phase)
        return sr_fail(err, SR_EINPUT, "%s: phase: is %lld; give the JSON file that 'spikeroot phase%d' wrote", name,
                       (long long)found, phase);
    if (!sr_json_get_int(cJSON_GetObjectItemCaseSensitive(root, "schema_version"), &version))
        return sr_fail(err, SR_EINPUT, "%s: schema_version: missing or no whole number", name);
    if (version != SR_SCHEMA_VERSION)
        return sr_fail(err, SR_EINPUT, "%s: schema_version: is %lld, this program reads %d; make the file again with this "
                       "version", name, (long long)version, SR_SCHEMA_VERSION);
    return SR_OK;
}
