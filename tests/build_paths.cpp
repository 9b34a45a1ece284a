#include "tests/build_paths.h"

namespace kiln {

const std::string &source_dir() {
    static const std::string path = KILN_SOURCE_DIR;
    return path;
}

const std::string &binary_dir() {
    static const std::string path = KILN_BINARY_DIR;
    return path;
}

}  // namespace kiln
