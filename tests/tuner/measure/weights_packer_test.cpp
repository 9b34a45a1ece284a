// Weights packed ahead of time by a kernel's own function, in the real measuring process.
#include "tuner/measure/weights_packer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <vector>

#include "runtime/subnormals_as_zeros.h"
#include "tests/build_paths.h"
#include "tuner/process/temporary_folder.h"

namespace kiln {
namespace {

std::vector<float> floats_in(const std::string &path, size_t count) {
    std::vector<float> numbers(count);
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char *>(numbers.data()), std::streamsize(count * sizeof(float)));
    EXPECT_EQ(file.gcount(), std::streamsize(count * sizeof(float)));
    return numbers;
}

// As the same function does it in a program's kiln_pack(), and did when the kernel was judged.
TEST(WeightsPacker, PacksInTheModeOfArithmeticOfKernels) {
    if (!SubnormalsAsZeros::exists) GTEST_SKIP() << "this CPU has no such mode";
    const Result<TemporaryFolder> folder = TemporaryFolder::create();
    ASSERT_TRUE(folder.ok()) << folder.error().message;
    ProcessRunnerOptions options;
    options.executable = binary_dir() + "/kiln-runner";
    options.work_folder = folder->path();
    options.time_limit_ns = 10'000'000'000;
    options.memory_limit_bytes = 256 << 20;
    constexpr size_t count = 3 * 3 * 4 * 8;
    std::vector<float> weights(count, 1);
    weights[1] = std::numeric_limits<float>::min();
    const std::string plain = folder->path() + "/plain", packed = folder->path() + "/packed";
    std::ofstream(plain, std::ios::binary).write(reinterpret_cast<const char *>(weights.data()), count * sizeof(float));

    PackRequest request;
    request.workload = convolution({2, 5, 6, 4}, {3, 3, 4, 8});
    request.artifact.shared_object_path = KILN_TEST_KERNELS "/packs_halves.so";
    request.artifact.packed_bytes = count * sizeof(float);
    request.weights = plain;
    request.packed = packed;
    ProcessWeightsPacker packer(options);
    const auto done = packer.pack(request);
    ASSERT_TRUE(done.ok()) << done.error().message;
    ASSERT_TRUE(done->ok()) << done->failure().message;
    const std::vector<float> made = floats_in(packed, count);
    EXPECT_EQ(made[0], 0.5f);
    EXPECT_EQ(made[1], 0) << "a subnormal number was left";
}

}  // namespace
}  // namespace kiln
