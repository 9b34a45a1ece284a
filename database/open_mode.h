// The reason for which a database file is opened.
#pragma once

namespace kiln {

enum class OpenMode {
    create,     // make the file if it does not exist, migrate an older schema
    write,      // must exist; migrate an older schema
    read_only,  // must exist; a schema that is too old to be read is an error that says how to migrate
};

}  // namespace kiln
