/* Where the pictures of a report go, and how it links them. */
#ifndef SR_REPORT_PLOTS_H
#define SR_REPORT_PLOTS_H

#include "spikeroot/err.h"
#include "spikeroot/report.h"

typedef struct {
    const char *dir;
    char *path[SR_N_PLOTS]; /* of the files */
    char *link[SR_N_PLOTS]; /* URLs relative to the report; NULL: nothing to draw */
} sr_plots;

/* Name the files in `dir`. */
sr_status sr_plots_name(sr_plots *p, const char *dir, sr_err *err);
/* Make the directory if it is missing, draw, write, and find the links from the report at `output` ("-": from here). */
sr_status sr_plots_write(sr_plots *p, const sr_report *r, sr_lang lang, const char *output, sr_err *err);
void sr_plots_fini(sr_plots *p);

#endif
