// JSON leaves open what a repeated field means, and parsers keep the last; a file that says two things is refused. One of
// these goes along with parse_json().
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "json/json_value.h"

namespace kiln {

class RepeatedField {
public:
    bool operator()(int depth, Json::parse_event_t event, Json &value);

    bool found() const { return !name_.empty(); }
    const std::string &name() const { return name_; }  // of the first one
    const std::string &path() const { return path_; }  // with the objects around it: "data_cache: bytes"
    // Where it is in an entry of a list of the document's: the index of that.
    std::optional<size_t> entry() const { return entry_; }

private:
    struct Object {
        std::set<std::string> fields;
        std::string last;
    };
    std::vector<Object> objects_;
    size_t entries_ = 0;
    std::string name_, path_;
    std::optional<size_t> entry_;
};

}  // namespace kiln
