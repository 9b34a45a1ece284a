// How SQLite opens and deletes files for kiln. It does so as always, but each file beside a database is looked at before
// (side_files.h), and other files than these are never deleted, whatever a journal names.
#pragma once

namespace kiln {

// The name of this way in sqlite3_open_v2(); registered by the first call.
const char *guarded_files();

}  // namespace kiln
