// The fields of a JSON object from outside. The first problem of any object is kept, and every later read answers an
// empty value. So reading code is a list of fields, and the owner of the problem looks at it once, at the end.
//
//   FieldProblem problem;
//   JsonFields fields(json, "m.json: ", &problem);
//   const auto name = fields.get<std::string>("name");
//   if (problem) return bad_input(*problem);        // "m.json: name: needs a text; got 3"
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

#include "json/json_value.h"

namespace kiln {

class JsonFields {
public:
    // Problems start with `where`, which includes the separator. A value that is no object is a problem, too.
    JsonFields(const Json &object, std::string where, FieldProblem *problem);

    std::vector<std::string> names() const;
    bool has(std::string_view name) const { return object_.contains(name); }
    bool ok() const { return !*problem_; }

    // A field that must be there, read by its type's read_value(), or by `read(value, &result)`.
    template<typename T>
    T get(std::string_view name) {
        return get<T>(name, [](const Json &value, T *result) { return read_value(value, result); });
    }
    template<typename T, typename Read>
    requires std::is_invocable_v<Read, const Json &, T *> T get(std::string_view name, const Read &read) {
        T result{};
        if (const Json *value = find(name)) {
            if (FieldProblem p = read(*value, &result)) {
                fail(name, *p);
                result = T{};
            }
        }
        return result;
    }
    // The same without a result: `read(value)` answers the problem.
    template<typename Read>
    void read(std::string_view name, const Read &read) {
        const Json *value = find(name);
        if (!value) return;
        if (FieldProblem p = read(*value)) fail(name, *p);
    }
    // A field that may be left out: then `otherwise`.
    template<typename T>
    T get_or(std::string_view name, T otherwise) {
        return has(name) ? get<T>(name) : otherwise;
    }

    JsonFields object(std::string_view name);                         // must be there
    std::optional<JsonFields> object_or_null(std::string_view name);  // must be there, perhaps as null
    const Json &list(std::string_view name);                          // must be there; the empty list where it is not

    // Refuses a field that is not among these.
    void allow_only(std::initializer_list<std::string_view> names);

    void fail(std::string_view name, std::string_view problem);

private:
    const Json *find(std::string_view name);

    const Json &object_;
    std::string where_;
    FieldProblem *problem_;
};

}  // namespace kiln
