// Networks: binding weights, and calls of the whole; wrong ones are refused before any memory is touched.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cfenv>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <thread>

#include "runtime/struct_size.h"
#include "tests/runtime/fake_network.h"

namespace kiln {
namespace {

// A run of the fake network in memory of its own.
struct Call {
    explicit Call(const kiln_bound_network &bound_network, const kiln_parallel *parallel = nullptr)
        : bound(bound_network), workspace(1 << 16) {
        arguments.parallel = parallel;
        for (float *values : {y, z}) std::fill(values, values + 4, std::numeric_limits<float>::quiet_NaN());
    }

    kiln_status run() const { return kiln_run_network(&bound, &arguments); }
    bool is_untouched() const { return std::isnan(y[0]) && std::isnan(z[0]) && std::isnan(z[3]); }

    kiln_bound_network bound;
    float a[2] = {1, 2}, b[2] = {3, 4}, y[4], z[4];
    const void *inputs[2] = {a, b};
    void *outputs[2] = {y, z};
    std::vector<char> workspace;
    kiln_network_arguments arguments = {sizeof arguments, inputs,  outputs, workspace.data(),
                                        workspace.size(), nullptr, nullptr};
};

kiln_bound_network bound_to(const FakeNetwork &network, const FakeWeights &weights, uint64_t features = 0) {
    kiln_bound_network bound;
    const kiln_status status = kiln_bind_network_for(*network, &weights, fake_weights_bytes, features, &bound);
    EXPECT_EQ(status.code, KILN_OK) << status.detail;
    return bound;
}

void expect_results(const Call &call, float plain) {
    for (int c = 0; c < 2; c++) {
        const float x = float(c) + 1, of_plain = plain * x;
        EXPECT_EQ(call.y[c], 2 * (x + 100 * x + of_plain) + of_plain) << c;
        EXPECT_EQ(call.z[c], call.b[c] + 1);
        EXPECT_EQ(call.z[2 + c], x + 10 * call.b[c]);
    }
}

TEST(Network, RunsItsStepsInOrderAndInPlace) {
    const FakeNetwork network;
    const FakeWeights weights = fake_weights();
    Call call(bound_to(network, weights));
    ASSERT_EQ(call.run().code, KILN_OK);
    expect_results(call, 0.5);
    ASSERT_EQ(call.run().code, KILN_OK);
    expect_results(call, 0.5);
}

TEST(Network, TakesSubnormalNumbersForZeros) {
    if (!SubnormalsAsZeros::exists) GTEST_SKIP() << "this CPU has no such mode";
    const FakeNetwork network;
    const FakeWeights weights = fake_weights();
    Call call(bound_to(network, weights));
    volatile const float subnormal = 1e-40f, normal = 1;
    call.b[0] = subnormal;
    call.a[0] = 0;
    ASSERT_EQ(call.run().code, KILN_OK);
    EXPECT_EQ(call.z[2], 0) << "0 + 10 b";
    EXPECT_NE(subnormal * normal, 0) << "the mode is the caller's again";
}

TEST(Network, TheFirstVariantThatTheCpuRunsIsTaken) {
    const FakeNetwork network;
    const FakeWeights weights = fake_weights();
    const uint64_t wide = wide_feature | narrow_feature;
    const struct {
        uint64_t features;
        const char *target;
    } cases[] = {{0, "any"}, {narrow_feature, "any"}, {wide, "wide"}, {wide | missing_feature, "other"}};
    for (const auto &c : cases) {
        const kiln_bound_network bound = bound_to(network, weights, c.features);
        EXPECT_STREQ(kiln_bound_variant(&bound)->target, c.target);
    }
    if ((kiln_cpu_features((*network)->package) & wide) == wide) {
        Call call(bound_to(network, weights, wide));
        ASSERT_EQ(call.run().code, KILN_OK);
        expect_results(call, 0.25);
    }
    Call call(bound_to(network, weights, wide | missing_feature));
    EXPECT_EQ(call.run().code, KILN_UNSUPPORTED_CPU);
    EXPECT_TRUE(call.is_untouched());
}

TEST(Network, BadWeightsAreRefused) {
    const FakeNetwork network;
    const struct {
        const char *what;
        std::function<void(FakeWeights &)> spoil;
        size_t bytes;
        int code;
        const char *detail;
    } cases[] = {
        {"no bytes", {}, 0, KILN_BAD_WEIGHTS, "cut"},
        {"a cut magic", {}, 7, KILN_BAD_WEIGHTS, "cut"},
        {"a cut version", {}, 10, KILN_BAD_WEIGHTS, "cut"},
        {"a cut number of sections", {}, 14, KILN_BAD_WEIGHTS, "cut"},
        {"a cut size", {}, 20, KILN_BAD_WEIGHTS, "cut"},
        {"a cut plan", {}, 39, KILN_BAD_WEIGHTS, "cut"},
        {"a cut header", {}, 63, KILN_BAD_WEIGHTS, "cut"},
        {"the header alone", {}, 64, KILN_BAD_WEIGHTS, "cut"},
        {"a cut table", {}, 100, KILN_BAD_WEIGHTS, "cut"},
        {"a byte too few", {}, fake_weights_bytes - 1, KILN_BAD_WEIGHTS, "cut"},
        {"a byte too many", {}, fake_weights_bytes + 1, KILN_BAD_WEIGHTS, "more bytes"},
        {"another magic", [](auto &w) { w.header.magic[0] = 'K'; }, fake_weights_bytes, KILN_BAD_WEIGHTS, "no weights"},
        {"another version", [](auto &w) { w.header.version++; }, fake_weights_bytes, KILN_BAD_WEIGHTS, "version"},
        {"another plan", [](auto &w) { w.header.plan[15]++; }, fake_weights_bytes, KILN_OTHER_WEIGHTS, "another build"},
        {"another size", [](auto &w) { w.header.file_bytes--; }, fake_weights_bytes - 1, KILN_BAD_WEIGHTS, "damaged"},
        {"more sections", [](auto &w) { w.header.section_count++; }, fake_weights_bytes, KILN_BAD_WEIGHTS, "damaged"},
        {"another place", [](auto &w) { w.sections[2].offset++; }, fake_weights_bytes, KILN_BAD_WEIGHTS, "table"},
        {"a reserved byte", [](auto &w) { w.header.reserved[0] = 1; }, fake_weights_bytes, KILN_BAD_WEIGHTS, "table"},
    };
    for (const auto &c : cases) {
        FakeWeights weights = fake_weights();
        if (c.spoil) c.spoil(weights);
        kiln_bound_network bound = {{1, 2, 3}};
        const kiln_status status = kiln_bind_network(*network, &weights, c.bytes, &bound);
        EXPECT_EQ(status.code, c.code) << c.what << ": " << status.detail;
        EXPECT_NE(std::string(status.detail).find(c.detail), std::string::npos) << c.what << ": " << status.detail;
        EXPECT_EQ(bound.memory[1], 2u) << c.what;
    }
}

TEST(Network, WeightsAreAlignedAndThere) {
    FakeNetwork network;
    const FakeWeights weights = fake_weights();
    kiln_bound_network bound;
    alignas(64) static char moved[64 + sizeof weights];
    for (const size_t by : {1, 8, 32}) {
        memcpy(moved + by, &weights, fake_weights_bytes);
        EXPECT_EQ(kiln_bind_network(*network, moved + by, fake_weights_bytes, &bound).code, KILN_BAD_ALIGNMENT) << by;
    }
    EXPECT_EQ(kiln_bind_network(*network, nullptr, 0, &bound).code, KILN_NULL_ARGUMENT);
    EXPECT_EQ(kiln_bind_network(*network, &weights, fake_weights_bytes, nullptr).code, KILN_NULL_ARGUMENT);
    EXPECT_EQ(kiln_bind_network(nullptr, &weights, fake_weights_bytes, &bound).code, KILN_NULL_ARGUMENT);
    network.embed(&weights);
    ASSERT_EQ(kiln_bind_network(*network, nullptr, 0, &bound).code, KILN_OK);
    Call call(bound);
    EXPECT_EQ(call.run().code, KILN_OK);
}

TEST(Network, WrongCallsTouchNothing) {
    const FakeNetwork network;
    const FakeWeights weights = fake_weights();
    const kiln_bound_network bound = bound_to(network, weights);
    const kiln_parallel none = {nullptr, nullptr, 2}, many = {[](void *, int, kiln_task, void *) {}, nullptr, 1025};
    const kiln_observer deaf = {nullptr, nullptr};
    const struct {
        const char *what;
        std::function<void(Call &)> spoil;
        int code, operand, index;
    } cases[] = {
        {"too short", [](Call &c) { c.arguments.struct_size = first_network_arguments_bytes - 1; }, KILN_BAD_VERSION,
         KILN_NO_OPERAND, -1},
        {"too long", [](Call &c) { c.arguments.struct_size++; }, KILN_BAD_VERSION, KILN_NO_OPERAND, -1},
        {"no function", [&](Call &c) { c.arguments.parallel = &none; }, KILN_BAD_THREADS, KILN_NO_OPERAND, -1},
        {"too many", [&](Call &c) { c.arguments.parallel = &many; }, KILN_BAD_THREADS, KILN_NO_OPERAND, -1},
        {"no observer", [&](Call &c) { c.arguments.observer = &deaf; }, KILN_NULL_ARGUMENT, KILN_NO_OPERAND, -1},
        {"no inputs", [](Call &c) { c.arguments.inputs = nullptr; }, KILN_NULL_ARGUMENT, KILN_NO_OPERAND, -1},
        {"no outputs", [](Call &c) { c.arguments.outputs = nullptr; }, KILN_NULL_ARGUMENT, KILN_NO_OPERAND, -1},
        {"null input", [](Call &c) { c.inputs[1] = nullptr; }, KILN_NULL_ARGUMENT, KILN_INPUT, 1},
        {"null output", [](Call &c) { c.outputs[0] = nullptr; }, KILN_NULL_ARGUMENT, KILN_OUTPUT, 0},
        {"odd input", [](Call &c) { c.inputs[0] = reinterpret_cast<char *>(c.a) + 2; }, KILN_BAD_ALIGNMENT, KILN_INPUT,
         0},
        {"odd output", [](Call &c) { c.outputs[1] = reinterpret_cast<char *>(c.z) + 1; }, KILN_BAD_ALIGNMENT,
         KILN_OUTPUT, 1},
        {"no workspace", [](Call &c) { c.arguments.workspace = nullptr; }, KILN_NULL_ARGUMENT, KILN_WORKSPACE, -1},
        {"small workspace",
         [&](Call &c) { c.arguments.workspace_bytes = kiln_network_workspace_bytes(*network, 1) - 1; },
         KILN_BUFFER_TOO_SMALL, KILN_WORKSPACE, -1},
        {"output on input", [](Call &c) { c.outputs[1] = c.b; }, KILN_OVERLAP, KILN_OUTPUT, 1},
        {"output on its input's end", [](Call &c) { c.outputs[0] = c.a + 1; }, KILN_OVERLAP, KILN_OUTPUT, 0},
        {"output on output", [](Call &c) { c.outputs[0] = c.z + 3; }, KILN_OVERLAP, KILN_OUTPUT, 1},
        {"output on workspace", [](Call &c) { c.outputs[0] = c.workspace.data() + 64; }, KILN_OVERLAP, KILN_OUTPUT, 0},
        {"input on workspace", [](Call &c) { c.inputs[1] = c.workspace.data() + 64; }, KILN_OVERLAP, KILN_INPUT, 1},
        {"output on weights", [&](Call &c) { c.outputs[1] = const_cast<float *>(weights.plain); }, KILN_OVERLAP,
         KILN_OUTPUT, 1},
        {"workspace on weights", [&](Call &c) { c.arguments.workspace = const_cast<float *>(weights.plain); },
         KILN_OVERLAP, KILN_WORKSPACE, -1},
    };
    for (const auto &c : cases) {
        Call call(bound);
        c.spoil(call);
        const kiln_status status = call.run();
        EXPECT_EQ(status.code, c.code) << c.what << ": " << status.detail;
        EXPECT_EQ(status.operand, c.operand) << c.what << ": " << status.detail;
        EXPECT_EQ(status.dimension, c.index) << c.what << ": " << status.detail;
        EXPECT_TRUE(call.is_untouched()) << c.what;
    }
    Call call(bound);
    EXPECT_EQ(kiln_run_network(&call.bound, nullptr).code, KILN_NULL_ARGUMENT);
    EXPECT_EQ(kiln_run_network(nullptr, &call.arguments).code, KILN_NULL_ARGUMENT);
    call.bound = {};
    EXPECT_EQ(call.run().code, KILN_NULL_ARGUMENT) << "bound to nothing";
}

TEST(Network, AnObserverHearsOfEachStepOnce) {
    const FakeNetwork network;
    const FakeWeights weights = fake_weights();
    Call call(bound_to(network, weights));
    std::vector<size_t> heard, expected(kiln_bound_variant(&call.bound)->step_count);
    std::iota(expected.begin(), expected.end(), 0);
    const kiln_observer observer = {
        [](void *context, size_t step) { static_cast<std::vector<size_t> *>(context)->push_back(step); }, &heard};
    call.arguments.observer = &observer;
    ASSERT_EQ(call.run().code, KILN_OK);
    EXPECT_EQ(heard, expected);
    expect_results(call, 0.5);
}

// 1 + 1e-9 is 1 where numbers are rounded to nearest.
TEST(Network, TheProgramsModeOfArithmeticIsThatOfItsObserverAlone) {
    if (!SubnormalsAsZeros::exists) GTEST_SKIP() << "on this CPU kernels compute in the program's mode";
    const FakeNetwork network;
    const FakeWeights weights = fake_weights();
    Call call(bound_to(network, weights));
    call.b[0] = call.b[1] = 1e-9f;
    int in_other_modes = 0;
    const kiln_observer observer = {[](void *context, size_t) { *static_cast<int *>(context) += one_and_a_bit() == 1; },
                                    &in_other_modes};
    call.arguments.observer = &observer;
    std::fesetround(FE_UPWARD);
    const kiln_status status = call.run();
    const float after = one_and_a_bit();
    std::fesetround(FE_TONEAREST);
    ASSERT_EQ(status.code, KILN_OK);
    EXPECT_GT(after, 1) << "the mode is the caller's again";
    EXPECT_EQ(in_other_modes, 0);
    EXPECT_EQ(call.z[0], 1);
    EXPECT_EQ(call.z[1], 1);
}

TEST(Network, TakesArgumentsOfTheFirstVersion) {
    const FakeNetwork network;
    const FakeWeights weights = fake_weights();
    Call call(bound_to(network, weights));
    call.arguments.struct_size = first_network_arguments_bytes;
    ASSERT_EQ(call.run().code, KILN_OK);
    expect_results(call, 0.5);
    kiln_network_arguments arguments;
    memset(&arguments, 0x5a, sizeof arguments);
    kiln_network_arguments_init(&arguments);
    EXPECT_EQ(arguments.struct_size, sizeof arguments);
    EXPECT_EQ(arguments.parallel, nullptr);
    EXPECT_EQ(arguments.observer, nullptr) << "an observer that nobody set hears nothing";
}

TEST(Network, InputsMayBeTheSame) {
    const FakeNetwork network;
    const FakeWeights weights = fake_weights();
    Call call(bound_to(network, weights));
    call.inputs[1] = call.a;
    ASSERT_EQ(call.run().code, KILN_OK);
    EXPECT_EQ(call.z[0], 2);
    EXPECT_EQ(call.z[3], 22);
}

TEST(Network, JustItsWorkspaceAtAnyAddressIsEnough) {
    const FakeNetwork network;
    const FakeWeights weights = fake_weights();
    EXPECT_EQ(kiln_network_workspace_bytes(*network, 0), 0u);
    EXPECT_EQ(kiln_network_workspace_bytes(*network, 1025), 0u);
    for (const int threads : {1, 2, 5}) {
        kiln_parallel pool = {};
        ASSERT_EQ(kiln_pool_create((*network)->package, threads, &pool).code, KILN_OK);
        const size_t bytes = kiln_network_workspace_bytes(*network, threads);
        for (const size_t skip : {0, 1, 63}) {
            std::vector<char> exact(skip + bytes);  // the sanitizer sees what lies behind
            Call call(bound_to(network, weights), &pool);
            call.arguments.workspace = exact.data() + skip;
            call.arguments.workspace_bytes = bytes;
            ASSERT_EQ(call.run().code, KILN_OK);
            expect_results(call, 0.5);
        }
        kiln_pool_destroy((*network)->package, &pool);
    }
}

// One step that copies rows of an input to rows that are farther apart, more than one thread copies alone.
TEST(Network, ThreadsShareCopies) {
    constexpr int64_t rows = 3001, from = 10, to = 13;  // floats of a row
    const FakePackage kernels;
    const kiln_package *package = *kernels;
    const NetworkPlace places[] = {{NetworkPlace::input, 0, 0}, {NetworkPlace::output, 0, 0}};
    const NetworkStep step = {nullptr, places, 1, 0, {rows, 4 * from, 4 * from, 4 * to}};
    const NetworkVariant variant = {&step, 1, 0, 0, 64, 64};
    const int64_t input_shape[] = {rows, from}, output_shape[] = {rows, to};
    const kiln_port input = {"x", KILN_F32, 2, input_shape, 4 * rows * from},
                    output = {"y", KILN_F32, 2, output_shape, 4 * rows * to};
    const kiln_network_variant any = {"any", 0, 1};
    const FakeWeights weights = fake_weights();
    const NetworkTable table = {&variant, weights.sections, 3, weights.header};
    const kiln_network_info info = {sizeof info,        "copy", "30",   1, 1, &input, &output, 1, &any,
                                    fake_weights_bytes, 64,     nullptr};
    const kiln_network network = make_network(package, &info, &table);
    kiln_bound_network bound;
    ASSERT_EQ(kiln_bind_network(&network, &weights, fake_weights_bytes, &bound).code, KILN_OK);
    std::vector<float> x(rows * from);
    std::iota(x.begin(), x.end(), 1.0f);
    for (const int threads : {1, 2, 5}) {
        kiln_parallel pool = {};
        ASSERT_EQ(kiln_pool_create(package, threads, &pool).code, KILN_OK);
        std::vector<float> y(rows * to, -1);
        std::vector<char> workspace(kiln_network_workspace_bytes(&network, threads));
        const void *inputs[] = {x.data()};
        void *outputs[] = {y.data()};
        kiln_network_arguments arguments = {};
        arguments.struct_size = sizeof arguments;
        arguments.inputs = inputs, arguments.outputs = outputs;
        arguments.workspace = workspace.data(), arguments.workspace_bytes = workspace.size();
        arguments.parallel = &pool;
        ASSERT_EQ(kiln_run_network(&bound, &arguments).code, KILN_OK);
        int64_t wrong = 0;
        for (int64_t i = 0; i < rows * to; i++) {
            const int64_t row = i / to, column = i % to;
            wrong += y[i] != (column < from ? x[row * from + column] : -1);
        }
        EXPECT_EQ(wrong, 0) << threads;
        int unannounced = threads;
        const kiln_parallel own = {[](void *thread, int count, kiln_task task, void *argument) {
                                       for (int i = 0; i < count; i++) task(argument, i, *static_cast<int *>(thread));
                                   },
                                   &unannounced, threads};
        arguments.parallel = &own;
        const int32_t expected = threads > 1 ? KILN_KERNEL_FAILED : KILN_OK;  // one thread asks no pool for a copy
        EXPECT_EQ(kiln_run_network(&bound, &arguments).code, expected);
        kiln_pool_destroy(package, &pool);
    }
}

TEST(Network, ManyThreadsRunOneBoundNetworkAtOnce) {
    const FakeNetwork network;
    const FakeWeights weights = fake_weights();
    const kiln_bound_network bound = bound_to(network, weights);
    kiln_parallel pool = {};
    ASSERT_EQ(kiln_pool_create((*network)->package, 2, &pool).code, KILN_OK);
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++) {
        threads.emplace_back([&, t] {
            Call call(bound, t % 2 == 0 ? nullptr : &pool);
            for (int i = 0; i < 200; i++) {
                call.b[1] = float(t * 1000 + i);
                if (call.run().code != KILN_OK || call.z[1] != call.b[1] + 1 || call.z[3] != 2 + 10 * call.b[1])
                    wrong++;
            }
        });
    }
    for (std::thread &thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
    kiln_pool_destroy((*network)->package, &pool);
}

TEST(Network, AFileOfWeightsIsMapped) {
    const FakeNetwork network;
    const FakeWeights weights = fake_weights();
    const std::string path = testing::TempDir() + "kiln_network_test_" + std::to_string(getpid()) + ".weights";
    FILE *file = fopen(path.c_str(), "wb");
    ASSERT_NE(file, nullptr);
    fwrite(&weights, 1, fake_weights_bytes, file);
    fclose(file);
    kiln_weights mapped;
    ASSERT_EQ(kiln_map_weights(*network, path.c_str(), &mapped).code, KILN_OK);
    EXPECT_EQ(mapped.bytes, fake_weights_bytes);
    kiln_bound_network bound;
    ASSERT_EQ(kiln_bind_network(*network, mapped.data, mapped.bytes, &bound).code, KILN_OK);
    Call call(bound);
    ASSERT_EQ(call.run().code, KILN_OK);
    kiln_unmap_weights(*network, &mapped);
    EXPECT_EQ(mapped.data, nullptr);
    kiln_unmap_weights(*network, &mapped);
    fclose(fopen(path.c_str(), "wb"));
    for (const std::string &bad : {path, path + ".none", testing::TempDir(), std::string("/dev/null")}) {
        EXPECT_EQ(kiln_map_weights(*network, bad.c_str(), &mapped).code, KILN_CANNOT_READ) << bad;
        EXPECT_EQ(mapped.data, nullptr);
    }
    EXPECT_EQ(kiln_map_weights(*network, nullptr, &mapped).code, KILN_NULL_ARGUMENT);
    remove(path.c_str());
}

}  // namespace
}  // namespace kiln
