// What a manifest says of its files: they lie in its own folder, and have a shape.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "json/json_value.h"

namespace kiln {

FieldProblem read_shape(const Json &value, std::vector<int64_t> *shape);

// A suite may name its own files only: a stranger's suite must not choose which files are read. Links are judged at their
// end. Null if the file is fine.
const char *problem_of_file(const std::string &folder, const std::string &path);

}  // namespace kiln
