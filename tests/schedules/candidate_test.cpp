// Candidate texts are in every database and package: the texts in this file never change.
#include "schedules/candidate.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(Candidate, TextIsFrozen) {
    Candidate c;
    c.algorithm = "direct";
    c.schedule = "cpu_tile";
    EXPECT_EQ(to_text(c), "direct@1/cpu_tile@1");
    c.algorithm_version = 2;
    c.knobs = {{"vectors", 2}, {"pixels", 14}, {"offset", -3}};
    EXPECT_EQ(to_text(c), "direct@2/cpu_tile@1/offset:-3/pixels:14/vectors:2");
    const auto parsed = parse_candidate(to_text(c));
    ASSERT_TRUE(parsed);
    EXPECT_EQ(*parsed, c);
    EXPECT_EQ(parsed->knobs.at("pixels"), 14);
    EXPECT_FALSE(parsed->knobs.contains("spread"));  // left out where it does not apply
}

TEST(Candidate, RefusesMalformedText) {
    for (const char *text :
         {"", "direct", "direct@1", "direct/cpu@1", "direct@0/cpu@1", "direct@1/cpu", "Direct@1/cpu@1",
          "direct@1/cpu@1/", "direct@1/cpu@1/a", "direct@1/cpu@1/a:", "direct@1/cpu@1/:1", "direct@1/cpu@1/a:1/a:1",
          "direct@1/cpu@1/a:1x", "direct@1/cpu@1/a b:1", "direct@1x/cpu@1", "direct@1/cpu@1/a:99999999999999999999"}) {
        EXPECT_FALSE(parse_candidate(text)) << text;
    }
}

}  // namespace
}  // namespace kiln
