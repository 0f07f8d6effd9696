/* Which document is it, and is it one we read? */
#include <stdlib.h>
#include <string.h>

#include "read_json.h"
#include "spikeroot/json.h"

sr_report *sr_report_new(void) {
    sr_report *r = calloc(1, sizeof *r);
    if (r == NULL) return NULL;
    r->arena = sr_arena_new();
    if (r->arena != NULL) return r;
    free(r);
    return NULL;
}

void sr_report_free(sr_report *r) {
    if (r == NULL) return;
    for (int i = 0; i < 3; i++) cJSON_Delete(r->tree[i]);
    sr_arena_free(r->arena);
    free(r);
}

sr_status sr_report_add(sr_report *r, cJSON *root, const char *name, sr_err *err) {
    int64_t phase;
    sr_status st = SR_OK;
    if (!cJSON_IsObject(root) || !sr_json_get_int(sr_rep_get(root, "phase"), &phase) || phase < 1 || phase > 3)
        st = sr_fail(err, SR_EINPUT,
                     "%s: phase: is none of 1, 2 and 3; give files that phase1, phase2 and phase3 wrote", name);
    else
        st = sr_json_check_phase(root, name, (int)phase, err);
    if (st == SR_OK && r->tree[phase - 1] != NULL)
        st = sr_fail(err, SR_EUSAGE, "%s: is a second p%d.json; give one file of each phase", name, (int)phase);
    if (st != SR_OK) {
        cJSON_Delete(root);
        return st;
    }
    r->tree[phase - 1] = root;
    sr_rep_reading in = {r->arena, name, err, SR_OK};
    if (phase == 1) r->p1 = sr_rep_read_p1(&in, root);
    if (phase == 2) r->p2 = sr_rep_read_p2(&in, root);
    if (phase == 3) r->p3 = sr_rep_read_p3(&in, root);
    return in.status;
}

/* A ranking by size (dumps of one step) is no finding. */
static bool is_finding(const char *trigger) { return trigger == NULL || strcmp(trigger, "dump_abs_norm") != 0; }

bool sr_report_has_finding(const sr_report *r) {
    for (size_t i = 0; r->p1 != NULL && i < r->p1->n; i++)
        if (is_finding(r->p1->anomalies[i].trigger)) return true;
    if (r->p2 != NULL && r->p2->has_root && is_finding(r->p2->root.trigger)) return true;
    return r->p3 != NULL && r->p3->drilldown.there;
}
