#define _XOPEN_SOURCE 700 /* realpath */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "spikeroot/json.h"
#include "spikeroot/num.h"
#include "spikeroot/outfile.h"

bool sr_cli_common(sr_common *c, int opt, const char *value) {
    switch (opt) {
    case 'o': c->output = value; return true;
    case 'q': c->quiet = true; return true;
    case 'v': c->verbose = true; return true;
    case SR_OPT_EXIT_CODE: c->exit_code = true; return true;
    default: return false;
    }
}

sr_exit sr_cli_usage(const char *command, const char *fmt, ...) {
    sr_err err;
    char text[SR_ERR_TEXT];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    sr_fail(&err, SR_EUSAGE, "%s", text); /* escapes what could upset a terminal */
    const char *space = command[0] != '\0' ? " " : "";
    fprintf(stderr, "spikeroot%s%s: %s\nTry 'spikeroot%s%s --help'.\n", space, command, err.text, space, command);
    return SR_EXIT_USAGE;
}

sr_exit sr_cli_bad_option(const char *command, int opt, int optopt_, char *const *argv, int optind_) {
    const char *arg = argv[optind_ - 1];
    if (opt == ':') return sr_cli_usage(command, "option '%s' needs a value", arg);
    if (strncmp(arg, "--", 2) == 0 && (optopt_ == 0 || strchr(arg, '=') != NULL))
        return sr_cli_usage(command, "%s '%s'", optopt_ == 0 ? "unknown or ambiguous option" : "this option takes no value:", arg);
    return sr_cli_usage(command, "unknown option '-%c'", optopt_);
}

sr_exit sr_cli_fail(const char *command, const sr_err *err) {
    fprintf(stderr, "spikeroot %s: %s\n", command, err->text);
    if (err->code == SR_EUSAGE) return SR_EXIT_USAGE;
    return err->code == SR_ENEED ? SR_EXIT_NEED : SR_EXIT_FAILURE;
}

bool sr_cli_number(const char *command, const char *option, const char *text, double above, double most, double *out) {
    double v;
    if (sr_parse_double(text, strlen(text), &v) && v > above && v <= most) {
        *out = v;
        return true;
    }
    sr_cli_usage(command, "%s: '%s' is no number above %g and up to %g", option, text, above, most);
    return false;
}

bool sr_cli_count(const char *command, const char *option, const char *text, uint64_t most, uint64_t *out) {
    int64_t v;
    if (sr_parse_int(text, strlen(text), &v) && v >= 1 && (uint64_t)v <= most) {
        *out = (uint64_t)v;
        return true;
    }
    sr_cli_usage(command, "%s: '%s' is no whole number from 1 to %" PRIu64, option, text, most);
    return false;
}

static bool ends_with(const char *s, const char *end) {
    size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

/* Is the existing file `path` inside directory `dir` (both resolved), with the name of something we read? */
static bool is_input_inside(const char *path, const char *dir) {
    static const char *const names[] = {".csv", ".db", "dump.json", "construct.json", "stack.json"};
    size_t n = strlen(dir);
    if (strncmp(path, dir, n) != 0 || path[n] != '/') return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (ends_with(path, names[i])) return true;
    return false;
}

sr_status sr_cli_check_output(const char *output, const char *input, sr_err *err) {
    struct stat a, b;
    if (strcmp(output, "-") == 0 || strcmp(input, "-") == 0) return SR_OK;
    if (output[0] == '\0') return sr_fail(err, SR_EUSAGE, "-o: the name is empty");
    if (stat(output, &a) != 0 || stat(input, &b) != 0) return SR_OK;
    bool same = a.st_dev == b.st_dev && a.st_ino == b.st_ino;
    if (!same && S_ISDIR(b.st_mode) && S_ISREG(a.st_mode)) {
        char *file = realpath(output, NULL), *dir = realpath(input, NULL);
        same = file != NULL && dir != NULL && is_input_inside(file, dir);
        free(file);
        free(dir);
    }
    if (!same) return SR_OK;
    return sr_fail(err, SR_EUSAGE, "-o %s: is an input of this command, and inputs are never overwritten; name another file",
                   output);
}

void sr_cli_warn(const sr_common *c, const cJSON *tree) {
    const cJSON *w;
    if (c->quiet) return;
    cJSON_ArrayForEach(w, cJSON_GetObjectItemCaseSensitive(tree, "warnings")) {
        const cJSON *count = cJSON_GetObjectItemCaseSensitive(w, "count");
        const char *where = sr_json_get_str(cJSON_GetObjectItemCaseSensitive(w, "where"));
        sr_err line; /* for its escaping */
        sr_fail(&line, SR_EINPUT, "%s", sr_json_get_str(cJSON_GetObjectItemCaseSensitive(w, "message")));
        fprintf(stderr, "spikeroot %s: warning: %s", c->command, line.text);
        const char *times = cJSON_IsRaw(count) ? count->valuestring : "1";
        sr_fail(&line, SR_EINPUT, "%s", where != NULL ? where : "");
        if (where != NULL)
            fprintf(stderr, " (%s x, first: %s)", times, line.text);
        else if (strcmp(times, "1") != 0)
            fprintf(stderr, " (%s x)", times);
        fputc('\n', stderr);
    }
}

sr_status sr_cli_write(const sr_common *c, cJSON *tree, const char *says, sr_err *err) {
    sr_str text = {0};
    sr_status st = sr_json_print(tree, &text, err);
    if (st == SR_OK) sr_cli_warn(c, tree);
    if (st == SR_OK) st = sr_outfile_write(c->output, sr_str_text(&text), text.len, err);
    if (st == SR_OK && !c->quiet && says != NULL && strcmp(c->output, "-") != 0) {
        sr_err line; /* for its escaping */
        sr_fail(&line, SR_EINPUT, "%s", says);
        fprintf(stderr, "spikeroot %s: %s\n", c->command, line.text);
    }
    sr_str_fini(&text);
    cJSON_Delete(tree);
    return st;
}

void sr_cli_report_cost(const sr_common *c) {
    struct rusage use;
    if (!c->verbose || getrusage(RUSAGE_SELF, &use) != 0) return;
    double cpu = (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
                 (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1e-6;
    fprintf(stderr, "spikeroot %s: %.2f s of processor time, %.1f MiB at most\n", c->command, cpu,
            (double)use.ru_maxrss / 1024.0);
}

/* Only what POSIX allows in a handler: unlink, and to die of the same signal. */
static void on_signal(int sig) {
    if (sr_outfile_pending[0] != '\0') (void)unlink(sr_outfile_pending);
    (void)signal(sig, SIG_DFL);
    (void)raise(sig);
}

void sr_cli_install_signals(void) {
    struct sigaction sa;
    memset(&sa, 0, sizeof sa);
    sa.sa_handler = on_signal;
    (void)sigemptyset(&sa.sa_mask);
    const int list[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        struct sigaction old;
        if (sigaction(list[i], NULL, &old) == 0 && old.sa_handler == SIG_IGN) continue; /* nohup */
        (void)sigaction(list[i], &sa, NULL);
    }
    (void)signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error of write(), with a message */
}
