// The text whose hash is a record's content id; content_id.h defines it. Made from the record's list of fields
// (record_fields.h), also for a field that comes later.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "records/record_fields.h"

namespace kiln {

// How the text of one kind of record begins, and the order in which it names the fields that were there when its ids
// were frozen. Fields that came later follow in the order of the list of fields: nothing is added here for them.
struct ContentForm {
    std::string_view head;
    std::span<const std::string_view> order;
};
extern const ContentForm measurement_content, trial_content, race_content;

class ContentText {
public:
    template<typename T>
    void operator()(std::string_view name, const T &value, Presence presence) {
        if (presence == Presence::required || value != T()) add(name, text_of(value));
    }
    void operator()(std::string_view name, const std::vector<RaceEntry> &entries, Presence);

    std::string in_order(std::span<const std::string_view> order) const;

private:
    void add(std::string_view name, const std::string &value);  // nothing where the value is empty

    static std::string text_of(const std::string &text) { return text; }
    static std::string text_of(int64_t value);
    static std::string text_of(int value) { return text_of(int64_t{value}); }
    static std::string text_of(double value);
    static std::string text_of(const std::vector<double> &values);
    template<typename T>
    static std::string text_of(const std::optional<T> &value) {
        return value ? text_of(*value) : "";
    }
    template<typename Enumeration>
    requires std::is_enum_v<Enumeration>
    static std::string text_of(Enumeration value) { return std::string(name(value)); }

    std::vector<std::pair<std::string_view, std::string>> fields_;  // name, text with the name
};

template<typename Stored>
std::string content_text(const ContentForm &form, const Stored &record) {
    ContentText fields;
    visit_fields(fields, record);
    return std::string(form.head) + '\n' + fields.in_order(form.order);
}

}  // namespace kiln
