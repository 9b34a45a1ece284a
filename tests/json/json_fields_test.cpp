#include "json/json_fields.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

namespace kiln {
namespace {

const Json document =
    Json::parse(R"({"text": "a", "flag": true, "half": 0.5, "large": 5000000000, "beyond": 9223372036854775808,
    "nothing": null, "list": [1, 2], "mixed": [1, "2"], "object": {"inner": 3, "empty": ""}, "not": [{}]})");

TEST(JsonFields, ReadsWhatFits) {
    FieldProblem problem;
    JsonFields fields(document, "m.json: ", &problem);
    EXPECT_EQ(fields.get<std::string>("text"), "a");
    EXPECT_TRUE(fields.get<bool>("flag"));
    EXPECT_EQ(fields.get<double>("half"), 0.5);
    EXPECT_EQ(fields.get<int64_t>("large"), 5000000000);
    EXPECT_EQ(fields.get<std::vector<int>>("list"), (std::vector<int>{1, 2}));
    EXPECT_EQ(fields.get<std::optional<double>>("nothing"), std::nullopt);
    EXPECT_EQ(fields.get<std::optional<double>>("half"), 0.5);
    EXPECT_EQ(fields.get_or<int64_t>("absent", 7), 7);
    EXPECT_EQ(fields.get_or<int64_t>("large", 7), 5000000000);
    EXPECT_EQ(fields.object("object").get<int>("inner"), 3);
    EXPECT_FALSE(fields.object_or_null("nothing").has_value());
    EXPECT_EQ(fields.list("list").size(), 2u);
    fields.object("object").allow_only({"inner", "empty"});
    EXPECT_FALSE(problem) << *problem;
}

TEST(JsonFields, NameWhereAndWhatIsNeeded) {
    const struct {
        std::function<void(JsonFields &)> read;
        const char *message;
    } rows[] = {
        {[](auto &f) { f.template get<std::string>("absent"); }, "m.json: absent: is missing"},
        {[](auto &f) { f.template get<std::string>("flag"); }, "m.json: flag: needs a text; got true"},
        {[](auto &f) { f.template get<bool>("text"); }, "m.json: text: needs true or false; got \"a\""},
        {[](auto &f) { f.template get<double>("text"); }, "m.json: text: needs a number; got \"a\""},
        {[](auto &f) { f.template get<int64_t>("half"); }, "m.json: half: needs a whole number; got 0.5"},
        {[](auto &f) { f.template get<int64_t>("beyond"); },
         "m.json: beyond: needs a whole number; got 9223372036854775808"},
        {[](auto &f) { f.template get<int>("large"); },
         "m.json: large: needs an integer from -2147483648 to 2147483647; got 5000000000"},
        {[](auto &f) { f.template get<std::optional<bool>>("text"); }, "m.json: text: needs true or false; got \"a\""},
        {[](auto &f) { f.template get<std::vector<int>>("mixed"); },
         "m.json: mixed: needs an integer from -2147483648 to 2147483647; got \"2\""},
        {[](auto &f) { f.template get<std::vector<int>>("text"); }, "m.json: text: needs a list; got \"a\""},
        {[](auto &f) { f.object("absent"); }, "m.json: absent: is missing"},
        {[](auto &f) { f.object("list"); }, "m.json: list: needs an object; got [1,2]"},
        {[](auto &f) { f.object("object").template get<int>("x"); }, "m.json: object: x: is missing"},
        {[](auto &f) { f.object("object").template get<std::string>("empty", read_text); },
         "m.json: object: empty: needs a text of printable characters; got \"\""},
        {[](auto &f) { f.object_or_null("list"); }, "m.json: list: needs an object or null; got [1,2]"},
        {[](auto &f) { f.object_or_null("absent"); }, "m.json: absent: is missing"},
        {[](auto &f) { f.list("object"); }, "m.json: object: needs a list; got {\"inner\":3,\"empty\":\"\"}"},
        {[](auto &f) {
             f.object("object").allow_only({"a", "inner"});
         },
         "m.json: object: empty: unknown field; allowed are a, inner"},
    };
    for (const auto &row : rows) {
        FieldProblem problem;
        JsonFields fields(document, "m.json: ", &problem);
        row.read(fields);
        ASSERT_TRUE(problem) << row.message;
        EXPECT_EQ(*problem, row.message);
        fields.get<int>("another");
        EXPECT_EQ(*problem, row.message) << "the first problem stays";
    }
    FieldProblem problem;
    JsonFields fields(Json(3), "m.json: ", &problem);
    EXPECT_EQ(fields.get<int>("x"), 0);
    EXPECT_EQ(*problem, "m.json: needs an object; got 3");
}

TEST(JsonValue, ReadsNames) {
    const auto parse = [](std::string_view text) { return text == "one" ? std::optional(1) : std::nullopt; };
    int value = 0;
    EXPECT_FALSE(read_name("one", parse, "one of one", &value));
    EXPECT_EQ(value, 1);
    EXPECT_EQ(*read_name("two", parse, "one of one", &value), "needs one of one; got \"two\"");
    EXPECT_EQ(*read_name(1, parse, "one of one", &value), "needs one of one; got 1");
}

TEST(JsonValue, LongOnesAreCutInMessages) {
    const FieldProblem problem = expected("a number", std::string(1000, 'x'));
    EXPECT_LT(problem->size(), 90u);
    EXPECT_TRUE(problem->ends_with("...")) << *problem;
}

TEST(JsonText, RefusesWhatIsNoJsonOrTooDeep) {
    EXPECT_EQ(parse_json("[[1]]", 2)->dump(), "[[1]]");
    EXPECT_EQ(parse_json("[[1]]", 1).error().message, "is nested more than 1 levels deep");
    EXPECT_EQ(parse_json(std::string(1'000'000, '['), 64).error().message, "is nested more than 64 levels deep");
    EXPECT_TRUE(parse_json("{\n \"a\":,", 9).error().message.starts_with("not JSON: parse error at line 2, column 6"))
        << parse_json("{\n \"a\":,", 9).error().message;
    EXPECT_FALSE(parse_json("", 9).ok());
}

}  // namespace
}  // namespace kiln
