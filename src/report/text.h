/* All words of the report, in both languages. */
#ifndef SR_REPORT_TEXT_H
#define SR_REPORT_TEXT_H

#include "report_internal.h"

typedef enum {
    T_TITLE, T_SUMMARY, T_PROBLEM, T_EVIDENCE, T_IMPACT, T_ADVICE, T_MISSING, T_NONE, T_NOTHING, T_COLON, T_COLON_END, T_AND, T_THEN,
    T_IN_BRACKETS, T_COORDINATE, T_COORDINATE_MICRO, T_WARNING, T_WARNING_AT, T_SEE_JSON, T_MISMATCH,
    T_COL_ITEM, T_COL_VALUE, T_COL_DATA, T_COL_COUNT, T_COL_STEPS, T_COL_UNIT,
    T_COL_OPT_STEP, T_COL_RANK, T_COL_TARGET, T_COL_MICRO, T_COL_DELTA, T_COL_DEVIATION, T_COL_FINAL,
    T_COL_TRANSITION, T_COL_GROWTH, T_COL_GROWN, T_COL_VERDICT, T_COL_BENCHMARK, T_COL_RATIO,
    T_COL_F_ABNORMAL, T_COL_B_ABNORMAL, T_COL_DIRECTION, T_COL_START, T_COL_PEAK, T_COL_EVIDENCE,

    T_P1_HEAD, T_P1_TABLE1, T_P1_TABLE2, T_P1_RANGE, T_P1_ONE_STEP, T_P1_TOP, T_P1_PLOT, T_TREND, T_TREND_KEY, T_TREND_LINE, T_TREND_LINE_MICRO,
    T_P1_FIRST, T_P1_DEVIATION, T_P1_NONFINITE, T_P1_RANKED, T_P1_NORM, T_P1_CLEAN, T_P1_NUMBERS, T_P1_DURATION,
    T_P1_SERIES, T_P1_SPAN, T_P1_SPAN_ONE, T_P1_STEP_LEVEL, T_P1_MICRO_NAMED, T_P1_MICRO_FOUND, T_P1_RESET, T_P1_DUMPS, T_P1_ALSO, T_P1_HITS,
    T_P1_ONLY_ONE, T_P1_ECHO, T_P1_RANKING, T_P1_NEXT, T_P1_NEXT_BELOW, T_P1_CHECK, T_P1_SKIPPED, T_P1_NO_MICRO,

    T_P2_HEAD, T_P2_TABLE1, T_P2_TABLE2, T_P2_STEP_TO, T_P2_ROOT_IN, T_P2_GREW, T_P2_NO_TURN, T_P2_FEW_RANKS,
    T_P2_NOT_MICRO, T_P2_SHARED_TOO, T_P2_OMITTED, T_P2_SPECIFIC, T_P2_SHARED, T_P2_NO_BENCHMARK, T_P2_UNKNOWN, T_P2_ROOT_MARK,
    T_P2_NORM_NOTE, T_P2_ROOT, T_P2_CLEAN, T_P2_E_TURN, T_P2_E_SHARED, T_P2_E_NO_TURN, T_P2_E_NOT_MICRO, T_P2_BEYOND_DOUBT,
    T_P2_FIRST_LISTED, T_P2_LARGEST_NORM, T_P2_BY_USER, T_P2_PASSED_OVER, T_P2_SIDE_NONE, T_P2_SIDE_VALUE,
    T_P2_SIDE_MISSING, T_P2_SIDE_NOTHING, T_P2_ECHO, T_P2_NEXT, T_P2_NEXT_BELOW, T_P2_NOTHING_TO_DO,

    T_P3_HEAD, T_P3_GROUPS, T_P3_TABLE1, T_P3_ANCHOR, T_P3_TABLE2, T_P3_PLOT, T_P3_NOTE, T_P3_STARTS, T_P3_START_OF,
    T_P3_EARLIEST, T_P3_UNCOMPARED, T_P3_FWD, T_P3_BWD, T_P3_DIVERGED, T_P3_CONSISTENT, T_P3_UNDETERMINED,
    T_P3_HAS_UNCOMPARED, T_P3_INCOMPLETE, T_P3_START_FWD, T_P3_START_BWD, T_P3_FIRST, T_P3_BWD_ALONE, T_P3_CLEAN,
    T_P3_UNKNOWN, T_P3_UNKNOWN_BWD, T_P3_PASS_STARTS, T_P3_ROUND_FIRST, T_P3_ROUND, T_P3_CONVERGED, T_P3_DISAGREE,
    T_P3_NOT_NORMAL, T_P3_CONTROL_GIVEN, T_P3_CONTROL_AUTO, T_P3_CONTROL_NONE, T_P3_CONTROL_DOUBT, T_P3_LAST_CLEAN,
    T_P3_ORIGIN, T_P3_LARGEST, T_P3_CODE, T_P3_FEATURE, T_P3_SAME, T_P3_BENCHMARK_TOO, T_P3_DIFFERS, T_P3_NOT_KNOWN,
    T_P3_IMPACT, T_P3_TRACE, T_P3_DUMP_TENSORS, T_P3_FWD_FIRST, T_P3_SUPPLY, T_P3_CHECK_PLACE, T_P3_INCOMPLETE_LABEL,

    T_PLOT_NORMS, T_PLOT_RANK, T_PLOT_OTHERS, T_PLOT_FIRST, T_PLOT_FIRST_MICRO, T_PLOT_FINALS, T_PLOT_STEP, T_PLOT_OPT_STEP,
    T_PLOT_LAYERS, T_PLOT_FWD, T_PLOT_BWD, T_PLOT_START, T_PLOT_FLAGGED, T_PLOT_UNCOMPARED, T_PLOT_DISTANCE,
    T_COUNT
} sr_text;

/* The word or sentence as it stands. */
const char *sr_rep_word(sr_lang lang, sr_text id);

/* The sentence with {1}, {2}... replaced. */
const char *sr_rep_say(sr_render *c, sr_text id, const char *const *args, size_t n);
#define SAY(c, id, ...)                                               \
    sr_rep_say((c), (id), (const char *const[]){__VA_ARGS__},         \
               sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* A sentence that the JSON holds in English: as it is in English, else the translation of the phrase it begins with;
 * a number in it is kept. NULL: not known in this language. */
const char *sr_rep_phrase(sr_render *c, const char *english);

/* A warning by its code; NULL: not known in this language. */
const char *sr_rep_warning_text(sr_render *c, const sr_rep_warning *w);

/* ---- report.c: the parts that every phase has ---- */

void sr_rep_heading(sr_render *c, int level, const char *text);
void sr_rep_line(sr_render *c, const char *text);                /* a paragraph */
void sr_rep_item(sr_render *c, sr_text label, const char *text); /* "- **label**: text"; text NULL: sub-items follow */
void sr_rep_sub(sr_render *c, const char *text);                 /* "  - text" */
void sr_rep_picture(sr_render *c, sr_plot p, sr_text alt);
/* The item of what is missing, from sentences of `file` and its warnings; `more` is one more sentence or NULL. */
void sr_rep_missing(sr_render *c, const char *file, const sr_rep_texts *missing, const sr_rep_warnings *w, const char *more);
const char *sr_rep_coordinate(sr_render *c, int64_t opt_step, int64_t rank, int64_t micro, const char *target);
/* A translated sentence, or where `file` has it under `key`. */
const char *sr_rep_or_json(sr_render *c, const char *english, const char *file, const char *key);

#endif
