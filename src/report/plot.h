/* What the two pictures share. */
#ifndef SR_REPORT_PLOT_H
#define SR_REPORT_PLOT_H

#include "text.h"

/* Open the document: size, and the styles for light and dark. */
void sr_rep_svg_open(sr_render *c, int width, int height, const char *title);
void sr_rep_svg_close(sr_render *c);
/* Text at a place; `style` is a list of classes ("", "small", "end"...). Escaped; cut in the middle beyond `most`
 * characters. */
void sr_rep_svg_text(sr_render *c, double x, double y, const char *style, const char *text, size_t most);

void sr_rep_plot_norms(sr_render *c); /* writes nothing if there is nothing to draw */
void sr_rep_plot_layers(sr_render *c);

#endif
