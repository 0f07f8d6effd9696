/* Do the rows that sr_tdb_walk finds equal those that SQLite finds? */
#ifndef SR_PAGES_FIXTURE_H
#define SR_PAGES_FIXTURE_H

#include <sqlite3.h>
#include <stddef.h>

/* Some ranks, metrics and steps of the database, which is in a read transaction.  Returns NULL, or what differs (static
 * text).  *n_walked: ranges that were walked to their end; *n_unfit: ranges left to SQLite. */
const char *pages_differ(sqlite3 *db, size_t *n_walked, size_t *n_unfit);

#endif
