#include "json/repeated_field.h"

namespace kiln {

bool RepeatedField::operator()(int depth, Json::parse_event_t event, Json &value) {
    if (event == Json::parse_event_t::object_start) {
        objects_.emplace_back();
        if (depth == 2) entries_++;
    } else if (event == Json::parse_event_t::object_end) {
        objects_.pop_back();
    } else if (event == Json::parse_event_t::key) {
        Object &object = objects_.back();
        object.last = value.get<std::string>();
        if (object.fields.insert(object.last).second || found()) return true;
        name_ = object.last;
        for (const Object &around : objects_) path_ += (path_.empty() ? "" : ": ") + around.last;
        if (objects_.size() > 1) entry_ = entries_ - 1;
    }
    return true;
}

}  // namespace kiln
