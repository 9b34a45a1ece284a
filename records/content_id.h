// Content ids: a record is named by a hash of what it says, so that the same record has the same name in every database
// and merging two of them never doubles one.
//
//   id     := 32 hex digits, XXH3 with 128 bits over text
//   text   := "kiln trial 1\n" *field | "kiln measurement 1\n" *field | "kiln race 1\n" *field
//   field  := name ":" decimal length of value in bytes ":" value "\n"      in the order of content_text.cpp
//
// An integer is decimal; a real is its IEEE 754 bits in 16 hex digits, a list of reals those of its elements one after
// the other. A field that is unset or empty is left out, so a field added later leaves existing ids as they are. A
// trial's text names its measurement by id, a race's its trials; a race's entries follow one after the other, in order
// of places. Frozen by tests/database/content_id_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "records/race.h"
#include "records/trial.h"

namespace kiln {

std::string content_id(const Measurement &measurement);

// All fields but the id; `measurement_id` is empty where the trial has none.
std::string content_id(const Trial &trial, std::string_view measurement_id);

// All fields but the id.
std::string content_id(const Race &race);

// A digest of a set of records, given by their ids in ascending order: XXH3 with 128 bits over "kiln database 1\n" and
// each id with "\n".
std::string digest_of_ids(const std::vector<std::string> &ids);

}  // namespace kiln
