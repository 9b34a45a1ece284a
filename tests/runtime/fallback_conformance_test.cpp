// What other implementations computed: every convolution and gradient of the suites through the fallback.
#include "check/conformance_suite.h"
#include "tests/build_paths.h"
#include "tests/runtime/fallback_call.h"

namespace kiln {
namespace {

bool is_served(const Workload &w) { return is_convolution(w.op); }

TEST(FallbackConformance, EveryConvolutionOfTheSuitesPasses) {
    struct Row {
        const char *suite;
        int judged;
    };
    const Row rows[] = {{"xla_conv", 151}, {"winograd", 24}, {"space_to_depth", 15}, {"int8_conv", 41}};
    const FallbackPackage package;
    for (const Row &row : rows) {
        const auto suite = read_conformance_suite(source_dir() + "/tests/conformance/" + row.suite + ".json");
        ASSERT_TRUE(suite) << suite.error().message;
        int judged = 0;
        for (const ConformanceCase &c : suite->cases) {
            if (!c.workload || !is_served(*c.workload)) continue;
            const auto operands = read_operands(c);
            const auto expected = read_expected(c);
            ASSERT_TRUE(operands && expected) << c.id;
            FallbackCall call(*package, *c.workload, *operands);
            ASSERT_NE(call.kernel, nullptr) << c.id << ": " << call.made.detail;
            const kiln_status status = call.run();
            ASSERT_EQ(status.code, KILN_OK) << c.id << ": " << status.detail;
            if (!c.judged) continue;
            judged++;
            const Verdict verdict = judge(call.output, *expected, c.tolerance);
            EXPECT_TRUE(verdict.passed) << c.id << ": " << verdict.reason;
        }
        EXPECT_GE(judged, row.judged) << row.suite;
        RecordProperty(row.suite, judged);
    }
}

}  // namespace
}  // namespace kiln
