/* Phase 3, the anchors: four groups layer by layer, and what each says of itself. */
#include "text.h"

static const char *const group[] = {"A", "B", "C", "D"};

static const char *abnormality(sr_render *c, const sr_rep_cell *x, const char *flag) {
    const char *v = sr_rep_ratio(c, x->anomaly);
    return x->flag ? sr_rep_join(c, sr_rep_join(c, v, " "), flag) : v;
}

static void head(sr_render *c, sr_rep_table *t) {
    const char *cell[15];
    size_t k = 0;
    cell[k++] = "L";
    for (int p = 0; p < SR_N_BOTH; p++) {
        const char *side = p == SR_PASS_FWD ? "F_" : "B_";
        for (int g = 0; g < 4; g++) cell[k++] = sr_rep_join(c, side, group[g]);
        cell[k++] = sr_rep_join(c, side, "A/B");
        cell[k++] = sr_rep_join(c, side, "C/D");
        cell[k++] = sr_rep_word(c->lang, p == SR_PASS_FWD ? T_COL_F_ABNORMAL : T_COL_B_ABNORMAL);
    }
    sr_rep_table_row(c, t, cell);
}

static void layers(sr_render *c, const sr_rep_anchor *a) {
    sr_rep_table t = {.columns = 15, .right = 0x7ffe};
    head(c, &t);
    for (size_t i = 0; i < a->n; i++) {
        const char *cell[15];
        size_t k = 0;
        const char *name = sr_rep_place_name(c, a->layers[i].place);
        cell[k++] = name[0] == 'L' ? name + 1 : name; /* the column says L already */
        for (int p = 0; p < SR_N_BOTH; p++) {
            const sr_rep_cell *x = &a->layers[i].cell[SR_NORM][p];
            for (int g = 0; g < 4; g++) cell[k++] = sr_rep_num(c, x->group[g]);
            cell[k++] = sr_rep_ratio(c, x->ab);
            cell[k++] = sr_rep_ratio(c, x->cd);
            cell[k++] = abnormality(c, x, p == SR_PASS_FWD ? "F!" : "B!");
        }
        sr_rep_table_row(c, &t, cell);
    }
    sr_rep_table_write(c, &t);
}

static void says(sr_render *c, const sr_rep_anchor *a) {
    sr_str starts = {0};
    for (int m = 0; m < SR_N_METRICS; m++) {
        if (m > 0) sr_str_add(&starts, sr_rep_word(c->lang, T_THEN));
        sr_str_add(&starts, SAY(c, T_P3_START_OF, sr_report_metric[m], sr_rep_layer_name(c, a->start[m][SR_PASS_FWD]),
                                sr_rep_layer_name(c, a->start[m][SR_PASS_BWD])));
    }
    for (int m = 0; m < SR_NORM; m++) {
        const sr_rep_places *f = &a->flagged[m][SR_PASS_FWD], *b = &a->flagged[m][SR_PASS_BWD];
        if (f->n + b->n == 0) continue;
        sr_str_addf(&c->out, "- %s\n",
                    SAY(c, T_P3_NOTE, sr_report_metric[m], sr_rep_places_text(c, *f), sr_rep_places_text(c, *b)));
    }
    sr_str_addf(&c->out, "- %s\n", SAY(c, T_P3_STARTS, sr_rep_keep(c, &starts)));
    sr_str_addf(&c->out, "- %s\n",
                SAY(c, T_P3_EARLIEST, sr_rep_layer_name(c, a->earliest[SR_PASS_FWD]),
                    sr_rep_layer_name(c, a->earliest[SR_PASS_BWD])));
    sr_str_addf(&c->out, "- %s\n\n",
                SAY(c, T_P3_UNCOMPARED, sr_rep_places_text(c, a->uncompared[SR_PASS_FWD]),
                    sr_rep_places_text(c, a->uncompared[SR_PASS_BWD])));
}

void sr_rep_phase3_tables(sr_render *c) {
    const sr_rep_p3 *p = c->r->p3;
    sr_str_addf(&c->out, "### %s\n\n", sr_rep_word(c->lang, T_P3_TABLE1));
    for (size_t i = 0; i < p->n_anchors; i++) {
        sr_str_addf(&c->out, "#### %s\n", SAY(c, T_P3_ANCHOR, sr_rep_name(c, p->anchors[i].name)));
        layers(c, &p->anchors[i]);
        says(c, &p->anchors[i]);
    }
    if (p->n_anchors == 0) {
        sr_rep_table t = {.columns = 15, .right = 0x7ffe};
        head(c, &t);
        sr_rep_table_write(c, &t);
    }
}
