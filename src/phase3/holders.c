/* Which module call holds an API call.
 *
 * construct.json says so.  Where a dump has none, the keys do: a module is written when it finished, so the next module
 * behind an API call holds it, or is the first to run after it.  All dumps are read in the same way, or one API would
 * have different holders on the two sides. */
#include <stdlib.h>

#include "phase3_internal.h"

static bool has_modules(const sr_dump *d) {
    for (size_t i = 0; i < d->n_ops; i++)
        if (d->ops[i]->kind == SR_OP_MODULE) return true;
    return false;
}

/* The module call behind each forward of an API, unless a backward comes before. */
static uint32_t *list_next(const sr_dump *d) {
    uint32_t *out = malloc((d->n_entries + 1) * sizeof *out), next = UINT32_MAX;
    for (size_t i = d->n_entries; out != NULL && i-- > 0;) {
        const sr_dump_entry *e = &d->entries[i];
        if (e->direction == SR_DIR_BACKWARD) next = UINT32_MAX;
        if (e->direction == SR_DIR_FORWARD && e->op->kind == SR_OP_MODULE) next = (uint32_t)i;
        out[i] = next;
    }
    return out;
}

bool sr_phase3_hold(sr_holding *h, const sr_phase3_result *r) {
    bool said = true, listed = true;
    *h = (sr_holding){.r = r};
    for (int g = 0; g < SR_N_GROUPS; g++) {
        const sr_dump *d = r->dump[g];
        said = said && (d == NULL || d->has_construct);
        listed = listed && (d == NULL || (d->ordered && has_modules(d)));
    }
    for (int g = 0; !said && listed && g < SR_N_GROUPS; g++)
        if (r->dump[g] != NULL && (h->next[g] = list_next(r->dump[g])) == NULL) return false;
    return true;
}

void sr_phase3_let_go(sr_holding *h) {
    for (int g = 0; g < SR_N_GROUPS; g++) free(h->next[g]);
}

const sr_dump_entry *sr_phase3_holder(const sr_holding *h, int g, const sr_dump_entry *e) {
    const sr_dump *d = h->r->dump[g];
    if (e->direction == SR_DIR_BACKWARD) {
        const sr_dump_entry *f = sr_dump_find_call(d, e->op, SR_DIR_FORWARD, e->call);
        if (f != NULL) e = f;
    }
    if (h->next[g] == NULL) return sr_dump_holder(d, e);
    uint32_t at = e->direction == SR_DIR_FORWARD ? h->next[g][e - d->entries] : UINT32_MAX;
    return at != UINT32_MAX ? &d->entries[at] : NULL;
}
