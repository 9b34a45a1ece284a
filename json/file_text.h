// The bytes of a file from outside, read as a whole, but never without end: a device, a queue that nobody writes to, or a
// file of terabytes is a message.
#pragma once

#include <cstdint>
#include <string>

#include "workload/result.h"

namespace kiln {

enum class FileKind {
    regular,     // what another file names, or what lies in somebody's folder
    any_stream,  // what the user names may be a queue, too: --workloads <(program)
};

// `problem`: errno. No permission and a disk that fails are the environment's; which file it is, is the user's word (bad_input).
Error file_error(const std::string &path, const char *what, int problem);

// Errors begin with the path: it cannot be read (file_error()); it is of another kind, or has more than `most_bytes`
// (bad_input).
Result<std::string> read_file_text(const std::string &path, int64_t most_bytes, FileKind kind = FileKind::regular);

}  // namespace kiln
