#define _XOPEN_SOURCE 700 /* realpath */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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
    case SR_OPT_MAX_MEMORY: return sr_cli_max_memory(c->command, value);
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

/* The message for what getopt_long refused ('?' or ':'). */
static sr_exit bad_option(const char *command, int opt, char *const *argv) {
    const char *arg = argv[optind - 1];
    if (opt == ':') return sr_cli_usage(command, "option '%s' needs a value", arg);
    if (strncmp(arg, "--", 2) == 0 && (optopt == 0 || strchr(arg, '=') != NULL))
        return sr_cli_usage(command, "%s '%s'",
                            optopt == 0 ? "unknown or ambiguous option" : "this option takes no value:", arg);
    return sr_cli_usage(command, "unknown option '-%c'", optopt);
}

int sr_cli_options(const char *command, const char *help, int argc, char **argv, const struct option *longs,
                   bool (*take)(void *to, int opt), void *to) {
    opterr = 0;
    for (int opt; (opt = getopt_long(argc, argv, ":" SR_COMMON_SHORT, longs, NULL)) != -1;) {
        if (opt == 'h') {
            fputs(help, stdout);
            return SR_EXIT_OK;
        }
        if (opt == '?' || opt == ':') return bad_option(command, opt, argv);
        if (!take(to, opt)) return SR_EXIT_USAGE;
    }
    return -1;
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

/* Does the file begin as one of our own results do? */
static bool is_result(const char *path) {
    char head[64] = "";
    FILE *f = fopen(path, "r");
    if (f == NULL) return false;
    size_t n = fread(head, 1, sizeof head - 1, f);
    (void)fclose(f);
    head[n] = '\0';
    return head[0] == '{' && strstr(head, "\"phase\":") != NULL;
}

static bool same_file(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Is `file` one of those that SQLite keeps beside the database, there already or not? */
static bool is_beside(const char *file, const struct stat *db) {
    static const char *const suffix[] = {"-wal", "-shm", "-journal"};
    char name[4096];
    struct stat sb;
    size_t n = strlen(file);
    for (size_t i = 0; i < sizeof suffix / sizeof *suffix; i++) {
        size_t len = strlen(suffix[i]);
        if (n <= len || n - len >= sizeof name || strcmp(file + n - len, suffix[i]) != 0) continue;
        (void)snprintf(name, sizeof name, "%.*s", (int)(n - len), file);
        return stat(name, &sb) == 0 && same_file(&sb, db);
    }
    return false;
}

/* Does the file lie in the directory `input`, and is it no earlier result? */
static sr_status is_inside(const char *file, const char *input, bool *inside, sr_err *err) {
    char *dir = realpath(input, NULL);
    if (dir == NULL) return sr_fail_os(err, errno, "%s: cannot resolve", input);
    size_t n = strlen(dir);
    *inside = strncmp(file, dir, n) == 0 && file[n] == '/' && !is_result(file);
    free(dir);
    return SR_OK;
}

sr_status sr_cli_check_output(const char *output, const char *input, sr_err *err) {
    struct stat a, b;
    if (strcmp(output, "-") == 0 || strcmp(input, "-") == 0) return SR_OK;
    if (output[0] == '\0') return sr_fail(err, SR_EUSAGE, "-o: the name is empty");
    if (stat(input, &b) != 0) return SR_OK;
    bool there = stat(output, &a) == 0, refused = there ? same_file(&a, &b) : is_beside(output, &b);
    if (!refused && there && S_ISREG(a.st_mode)) {
        char *file = realpath(output, NULL);
        if (file == NULL) return sr_fail_os(err, errno, "%s: cannot resolve", output);
        sr_status st = SR_OK;
        if (S_ISDIR(b.st_mode))
            st = is_inside(file, input, &refused, err);
        else
            refused = is_beside(file, &b);
        free(file);
        if (st != SR_OK) return st;
    }
    if (!refused) return SR_OK;
    return sr_fail(
        err, SR_EUSAGE,
        "-o %s: is an input of this command, or lies among its inputs, and these are never overwritten; name "
        "another file",
        output);
}

void sr_cli_warn(const sr_common *c, const cJSON *tree) {
    const cJSON *w;
    if (c->quiet) return;
    cJSON_ArrayForEach(w, cJSON_GetObjectItemCaseSensitive(tree, "warnings")) {
        const cJSON *count = cJSON_GetObjectItemCaseSensitive(w, "count");
        const char *where = sr_json_get_str(cJSON_GetObjectItemCaseSensitive(w, "where"));
        const char *message = sr_json_get_str(cJSON_GetObjectItemCaseSensitive(w, "message"));
        char line[SR_ERR_TEXT];
        fprintf(stderr, "spikeroot %s: warning: %s", c->command,
                sr_printable(message != NULL ? message : "", line, sizeof line));
        const char *times = cJSON_IsRaw(count) ? count->valuestring : "1";
        if (where != NULL)
            fprintf(stderr, " (%s x, first: %s)", times, sr_printable(where, line, sizeof line));
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
        char line[4096];
        fprintf(stderr, "spikeroot %s: %s\n", c->command, sr_printable(says, line, sizeof line));
    }
    sr_str_fini(&text);
    cJSON_Delete(tree);
    return st;
}

void sr_cli_open_streams(void) {
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0) (void)open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

/* Only what POSIX allows in a handler: unlink, write, and to die of the same signal. */
static void on_signal(int sig) {
    if (sr_outfile_pending[0] != '\0') (void)unlink(sr_outfile_pending);
    sr_cli_progress_erase();
    (void)signal(sig, SIG_DFL);
    (void)raise(sig);
}

void sr_cli_install_signals(void) {
    struct sigaction sa;
    memset(&sa, 0, sizeof sa);
    sa.sa_handler = on_signal;
    (void)sigemptyset(&sa.sa_mask);
    const int list[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        struct sigaction old;
        if (sigaction(list[i], NULL, &old) == 0 && old.sa_handler == SIG_IGN) continue; /* nohup */
        (void)sigaction(list[i], &sa, NULL);
    }
    (void)signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error of write(), with a message */
    (void)signal(SIGXFSZ, SIG_IGN); /* so is a file over the size limit */
}
