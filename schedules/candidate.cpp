#include "schedules/candidate.h"

#include <charconv>
#include <optional>

#include "text/excerpt.h"

namespace kiln {
namespace {

bool is_name(std::string_view text) {
    return !text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos;
}

template<typename T>
std::optional<T> parse_number(std::string_view text) {
    T value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

bool parse_versioned(std::string_view text, std::string *name, int *version) {
    const size_t at = text.find('@');
    if (at == std::string_view::npos || !is_name(text.substr(0, at))) return false;
    const auto number = parse_number<int>(text.substr(at + 1));
    if (!number || *number < 1) return false;
    *name = text.substr(0, at);
    *version = *number;
    return true;
}

}  // namespace

std::string to_text(const Candidate &c) {
    std::string text = c.algorithm + "@" + std::to_string(c.algorithm_version) + "/" + c.schedule + "@" +
                       std::to_string(c.schedule_version);
    for (const auto &[name, value] : c.knobs) text += "/" + name + ":" + std::to_string(value);
    return text;
}

Result<Candidate> parse_candidate(std::string_view text) {
    const std::string where = "candidate `" + excerpt(text) + "`: ";
    Candidate candidate;
    for (int part = 0;; part++) {
        const size_t slash = text.find('/');
        const std::string_view item = text.substr(0, slash);
        if (part == 0) {
            if (!parse_versioned(item, &candidate.algorithm, &candidate.algorithm_version)) {
                return bad_input(where + "must begin with algorithm@version");
            }
        } else if (part == 1) {
            if (!parse_versioned(item, &candidate.schedule, &candidate.schedule_version)) {
                return bad_input(where + "needs schedule@version after the algorithm");
            }
        } else {
            const size_t colon = item.find(':');
            const auto value =
                colon == std::string_view::npos ? std::nullopt : parse_number<int64_t>(item.substr(colon + 1));
            if (!is_name(item.substr(0, colon)) || !value) {
                return bad_input(where + "`" + excerpt(item) + "` is not knob:integer");
            }
            if (!candidate.knobs.emplace(item.substr(0, colon), *value).second) {
                return bad_input(where + "knob `" + excerpt(item.substr(0, colon)) + "` is there twice");
            }
        }
        if (slash == std::string_view::npos) {
            if (part == 0) return bad_input(where + "needs schedule@version after the algorithm");
            return candidate;
        }
        text.remove_prefix(slash + 1);
    }
}

}  // namespace kiln
