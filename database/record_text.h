// Records as text. `kiln db export` writes it and `kiln db import` reads it; docs/database.md describes the format.
//
//   export := '{"format":"database/1"}' "\n" *(record "\n")
//   record := a JSON object on one line; its field `record` is workload_name, measurement, trial or race
//
// A field that is unset or empty is left out. Numbers are the shortest text that reads back the same; infinity is
// "inf". A text that is not UTF-8 is {"bytes": ...} with one character from U+0000 to U+00FF for each byte. So the same
// records give the same bytes. Reading takes the lines in any order and repeated, as joining two exports gives them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "records/record.h"
#include "records/record_source.h"
#include "workload/result.h"

namespace kiln {

extern const std::string_view export_head;  // the first line, without its end

std::string record_text(const Record &record);  // without the end of the line

// Errors name the field. The content is not yet checked against its id.
Result<Record> parse_record(std::string_view line);

// No line that kiln writes is longer.
inline constexpr size_t longest_line = 64 << 20;

// The records of an export, read line by line; a file is read again each time. What cannot be read again, such as a
// pipe, is copied into a temporary file. Errors name file and line.
Result<RecordSource> read_export(const std::string &path);

// A whole export in memory, sorted so that each record follows those that it refers to. `file` is for messages.
Result<std::vector<Record>> parse_export(std::string_view text, const std::string &file);

}  // namespace kiln
