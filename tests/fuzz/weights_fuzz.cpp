// Files of any bytes where NAME.weights should be. The input overwrites the file that belongs to a network here and there and
// cuts it off or lengthens it; without an overwrite it is the file itself. What is bound is that file, with any bytes in its
// sections, and the network runs with them; what is refused leaves the caller's memory as it was.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz_input.h"
#include "tests/runtime/fake_network.h"

using namespace kiln;

namespace {

// Header and table, all that binding reads.
constexpr size_t checked_bytes = offsetof(FakeWeights, sections) + sizeof(FakeWeights::sections);

std::vector<char> right_file() {
    const FakeWeights weights = fake_weights();
    std::vector<char> file(fake_weights_bytes);
    std::memcpy(file.data(), &weights, file.size());
    return file;
}

// A number of overwrites, each an offset, a length and bytes; then how the length changes. None: the bytes as they are.
std::vector<char> take_file(FuzzInput &input) {
    const int overwrites = input.take<uint8_t>() % 8;
    if (overwrites == 0) {
        const std::string bytes = input.rest();
        return {bytes.begin(), bytes.end()};
    }
    std::vector<char> file = right_file();
    file.resize(std::max(0, static_cast<int>(file.size()) + input.take<int16_t>() % 512));
    for (int n = 1; n < overwrites && !file.empty(); n++) {
        const size_t offset = input.take<uint16_t>() % file.size();
        const size_t length = std::min<size_t>(1 + input.take<uint8_t>() % 8, file.size() - offset);
        const auto bytes = input.take<uint64_t>();
        std::memcpy(file.data() + offset, &bytes, length);
    }
    return file;
}

// A file in memory, which the system removes.
class File {
public:
    explicit File(const std::vector<char> &bytes) : descriptor_(memfd_create("weights", MFD_CLOEXEC)) {
        KILN_FUZZ_EXPECT(descriptor_ >= 0);
        KILN_FUZZ_EXPECT(write(descriptor_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    }
    File(const File &) = delete;
    ~File() { close(descriptor_); }
    std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

private:
    int descriptor_;
};

// Memory of just these bytes, so that AddressSanitizer sees what is read beyond; a mapping has whole pages.
class Block {
public:
    explicit Block(const std::vector<char> &bytes) : bytes_(bytes.size()) {
        KILN_FUZZ_EXPECT(posix_memalign(&data_, weights_alignment, bytes_) == 0);
        std::memcpy(data_, bytes.data(), bytes_);
    }
    Block(const Block &) = delete;
    ~Block() { std::free(data_); }
    kiln_weights weights() const { return {data_, bytes_}; }

private:
    void *data_ = nullptr;
    size_t bytes_;
};

bool is_right(const std::vector<char> &file) {
    const std::vector<char> right = right_file();
    return file.size() == right.size() && std::memcmp(file.data(), right.data(), checked_bytes) == 0;
}

void run(const kiln_network *network, const kiln_bound_network &bound) {
    const float a[2] = {1, 2}, b[2] = {3, 4};
    float y[2], z[4];
    const void *inputs[] = {a, b};
    void *outputs[] = {y, z};
    std::vector<char> workspace(kiln_network_workspace_bytes(network, 1));
    const kiln_network_arguments arguments = {sizeof arguments, inputs,  outputs, workspace.data(),
                                              workspace.size(), nullptr, nullptr};
    KILN_FUZZ_EXPECT(kiln_run_network(&bound, &arguments).code == KILN_OK);
    KILN_FUZZ_EXPECT(z[0] == b[0] + 1 && z[3] == a[1] + 10 * b[1]);
}

void bind(const kiln_network *network, const kiln_weights &weights, bool is_right) {
    kiln_bound_network bound;
    std::memset(&bound, 0x3c, sizeof bound);
    const kiln_bound_network before = bound;
    const kiln_status status = kiln_bind_network_for(network, weights.data, weights.bytes, 0, &bound);
    KILN_FUZZ_EXPECT(status.detail != nullptr && *status.detail != 0);
    KILN_FUZZ_EXPECT((status.code == KILN_OK) == is_right);
    if (is_right) {
        run(network, bound);
        return;
    }
    KILN_FUZZ_EXPECT(status.code == KILN_BAD_WEIGHTS || status.code == KILN_OTHER_WEIGHTS);
    KILN_FUZZ_EXPECT(std::memcmp(&bound, &before, sizeof bound) == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const FakeNetwork network;
    FuzzInput input(data, size);
    const std::vector<char> bytes = take_file(input);
    const File file(bytes);
    kiln_weights weights;
    const kiln_status mapped = kiln_map_weights(*network, file.path().c_str(), &weights);
    KILN_FUZZ_EXPECT((mapped.code == KILN_OK) == !bytes.empty());
    if (mapped.code != KILN_OK) return 0;
    KILN_FUZZ_EXPECT(weights.bytes == bytes.size());
    bind(*network, weights, is_right(bytes));
    bind(*network, Block(bytes).weights(), is_right(bytes));
    kiln_unmap_weights(*network, &weights);
    KILN_FUZZ_EXPECT(weights.data == nullptr && weights.bytes == 0);
    return 0;
}
