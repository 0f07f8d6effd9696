/* The command table. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "spikeroot/version.h"

static const sr_command *const commands[] = {&sr_cmd_phase1, &sr_cmd_phase2, &sr_cmd_phase3, &sr_cmd_report};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static const sr_command *find(const char *name) {
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strcmp(commands[i]->name, name) == 0) return commands[i];
    return NULL;
}

static void help(FILE *to) {
    fputs("usage: spikeroot [-h|-V] COMMAND [options] INPUT...\n"
          "       spikeroot help COMMAND\n\n"
          "Finds where an abnormal gradient of a training run FIRST arose, not where it was largest.\n\n"
          "commands:\n",
          to);
    for (size_t i = 0; i < N_COMMANDS; i++) fprintf(to, "  %-8s %s\n", commands[i]->name, commands[i]->summary);
    fputs("\nexit status: 0 ran, 1 input or I/O failure, 2 usage, 3 finding (with --exit-code), 4 something must be "
          "supplied\n",
          to);
}

static sr_exit dispatch(int argc, char **argv) {
    const char *word = argc > 1 ? argv[1] : "";
    if (word[0] == '\0') {
        help(stderr);
        return SR_EXIT_USAGE;
    }
    if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0 || (strcmp(word, "help") == 0 && argc == 2)) {
        help(stdout);
        return SR_EXIT_OK;
    }
    if (strcmp(word, "-V") == 0 || strcmp(word, "--version") == 0) {
        puts("spikeroot " SR_VERSION);
        return SR_EXIT_OK;
    }
    bool wants_help = strcmp(word, "help") == 0;
    const sr_command *c = find(wants_help ? argv[2] : word);
    if (c == NULL && !wants_help && word[0] == '-') return sr_cli_usage("", "unknown option '%s'", word);
    if (c == NULL) return sr_cli_usage("", "'%s' is no command", wants_help ? argv[2] : word);
    if (!wants_help) return c->run(argc - 1, argv + 1);
    fputs(c->help, stdout);
    return SR_EXIT_OK;
}

int main(int argc, char **argv) {
    sr_cli_open_streams();
    sr_cli_install_signals();
    sr_cli_limit_memory();
    sr_exit code = dispatch(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("spikeroot: standard output");
        if (code == SR_EXIT_OK) code = SR_EXIT_FAILURE;
    }
    return code;
}
