/* The report: what p1.json, p2.json and p3.json say, as markdown for people.
 *
 * It computes no verdict of its own.  Numbers have four significant digits; names are escaped so that a table stays a
 * table.  Pure: reads JSON trees, writes text into strings; no I/O.
 */
#ifndef SPIKEROOT_REPORT_H
#define SPIKEROOT_REPORT_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#include "spikeroot/err.h"
#include "spikeroot/str.h"

typedef enum { SR_LANG_ZH, SR_LANG_EN } sr_lang;

typedef struct sr_report sr_report;

/* An empty report, or NULL when memory is out. Free with sr_report_free (NULL is allowed). */
sr_report *sr_report_new(void);
void sr_report_free(sr_report *r);

/* Add the document of a phase, in any order. `root` belongs to the report from here on, also after an error; `name` is
 * the file, for messages.  Unknown keys are passed over.
 * Errors: SR_EUSAGE when this phase was added before; SR_EINPUT naming the key when it is no p1, p2 or p3.json of this
 * schema version or a value is missing or of the wrong type; SR_ENOMEM. After an error only sr_report_free is allowed.
 */
sr_status sr_report_add(sr_report *r, cJSON *root, const char *name, sr_err *err);

/* Does any of the documents name a finding: a candidate, a root cause, a divergence? */
bool sr_report_has_finding(const sr_report *r);

/* Pictures: gradient norms over steps (p1), and a heat strip of layers and metrics (p3). */
typedef enum { SR_PLOT_NORMS, SR_PLOT_LAYERS, SR_N_PLOTS } sr_plot;

/* The picture's file name, without a directory. */
const char *sr_report_plot_name(sr_plot p);

/* Draw a picture as SVG into *out (to be freed by the caller); empty if the documents hold nothing to draw: no
 * candidate with a series, no anchor. Errors: SR_ENOMEM. */
sr_status sr_report_draw(const sr_report *r, sr_plot p, sr_lang lang, sr_str *out, sr_err *err);

/* Write the markdown into *out (to be freed by the caller). link[p] is where picture p is, as a URL relative to the
 * report, or NULL: not linked. At least one document must have been added. Errors: SR_ENOMEM. */
sr_status sr_report_write(const sr_report *r, sr_lang lang, const char *const link[SR_N_PLOTS], sr_str *out,
                          sr_err *err);

#endif
