#include "records/sample_list.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kiln {
namespace {

TEST(SampleList, ReadsBackBitForBit) {
    const std::vector<double> samples = {1, 1500.25, 0.1, 1e300, 5e-324, 123456789.123456789, 9007199254740993.0};
    EXPECT_EQ(parse_sample_list(sample_list_text(samples)), samples);
    EXPECT_EQ(sample_list_text({1500, 0.5, 1e20}), "[1500,0.5,1e+20]");
}

TEST(SampleList, RefusesWhatIsNoListOfNumbers) {
    for (const char *text : {"", "1", "{}", "[1,", "[\"1\"]", "[null]", "[[1]]"}) {
        EXPECT_FALSE(parse_sample_list(text)) << text;
    }
}

TEST(SampleList, KnowsWhatATimeCanBe) {
    EXPECT_TRUE(are_samples({1, 0.5}));
    EXPECT_FALSE(are_samples({}));
    for (double bad : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
        EXPECT_FALSE(are_samples({1, bad})) << bad;
    }
}

}  // namespace
}  // namespace kiln
