/* What the commands share: messages, exit codes, option values.  Only src/cli prints, parses options and exits. */
#ifndef SR_CLI_H
#define SR_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spikeroot/err.h"

struct cJSON;
struct option;

typedef enum {
    SR_EXIT_NOT_YET = -1, /* go on; also keeps the type signed, as exit statuses are passed as int */
    SR_EXIT_OK = 0,       /* ran, whatever it found */
    SR_EXIT_FAILURE = 1,  /* input or I/O failure */
    SR_EXIT_USAGE = 2,
    SR_EXIT_FINDING = 3, /* something was found, only with --exit-code */
    SR_EXIT_NEED = 4     /* the user must supply something */
} sr_exit;

/* A command: run gets argv of the command itself (argv[0] is its name); help is its --help text. */
typedef struct {
    const char *name, *summary, *help;
    sr_exit (*run)(int argc, char **argv);
} sr_command;

extern const sr_command sr_cmd_phase1, sr_cmd_phase2, sr_cmd_phase3, sr_cmd_report;

/* What every command has. */
typedef struct {
    const char *command;
    const char *output; /* -o, "-" by default */
    bool quiet, verbose, exit_code;
} sr_common;

#define SR_COMMON_SHORT "o:qvh"
enum { SR_OPT_EXIT_CODE = 1000, SR_OPT_MAX_MEMORY, SR_OPT_FIRST };
#define SR_COMMON_LONG                                                                                                 \
    {"output", required_argument, NULL, 'o'}, {"quiet", no_argument, NULL, 'q'}, {"verbose", no_argument, NULL, 'v'},  \
        {"help", no_argument, NULL, 'h'}, {"exit-code", no_argument, NULL, SR_OPT_EXIT_CODE}, {                        \
        "max-memory", required_argument, NULL, SR_OPT_MAX_MEMORY                                                       \
    }

/* Handle a common option; false if its value is refused (a usage message was printed). -h is not handled here. */
bool sr_cli_common(sr_common *c, int opt, const char *value);

/* "spikeroot CMD: text" and the hint to --help on stderr; returns SR_EXIT_USAGE. */
sr_exit sr_cli_usage(const char *command, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Read the options with getopt_long: -h prints `help`, what is refused is a usage error, and `take` gets the rest
 * (false: it has printed why not).  Returns -1 to go on at argv[optind], else the exit code. */
int sr_cli_options(const char *command, const char *help, int argc, char **argv, const struct option *longs,
                   bool (*take)(void *to, int opt), void *to);
/* Print the error and return the exit code that belongs to its status. */
sr_exit sr_cli_fail(const char *command, const sr_err *err);

/* Option values: strict numbers. On failure a usage message was printed and false returned. */
bool sr_cli_number(const char *command, const char *option, const char *text, double above, double most, double *out);
bool sr_cli_count(const char *command, const char *option, const char *text, uint64_t most, uint64_t *out);

/* Refuse an output that would overwrite `input` (a file, or a directory with input files in it). */
sr_status sr_cli_check_output(const char *output, const char *input, sr_err *err);

/* Print the tree's warnings on stderr, unless -q. */
void sr_cli_warn(const sr_common *c, const struct cJSON *tree);

/* Print a tree to -o; on stderr, unless -q, its warnings and, when the tree went to a file, the one line it `says` (may
 * point into the tree; NULL: nothing). The tree is deleted. */
sr_status sr_cli_write(const sr_common *c, struct cJSON *tree, const char *says, sr_err *err);

/* With -v: one line on stderr with the processor time and the peak memory. */
void sr_cli_report_cost(const sr_common *c);

/* Limit memory to the default of limit.h; to --max-memory's value (false: a usage message was printed). */
void sr_cli_limit_memory(void);
bool sr_cli_max_memory(const char *command, const char *text);

/* A line on a terminal that says how far the reading is (progress.h), from the first second on; none with -q or where
 * stderr is no terminal, or one whose foreground is another job. Stop it before anything else is printed. */
void sr_cli_progress_start(const sr_common *c);
void sr_cli_progress_stop(void);
/* Erase what stands there now; may be called in a signal handler. */
void sr_cli_progress_erase(void);

/* A standard stream that is closed gets a descriptor that can only be used the wrong way round, so that no file opened
 * later takes its place and gets our messages, and using it is still an error. */
void sr_cli_open_streams(void);

/* Catch SIGINT and SIGTERM so that no temporary file is left behind. */
void sr_cli_install_signals(void);

#endif
