/* One directory's dump.json and construct.json -> sr_dump.
 *
 * The page that lists what is understood: docs/formats.md, "dump_statistic".
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dump_stat_internal.h"
#include "spikeroot/json.h"
#include "spikeroot/mem.h"

typedef struct {
    sr_dump *d;
    const sr_dump_load_opts *opts;
    const char *file;
    sr_scan scan;
    sr_str key; /* of the current entry, escapes read */
    bool has_data;
    size_t n_nan_check, n_bare, n_unflushed; /* why there are no statistics */
    size_t n_tensors, n_norms;               /* all, and those with a norm */
    size_t n_nan_taken;                      /* whose norm is NaN because is_nan says so */
    bool no_memory;                          /* a text could not be read for want of memory: not the file's fault */
    sr_err *err;
} loader;

/* Count a warning at the current key; strict: an error. */
static sr_status complain(loader *l, const char *code, const char *what) {
    if (l->no_memory) return sr_fail_mem(l->err);
    if (l->opts->strict) return sr_fail(l->err, SR_EINPUT, "%s: %s: %s", l->file, sr_str_text(&l->key), what);
    sr_str where = {0};
    sr_str_addf(&where, "%s: %s", l->file, sr_str_text(&l->key));
    sr_status st = where.failed ? sr_fail_mem(l->err) : SR_OK;
    if (st == SR_OK) sr_warn(&l->d->warnings, code, 1, sr_str_text(&where), "%s", what);
    sr_str_fini(&where);
    return st;
}

/* The file ends, or goes wrong, in the middle. What came before is kept. */
static sr_status damaged(loader *l, sr_scan_event why) {
    sr_scan *s = &l->scan;
    if (why == SR_SCAN_FAILED) return l->err != NULL ? l->err->code : SR_EIO;
    if (s->level == 0 && !l->has_data) {
        if (sr_scan_size(s) == 0)
            return sr_fail(l->err, SR_EINPUT,
                           "%s: the file is empty: the job was killed before msProbe wrote it; dump the "
                           "step again",
                           s->path);
        return sr_fail(l->err, SR_EINPUT, "%s: byte %llu: not a JSON object, as msProbe writes it", s->path,
                       (unsigned long long)s->bad_at);
    }
    sr_str text = {0};
    if (why == SR_SCAN_CUT)
        sr_str_addf(&text,
                    "cut off at byte %llu, in the entry that begins at byte %llu: the job was killed while it was "
                    "written; what comes before is used",
                    (unsigned long long)sr_scan_size(s), (unsigned long long)sr_scan_at(s));
    else
        sr_str_addf(&text, "not valid JSON at byte %llu; what comes before is used", (unsigned long long)s->bad_at);
    sr_status st = SR_OK;
    if (text.failed)
        st = sr_fail_mem(l->err);
    else if (l->opts->strict)
        st = sr_fail(l->err, SR_EINPUT, "%s: %s (not with --strict)", s->path, sr_str_text(&text));
    else
        sr_warn(&l->d->warnings, why == SR_SCAN_CUT ? "dump_truncated" : "dump_damaged", 1, s->path, "%s",
                sr_str_text(&text));
    l->d->truncated = true;
    sr_str_fini(&text);
    return st;
}

/* ---- JSON text ---- */

static bool has(const char *text, size_t len, const char *word) {
    size_t n = strlen(word);
    for (const char *p = text, *end = text + len; (p = memchr(p, word[0], (size_t)(end - p))) != NULL; p++)
        if ((size_t)(end - p) >= n && memcmp(p, word, n) == 0) return true;
    return false;
}

/* The value as a tree, NULL if it is not valid JSON (or l->no_memory). The detour over sr_json_parse is for what plain
 * JSON does not have. */
static cJSON *parse(loader *l, const char *text, size_t len) {
    cJSON *root = NULL;
    const char *end = NULL;
    if (memchr(text, '\0', len) != NULL || has(text, len, "NaN") || has(text, len, "Infinity") ||
        has(text, len, "\\u0000")) {
        l->no_memory = sr_json_parse(text, len, "", &root, NULL) == SR_ENOMEM;
        return root;
    }
    root = sr_json_parse_value(text, len, &end, &l->no_memory);
    if (root != NULL && end == text + len) return root;
    cJSON_Delete(root);
    return NULL;
}

/* Put a string as it stands in the file, without its quotes, into `out`. False if it is no string we can have. */
static bool read_string(loader *l, const char *s, size_t len, sr_str *out) {
    out->len = 0;
    if (memchr(s, '\\', len) == NULL) {
        sr_str_addn(out, s, len);
        l->no_memory = out->failed;
        return memchr(s, '\0', len) == NULL && !out->failed;
    }
    cJSON *item = parse(l, s - 1, len + 2); /* with its quotes */
    bool ok = cJSON_IsString(item) != 0;
    if (ok) sr_str_add(out, item->valuestring);
    cJSON_Delete(item);
    l->no_memory = l->no_memory || out->failed;
    return ok && !out->failed;
}

/* ---- tensors ---- */

typedef struct {
    const cJSON *type, *dtype, *shape, *md5, *index, *value, *is_nan, *stat[SR_N_STATS];
} fields;

static fields get_fields(const cJSON *object) {
    static const char *const stat[SR_N_STATS] = {"Max", "Min", "Mean", "Norm"};
    fields f = {0};
    for (const cJSON *c = object->child; c != NULL; c = c->next) {
        for (int k = 0; k < SR_N_STATS; k++)
            if (strcmp(c->string, stat[k]) == 0) f.stat[k] = c;
        if (strcmp(c->string, "type") == 0) f.type = c;
        if (strcmp(c->string, "dtype") == 0) f.dtype = c;
        if (strcmp(c->string, "shape") == 0) f.shape = c;
        if (strcmp(c->string, "md5") == 0) f.md5 = c;
        if (strcmp(c->string, "value") == 0) f.value = c;
        if (strcmp(c->string, "tensor_stat_index") == 0) f.index = c;
        if (strcmp(c->string, "is_nan") == 0) f.is_nan = c;
    }
    return f;
}

/* A statistic: a number, a bool of a bool tensor, null. False for anything else. */
static bool get_stat(const cJSON *item, double *out) {
    *out = sr_absent_value();
    if (item == NULL || cJSON_IsNull(item)) return true;
    if (cJSON_IsBool(item)) {
        *out = cJSON_IsTrue(item) ? 1.0 : 0.0;
        return true;
    }
    return sr_json_get_num(item, out);
}

/* Task nan_check: count an is_nan, and say whether it found something. */
static bool take_is_nan(loader *l, const cJSON *item) {
    l->n_nan_check++;
    if (!cJSON_IsTrue(item) && !(cJSON_IsNumber(item) && item->valuedouble > 0)) return false;
    sr_warn(&l->d->warnings, "dump_nan_found", 1, sr_str_text(&l->key),
            "task nan_check found NaN or Inf in these entries; the first one is named");
    return true;
}

/* "[512, 2, 64]" and the number of elements. */
static int64_t add_shape(const cJSON *shape, sr_str *text) {
    if (!cJSON_IsArray(shape)) return -1;
    int64_t count = 1, n;
    sr_str_addc(text, '[');
    for (const cJSON *c = shape->child; c != NULL; c = c->next) {
        if (!sr_json_get_int(c, &n) || n < 0) n = -1;
        sr_str_addf(text, "%s%lld", c == shape->child ? "" : ", ", (long long)n);
        count = count < 0 || n < 0 || (n > 0 && count > INT64_MAX / n) ? -1 : count * n;
    }
    sr_str_addc(text, ']');
    return count;
}

static bool is_integral(const char *dtype) {
    const char *dot = strrchr(dtype, '.');
    const char *t = dot != NULL ? dot + 1 : dtype;
    if (*t == 'u' || *t == 'U') t++;
    return strncmp(t, "int", 3) == 0 || strncmp(t, "Int", 3) == 0 || strncmp(t, "bool", 4) == 0 ||
           strncmp(t, "Bool", 4) == 0 || strcmp(t, "long") == 0;
}

static sr_status add_tensor(loader *l, const fields *f, sr_io io, const char *place) {
    sr_dump *d = l->d;
    double stat[SR_N_STATS];
    bool bad = false, any = false;
    for (int k = 0; k < SR_N_STATS; k++) {
        bad = !get_stat(f->stat[k], &stat[k]) || bad;
        any = any || f->stat[k] != NULL;
    }
    if (stat[SR_STAT_NORM] < 0.0 && isfinite(stat[SR_STAT_NORM])) {
        stat[SR_STAT_NORM] = sr_absent_value();
        bad = true;
    }
    sr_status st = SR_OK;
    if (bad)
        st = complain(l, "dump_bad_statistic",
                      "a statistic that is no number, or a negative Norm; taken as not recorded");
    if (f->is_nan != NULL && take_is_nan(l, f->is_nan) && io == SR_IO_GRAD && sr_absent(stat[SR_STAT_NORM])) {
        stat[SR_STAT_NORM] = (double)NAN; /* the one thing that is known of the gradient */
        l->n_nan_taken++;
    }
    l->n_tensors++;
    l->n_norms += !sr_absent(stat[SR_STAT_NORM]);
    l->n_unflushed += f->index != NULL;
    l->n_bare += !any && f->index == NULL && f->is_nan == NULL;
    const char *type = sr_json_get_str(f->type), *dtype = sr_json_get_str(f->dtype);
    if (*d->framework == '\0' && type != NULL)
        d->framework = strncmp(type, "torch.", 6) == 0        ? "pytorch"
                       : strncmp(type, "mindspore.", 10) == 0 ? "mindspore"
                                                              : "";
    sr_str shape = {0};
    sr_tensor_info info = {.io = io, .place = place, .dtype = dtype != NULL ? dtype : ""};
    info.count = add_shape(f->shape, &shape);
    info.shape = sr_str_text(&shape);
    info.integral = is_integral(info.dtype);
    if (st == SR_OK && (shape.failed || !sr_dump_add_tensor(d, &info, stat, sr_json_get_str(f->md5))))
        st = sr_fail_mem(l->err);
    sr_str_fini(&shape);
    return st;
}

static void cut_back(sr_str *b, size_t len) {
    if (b->s == NULL) return;
    b->len = len;
    b->s[len] = '\0';
}

/* All tensors below `item`: lists and dicts nest, null elements and scalars stand between them. */
static sr_status walk(loader *l, const cJSON *item, sr_io io, sr_str *place) {
    bool object = cJSON_IsObject(item) != 0;
    if (!object && !cJSON_IsArray(item)) return SR_OK;
    if (object) {
        fields f = get_fields(item);
        if (cJSON_IsString(f.dtype) || f.is_nan != NULL)
            return place->failed ? sr_fail_mem(l->err) : add_tensor(l, &f, io, sr_str_text(place));
        if (cJSON_IsString(f.type) && f.value != NULL) return SR_OK;
    }
    sr_status st = SR_OK;
    size_t len = place->len, i = 0;
    for (const cJSON *c = item->child; c != NULL && st == SR_OK; c = c->next, i++) {
        if (len > 0) sr_str_addc(place, '.');
        if (object)
            sr_str_add(place, c->string);
        else
            sr_str_addf(place, "%zu", i);
        st = walk(l, c, io, place);
        cut_back(place, len);
    }
    return st;
}

/* parameters_grad: {name: [tensor]}; the list is msProbe's, so its first place goes by the name alone. */
static sr_status walk_grads(loader *l, const cJSON *entry) {
    sr_status st = SR_OK;
    sr_str place = {0};
    for (const cJSON *c = entry->child; c != NULL && st == SR_OK; c = c->next) {
        cut_back(&place, 0);
        if (strcmp(c->string, "is_nan") == 0 && !cJSON_IsArray(c)) { /* of the module's gradients as a whole */
            const fields f = {.is_nan = c};
            st = add_tensor(l, &f, SR_IO_GRAD, "");
            continue;
        }
        sr_str_add(&place, c->string);
        bool single = cJSON_IsArray(c) && c->child != NULL && c->child->next == NULL;
        st = walk(l, single ? c->child : c, SR_IO_GRAD, &place);
    }
    sr_str_fini(&place);
    return st;
}

static sr_status walk_entry(loader *l, const cJSON *entry) {
    static const struct {
        const char *name, *place;
        sr_io io;
    } part[] = {{"input_args", "input", SR_IO_INPUT},
                {"input_kwargs", "input", SR_IO_INPUT},
                {"input", "input", SR_IO_INPUT},
                {"output", "output", SR_IO_OUTPUT},
                {"parameters", "parameters", SR_IO_PARAMETER}};
    sr_status st = SR_OK;
    sr_str place = {0};
    for (const cJSON *c = entry->child; c != NULL && st == SR_OK; c = c->next) {
        for (size_t i = 0; i < sizeof part / sizeof *part && st == SR_OK; i++) {
            if (strcmp(c->string, part[i].name) != 0) continue;
            cut_back(&place, 0);
            sr_str_add(&place, part[i].place);
            st = walk(l, c, part[i].io, &place);
        }
        if (strcmp(c->string, "is_recompute") == 0 && cJSON_IsBool(c))
            sr_dump_say_recompute(l->d, cJSON_IsTrue(c) != 0);
        if (strcmp(c->string, "is_nan") == 0) (void)take_is_nan(l, c);
    }
    sr_str_fini(&place);
    return st;
}

/* ---- entries ---- */

static sr_status add_entry(loader *l) {
    sr_scan *s = &l->scan;
    sr_dump *d = l->d;
    const char *text = sr_scan_text(s);
    if (!read_string(l, sr_scan_key(s), s->key_len, &l->key)) {
        if (l->key.failed) return sr_fail_mem(l->err);
        l->key.len = 0;
        sr_str_addf(&l->key, "byte %llu", (unsigned long long)sr_scan_at(s));
        return complain(l, "dump_entry_skipped", "the key is no text; the entry is left out");
    }
    if (text[0] != '{') return complain(l, "dump_entry_skipped", "the entry is no object; it is left out");
    if (s->depth > SR_DUMP_MAX_DEPTH)
        return complain(
            l, "dump_entry_skipped",
            "the entry is nested deeper than the limit of " SR_TEXT(SR_DUMP_MAX_DEPTH) " brackets; it is left out");
    bool again;
    if (sr_dump_add_entry(d, sr_str_text(&l->key), l->key.len, &again) == SIZE_MAX) return sr_fail_mem(l->err);
    sr_status st =
        again ? complain(l, "dump_duplicate_key", "the key stands in the file twice; the later entry counts") : SR_OK;
    sr_dump_key_parts parts;
    sr_dump_key_parse(sr_str_text(&l->key), l->key.len, &parts);
    if (st != SR_OK || (l->opts->want & (1u << parts.direction)) == 0) return st;
    cJSON *entry = parse(l, text, s->value_len);
    if (entry == NULL || sr_json_repeated_key(entry, &l->no_memory) != NULL || l->no_memory) {
        cJSON_Delete(entry);
        return complain(l, "dump_entry_skipped",
                        "the entry is not valid JSON, or has a key twice; its tensors are left out");
    }
    st = parts.direction == SR_DIR_PARAM_GRAD ? walk_grads(l, entry) : walk_entry(l, entry);
    cJSON_Delete(entry);
    return st;
}

static sr_status read_header(loader *l) {
    static const char *const name[] = {"task", "level", "framework"};
    const char **to[] = {&l->d->task, &l->d->level, &l->d->framework};
    sr_scan *s = &l->scan;
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        if (s->key_len != strlen(name[i]) || memcmp(sr_scan_key(s), name[i], s->key_len) != 0) continue;
        const char *text = sr_scan_text(s);
        if (text[0] != '"' || !read_string(l, text + 1, s->value_len - 2, &l->key)) {
            if (l->no_memory) return sr_fail_mem(l->err);
            continue;
        }
        const char *copy = sr_dump_intern(l->d, sr_str_text(&l->key), l->key.len);
        if (copy == NULL) return sr_fail_mem(l->err);
        *to[i] = copy;
    }
    return SR_OK;
}

static sr_status read_data(loader *l) {
    sr_scan_event e;
    sr_status st = SR_OK;
    while (st == SR_OK && (e = sr_scan_next(&l->scan)) != SR_SCAN_END) {
        if (e == SR_SCAN_MEMBER) e = sr_scan_value(&l->scan);
        if (e != SR_SCAN_MEMBER) return damaged(l, e);
        st = add_entry(l);
    }
    return st;
}

static sr_status read_dump(loader *l) {
    sr_scan *s = &l->scan;
    sr_status st = sr_scan_open(s, l->file, l->err);
    while (st == SR_OK && !l->d->truncated) {
        sr_scan_event e = sr_scan_next(s);
        if (e == SR_SCAN_END) return SR_OK;
        bool data = e == SR_SCAN_MEMBER && s->key_len == 4 && memcmp(sr_scan_key(s), "data", 4) == 0;
        if (data && sr_scan_enter(s)) {
            l->has_data = true;
            st = read_data(l);
            continue;
        }
        if (e == SR_SCAN_MEMBER) e = sr_scan_value(s);
        if (e != SR_SCAN_MEMBER) return damaged(l, e);
        st = read_header(l);
    }
    return st;
}

/* ---- construct.json ---- */

/* null, "", "parent", ["parent", micro batch]; or the number of micro batches under a name of its own. */
static sr_status add_parent(loader *l) {
    sr_scan *s = &l->scan;
    sr_str parent = {0};
    int64_t micro = SR_NO_BATCH;
    const char *text = sr_scan_text(s);
    bool ok = true, read = read_string(l, sr_scan_key(s), s->key_len, &l->key) && s->depth < SR_DUMP_MAX_DEPTH;
    if (read && text[0] == '"') {
        read = read_string(l, text + 1, s->value_len - 2, &parent);
    } else if (read && text[0] != 'n') {
        cJSON *v = parse(l, text, s->value_len);
        const cJSON *up = cJSON_GetArrayItem(v, 0), *number = cJSON_GetArrayItem(v, 1);
        read = v != NULL;
        if (strcmp(sr_str_text(&l->key), "megatron_micro_step_number") == 0) {
            (void)sr_json_get_int(v, &l->d->micro_steps);
            cJSON_Delete(v);
            return l->no_memory ? sr_fail_mem(l->err) : SR_OK;
        }
        if (cJSON_IsString(up)) sr_str_add(&parent, up->valuestring);
        if (!sr_json_get_int(number, &micro) || micro < 0 || micro > INT32_MAX) micro = SR_NO_BATCH;
        read = read && cJSON_IsArray(v);
        cJSON_Delete(v);
    }
    if (read)
        ok = !parent.failed && sr_dump_set_parent(l->d, sr_str_text(&l->key), l->key.len, sr_str_text(&parent),
                                                  parent.len, (int32_t)micro);
    sr_status st = !ok || l->key.failed ? sr_fail_mem(l->err)
                   : read               ? SR_OK
                                        : complain(l, "construct_entry_skipped", "no parent; the entry is left out");
    sr_str_fini(&parent);
    return st;
}

static sr_status read_construct(loader *l) {
    char *file = sr_dump_path(l->d->dir, "construct.json");
    if (file == NULL) return sr_fail_mem(l->err);
    sr_scan *s = &l->scan;
    bool whole = !l->d->truncated;
    l->file = file;
    sr_status st = sr_scan_open(s, file, l->err);
    if (st == SR_EIO && l->err != NULL && l->err->os_errno == ENOENT) {
        st = SR_OK;
        sr_warn(&l->d->warnings, "construct_missing", 1, file,
                "no construct.json: the holding modules and the order of execution are taken from the keys alone");
        goto out;
    }
    l->has_data = true; /* damage here is a warning: dump.json has been read */
    while (st == SR_OK) {
        sr_scan_event e = sr_scan_next(s);
        if (e == SR_SCAN_END) break;
        if (e == SR_SCAN_MEMBER) e = sr_scan_value(s);
        if (e != SR_SCAN_MEMBER) {
            st = damaged(l, e);
            l->d->truncated = !whole;
            break;
        }
        st = add_parent(l);
    }
    if (st == SR_OK && !l->d->has_construct && strcmp(l->d->level, "L1") != 0)
        sr_warn(
            &l->d->warnings, "construct_missing", 1, file,
            "construct.json is empty: the holding modules and the order of execution are taken from the keys alone");
out:
    sr_scan_fini(s);
    free(file);
    return st;
}

/* ---- the whole ---- */

static void explain(loader *l) {
    sr_warnings *w = &l->d->warnings;
    if (l->n_nan_check > 0)
        sr_warn(
            w, "dump_nan_check", l->n_nan_check, l->file,
            "entries of task nan_check say only whether there is a NaN; dump with \"task\": \"statistics\" to compare");
    if (l->n_unflushed > 0)
        sr_warn(
            w, "dump_unflushed", l->n_unflushed, l->file,
            "tensors whose statistics were never written (tensor_stat_index): the job was killed; dump the step again");
    if (l->n_bare > 0 && l->n_nan_check == 0)
        sr_warn(w, "dump_no_statistics", l->n_bare, l->file,
                "tensors without Max, Min, Mean and Norm (summary_mode md5 or xor); dump with \"summary_mode\": "
                "\"statistics\" to compare");
}

/* Why no tensor that is wanted has what the analysis compares, and what to do; NULL: there are some. */
static const char *what_lacks(const loader *l) {
    bool whole = l->opts->want == ~0u;
    if (whole ? l->d->n_statistics > l->n_nan_taken : l->n_norms > 0) return NULL;
    if (l->n_nan_check > 0)
        return "task nan_check says only whether there is a NaN; dump with \"task\": \"statistics\"";
    if (l->n_unflushed > 0)
        return "the statistics were never written (tensor_stat_index): the job was killed; dump the step again";
    if (l->n_bare > 0)
        return "no Max, Min, Mean or Norm (summary_mode md5 or xor); dump with \"summary_mode\": \"statistics\"";
    if (!whole && l->n_tensors > 0)
        return "no tensor has a Norm that is a number; dump with \"task\": \"statistics\" and \"summary_mode\": "
               "\"statistics\"";
    return "no tensor has statistics; name the dump.json of a statistics dump";
}

/* Nothing in it to analyse: say why and what to do. */
static sr_status check_usable(loader *l) {
    sr_dump *d = l->d;
    const char *why = NULL;
    if (!l->has_data)
        why = "no \"data\" object in it; name the dump.json of a statistics dump";
    else if (d->n_entries == 0 && d->truncated)
        why = "cut off before its first entry ended: the job was killed; dump the step again";
    else if (d->n_entries == 0 && d->warnings.n == 0)
        why =
            "\"data\" is empty: the job was killed before msProbe wrote it, or the step was not dumped; dump it again";
    else if (d->n_entries == 0)
        why = "no entry of \"data\" is an operator; name the dump.json of a statistics dump";
    else if ((d->lacks = what_lacks(l)) != NULL && l->opts->want == ~0u)
        why = d->lacks;
    if (why == NULL) return SR_OK;
    return sr_fail(l->err, SR_EINPUT, "%s: %s", l->file, why);
}

sr_status sr_dump_load_file(const char *file, const sr_dump_load_opts *opts, sr_dump **out, sr_err *err) {
    sr_err own = {0};
    loader l = {.opts = opts, .file = file, .err = err != NULL ? err : &own, .scan = {.fd = -1}};
    char *dir = sr_dump_dir_of(file);
    *out = NULL;
    l.d = dir != NULL ? sr_dump_new(dir) : NULL;
    free(dir);
    if (l.d == NULL) return sr_fail_mem(err);
    sr_status st = read_dump(&l);
    sr_scan_fini(&l.scan);
    if (st == SR_OK) {
        explain(&l);
        st = check_usable(&l);
    }
    if (st == SR_OK && opts->construct) st = read_construct(&l);
    if (st == SR_OK) st = sr_dump_seal(l.d, err);
    sr_str_fini(&l.key);
    if (st == SR_OK)
        *out = l.d;
    else
        sr_dump_free(l.d);
    return st;
}

static sr_status load(const char *path, unsigned want, bool construct, sr_dump **out, sr_err *err) {
    const sr_dump_load_opts opts = {want, construct, false};
    char *file = NULL;
    *out = NULL;
    sr_status st = sr_dump_file(path, &file, err);
    if (st == SR_OK) st = sr_dump_load_file(file, &opts, out, err);
    free(file);
    return st;
}

sr_status sr_dump_load(const char *path, sr_dump **out, sr_err *err) { return load(path, ~0u, true, out, err); }

sr_status sr_dump_load_grads(const char *path, sr_dump **out, sr_err *err) {
    return load(path, 1u << SR_DIR_PARAM_GRAD, false, out, err);
}
