// Every case of a conformance suite that a package can serve, through the C interface of one package that holds the
// kernels of all of them. The package is written by the functions behind `kiln build`.
//
// KILN_TEST_EVERY n takes every n-th case, the seed says which ones; 1 all of them.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>

#include "check/conformance_check.h"
#include "package/package_kernels.h"
#include "tests/build_paths.h"
#include "tests/generators/built_kernels.h"
#include "tests/package/guarded_call.h"
#include "tuner/runner/loaded_package.h"

namespace kiln {
namespace {

size_t stride_of_sample() {
    const char *every = std::getenv("KILN_TEST_EVERY");
    return every ? std::max(1, std::atoi(every)) : 3;
}

class PackageConformance : public BuiltKernels {
protected:
    // Every case gets a kernel; with a glob of algorithms those that one of them applies to, and one of these.
    void check(const std::string &name, const std::string &algorithms = "*") {
        const auto suite = read_conformance_suite(source_dir() + "/tests/conformance/" + name + ".json");
        ASSERT_TRUE(suite) << suite.error().message;
        std::vector<const ConformanceCase *> cases, sample;
        for (const ConformanceCase &c : suite->cases) {
            ASSERT_TRUE(c.workload) << c.id << ": " << c.reason;
            // A package has no kernel for a result without elements: there is nothing to compute.
            if (elements(c.expected.shape) == 0) continue;
            if (algorithms == "*" || is_computed(*c.workload, algorithms)) cases.push_back(&c);
        }
        ASSERT_FALSE(cases.empty()) << algorithms;
        const size_t stride = std::min(stride_of_sample(), cases.size());
        for (size_t i = test_seed() % stride; i < cases.size(); i += stride) sample.push_back(cases[i]);
        const auto package = make_package(name, sample, algorithms);
        ASSERT_TRUE(package) << package.error().message;
        size_t ran = 0;
        for (const ConformanceCase *c : sample) ran += check(*package, *c);
        EXPECT_EQ(ran, sample.size());
        std::cerr << name << ": " << ran << " of " << suite->cases.size() << " cases ran\n";
    }

private:
    CollectEnvironment environment(const std::string &algorithms) const {
        // Algorithms that nobody would choose for a layer may have larger errors there. The suite says how large.
        return {.builder = *builder_,
                .runner = *runner_,
                .machine = machine_,
                .algorithms = {.algorithm = algorithms},
                .error_budget = algorithms == "*" ? default_error_budget : 1e-3,
                .interrupted = [] { return false; }};
    }

    bool is_computed(const Workload &workload, const std::string &algorithms) const {
        const Target target{machine_.halide_target, 1};
        const CollectEnvironment environment = this->environment(algorithms);
        const auto usable = usable_algorithms(workload, context_of(target, environment));
        return usable && !usable->empty();
    }

    Result<LoadedPackage> make_package(const std::string &name, const std::vector<const ConformanceCase *> &cases,
                                       const std::string &algorithms) {
        std::vector<NamedWorkload> workloads;
        for (const ConformanceCase *c : cases) workloads.push_back({name, c->id, 1, *c->workload});
        Package package{.name = "suite_" + name, .toolchain = builder_->toolchain()};
        const CollectEnvironment environment = this->environment(algorithms);
        // Every other kernel has parallel loops.
        int threads = 1;
        for (const NamedWorkload &workload : merge_equal(workloads)) {
            threads = 3 - threads;
            auto collected = collect_kernels({workload}, {{machine_.halide_target, threads}}, environment,
                                             [](const KernelReport &) {});
            if (!collected) return collected.error();
            const KernelReport &report = collected->reports[0];
            EXPECT_EQ(report.source, KernelSource::untuned) << workload.name << ": " << report.message;
            for (PackagedKernel &kernel : collected->kernels) package.kernels.push_back(std::move(kernel));
        }
        const std::filesystem::path build = std::filesystem::path(binary_dir()).parent_path();
        if (*KILN_TEST_LINK_FLAGS) setenv("CXX", "c++ " KILN_TEST_LINK_FLAGS, 1);
        const std::string folder = folder_->path() + "/" + package.name;
        const PackageParts parts{KILN_TEST_RUNTIME, build / "include/kiln", folder_->path()};
        if (Status s = write_package(package, parts, folder); !s) return s.error();
        return LoadedPackage::load(folder + "/lib/lib" + package.name + ".so");
    }

    // Whether the package has a kernel for the case.
    static bool check(const LoadedPackage &package, const ConformanceCase &c) {
        const kiln_kernel *kernel = nullptr;
        const int32_t found = kiln_find_key(*package, key(*c.workload).c_str(), &kernel).code;
        if (found == KILN_NOT_FOUND) return false;
        EXPECT_EQ(found, KILN_OK) << c.id;
        const auto operands = read_operands(c);
        const auto expected = read_expected(c);
        EXPECT_TRUE(operands && expected) << c.id << ": its files cannot be read";
        if (kernel == nullptr || !operands || !expected) return true;
        const std::string candidate = kiln_info(kernel)->candidate;
        const Tolerance tolerance = required_tolerance(c, candidate.substr(0, candidate.find('@')));
        for (const Placement placement : {Placement::end_at_guard, Placement::start_at_guard}) {
            for (const int threads : {1, 2}) {
                const std::string what = c.id + (placement == Placement::end_at_guard ? ", ends" : ", begins") +
                                         " at a guard, " + std::to_string(threads) + " threads, " + candidate;
                std::cerr << what << std::endl;  // a crash comes after the line that names it
                const auto got = run({*package, *c.workload, *operands, placement, threads});
                EXPECT_TRUE(got) << what << ": " << got.error().message;
                if (!got) continue;
                const Verdict verdict = judge(*got, *expected, tolerance);
                EXPECT_TRUE(verdict.passed || !c.judged) << what << ": " << verdict.reason;
            }
        }
        return true;
    }
};

TEST_F(PackageConformance, XlaConv) { check("xla_conv"); }
TEST_F(PackageConformance, Int8Conv) { check("int8_conv"); }
TEST_F(PackageConformance, Layout) { check("layout"); }
TEST_F(PackageConformance, SpaceToDepth) { check("space_to_depth"); }
TEST_F(PackageConformance, Winograd) { check("winograd"); }

// Not the defaults: with other packed and prepared forms and more scratch memory.
TEST_F(PackageConformance, WinogradForced) {
    for (const char *algorithm : {"winograd_2", "winograd_6"}) check("winograd", algorithm);
}
TEST_F(PackageConformance, SpaceToDepthForced) { check("xla_conv", "space_to_depth*"); }

// What packages cannot serve yet; the numbers fall when they can.
TEST(PackageConformanceSuites, CasesWithoutWordsAreCounted) {
    for (const auto &[name, count] : std::map<std::string, int64_t>{{"int8_conv", 0}, {"onnx_graph", 8}}) {
        const auto suite = read_conformance_suite(source_dir() + "/tests/conformance/" + name + ".json");
        ASSERT_TRUE(suite) << suite.error().message;
        int64_t without_words = 0;
        for (const ConformanceCase &c : suite->cases) without_words += !c.workload;
        EXPECT_EQ(without_words, count) << name;
    }
}

}  // namespace
}  // namespace kiln
