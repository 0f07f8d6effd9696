/* Markdown tables whose columns stand one below the other in a terminal too. */
#include <stdlib.h>
#include <string.h>

#include "report_internal.h"

/* Longer cells are not waited for: a name of 300 characters would push every row out of the window. */
enum { MOST = 64, LEAST = 3 };

void sr_rep_table_row(sr_render *c, sr_rep_table *t, const char *const *cells) {
    if (!SR_GROW(t, t->n + t->columns)) {
        c->failed = true;
        return;
    }
    memcpy(t->items + t->n, cells, t->columns * sizeof *cells);
    t->n += t->columns;
}

static void add_n(sr_str *b, char ch, size_t n) {
    while (n-- > 0) sr_str_addc(b, ch);
}

static void add_row(sr_str *b, const sr_rep_table *t, size_t row, const size_t *width) {
    sr_str_addc(b, '|');
    for (size_t k = 0; k < t->columns; k++) {
        const char *cell = t->items[row * t->columns + k];
        size_t w = sr_rep_width(cell), pad = w < width[k] ? width[k] - w : 0;
        bool right = (t->right >> k & 1) != 0;
        sr_str_addc(b, ' ');
        if (right) add_n(b, ' ', pad);
        sr_str_add(b, cell);
        if (!right) add_n(b, ' ', pad);
        sr_str_add(b, " |");
    }
    sr_str_addc(b, '\n');
}

void sr_rep_table_write(sr_render *c, sr_rep_table *t) {
    enum { COLUMNS = 16 };
    static const char *const dash[COLUMNS] = {"-", "-", "-", "-", "-", "-", "-", "-",
                                              "-", "-", "-", "-", "-", "-", "-", "-"};
    size_t width[COLUMNS];
    if (t->n == t->columns) sr_rep_table_row(c, t, dash);
    for (size_t k = 0; k < t->columns; k++) width[k] = LEAST;
    for (size_t i = 0; i < t->n; i++) {
        size_t w = sr_rep_width(t->items[i]);
        if (w > MOST) w = MOST;
        if (w > width[i % t->columns]) width[i % t->columns] = w;
    }
    sr_str_addc(&c->out, '\n');
    for (size_t row = 0; row < t->n / t->columns; row++) {
        add_row(&c->out, t, row, width);
        if (row > 0) continue;
        sr_str_addc(&c->out, '|');
        for (size_t k = 0; k < t->columns; k++) {
            bool right = (t->right >> k & 1) != 0;
            sr_str_addc(&c->out, ' ');
            add_n(&c->out, '-', width[k] - (right ? 1 : 0));
            sr_str_add(&c->out, right ? ": |" : " |");
        }
        sr_str_addc(&c->out, '\n');
    }
    sr_str_addc(&c->out, '\n');
    free(t->items);
    *t = (sr_rep_table){0};
}
