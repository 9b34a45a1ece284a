// Manifests of conformance suites, of any bytes. All tensors may be the file x.npy, which is there. A case that becomes a
// workload has one that is valid, and its files hold what the manifest says or are refused.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "check/conformance_suite.h"
#include "check/npy.h"
#include "tests/fuzz/fuzz_input.h"
#include "workload/workload_checks.h"

using namespace kiln;

namespace {

// A folder with x.npy, a 1x2x2x1 tensor of zeros, for as long as the process.
class SuiteFolder {
public:
    SuiteFolder() {
        char name[] = "/tmp/kiln-suite-fuzz-XXXXXX";
        KILN_FUZZ_EXPECT(mkdtemp(name) != nullptr);
        path_ = name;
        KILN_FUZZ_EXPECT(write_npy(path_ + "/x.npy", {"<f4", {1, 2, 2, 1}, std::vector<std::byte>(16)}).ok());
    }
    ~SuiteFolder() { std::filesystem::remove_all(path_); }

    std::string manifest() const { return path_ + "/suite.json"; }

private:
    std::string path_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const SuiteFolder folder;
    const Result<ConformanceSuite> suite = parse_conformance_suite(FuzzInput(data, size).rest(), folder.manifest());
    if (!suite) {
        KILN_FUZZ_EXPECT(suite.error().message.starts_with(folder.manifest()));
        return 0;
    }
    for (const ConformanceCase &c : suite->cases) {
        KILN_FUZZ_EXPECT(c.workload || !c.reason.empty());
        if (!c.workload) continue;
        KILN_FUZZ_EXPECT(validate(*c.workload).ok());
        const Result<Operands> operands = read_operands(c);
        const Result<Tensor> expected = read_expected(c);
        KILN_FUZZ_EXPECT(!operands || operands->first.data.empty() || operands->first.data.size() == 16);
        KILN_FUZZ_EXPECT(!expected || expected->data.size() == 16);
    }
    return 0;
}
