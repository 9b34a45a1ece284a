// Runs a fuzz target once on each file of the given folders: what libFuzzer's own main does with files, for compilers
// that have no libFuzzer.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int count, char **arguments) {
    std::vector<std::filesystem::path> files;
    for (int i = 1; i < count; i++) {
        std::error_code error;
        for (const auto &entry : std::filesystem::directory_iterator(arguments[i], error)) files.push_back(entry);
    }
    std::sort(files.begin(), files.end());
    for (const auto &path : files) {
        std::ifstream file(path, std::ios::binary);
        // Exactly as long as the input, so that a read past its end is seen.
        const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
        std::fprintf(stderr, "%s\n", path.c_str());  // a crash comes after the line that names the file
        LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
    }
    std::printf("%zu inputs\n", files.size());
    return files.empty();
}
