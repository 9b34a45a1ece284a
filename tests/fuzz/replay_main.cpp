// Runs a fuzz target without libFuzzer.
//
//   NAME_fuzz FOLDER...                             once on each file of the folders
//   NAME_fuzz --seconds S --seed N --finding FILE FOLDER...   on changed files, until the time is over or one is a finding
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "tests/fuzz/mutation.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

namespace {

using Clock = std::chrono::steady_clock;
using kiln::Bytes;

struct Options {
    long seconds = 0;  // 0: the corpus, unchanged
    uint64_t seed = 1;
    std::string finding;
    std::vector<std::string> folders;
};

Options parse(int count, char **arguments) {
    Options options;
    for (int i = 1; i < count; i++) {
        const std::string_view argument = arguments[i];
        const bool has_value = i + 1 < count;
        if (argument == "--seconds" && has_value) {
            options.seconds = std::atol(arguments[++i]);
        } else if (argument == "--seed" && has_value) {
            options.seed = std::strtoull(arguments[++i], nullptr, 10);
        } else if (argument == "--finding" && has_value) {
            options.finding = arguments[++i];
        } else {
            options.folders.emplace_back(argument);
        }
    }
    return options;
}

std::vector<std::filesystem::path> files_of(const std::vector<std::string> &folders) {
    std::vector<std::filesystem::path> files;
    for (const std::string &folder : folders) {
        std::error_code error;
        for (const auto &entry : std::filesystem::directory_iterator(folder, error)) files.push_back(entry);
    }
    std::sort(files.begin(), files.end());
    return files;
}

Bytes contents(const std::filesystem::path &path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// A copy that is exactly as long as the input, so that a read past its end is seen.
void run(const Bytes &input) { LLVMFuzzerTestOneInput(Bytes(input).data(), input.size()); }

int replay(const std::vector<std::filesystem::path> &files) {
    for (const auto &path : files) {
        std::fprintf(stderr, "%s\n", path.c_str());  // a crash comes after the line that names the file
        run(contents(path));
    }
    std::printf("%zu inputs\n", files.size());
    return files.empty();
}

// What the process that runs inputs and the one that watches it share.
struct Progress {
    std::atomic<uint64_t> index{0};
};

// Whether the child ended well. One input may take ten seconds.
bool watch(pid_t child, const Progress &progress) {
    uint64_t seen = 0;
    for (Clock::time_point since = Clock::now();; std::this_thread::sleep_for(std::chrono::milliseconds(50))) {
        int status = 0;
        if (waitpid(child, &status, WNOHANG) == child) return WIFEXITED(status) && WEXITSTATUS(status) == 0;
        if (progress.index != seen) seen = progress.index, since = Clock::now();
        if (Clock::now() - since < std::chrono::seconds(10)) continue;
        std::fprintf(stderr, "no end after 10 s\n");
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        return false;
    }
}

int fuzz(const Options &options, const std::vector<Bytes> &corpus) {
    void *memory = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return 3;
    auto &progress = *new (memory) Progress;
    const pid_t child = fork();
    if (child < 0) return 3;
    if (child == 0) {
        const Clock::time_point end = Clock::now() + std::chrono::seconds(options.seconds);
        for (; Clock::now() < end; progress.index++) run(kiln::mutated(corpus, options.seed, progress.index));
        _exit(0);
    }
    const bool ended_well = watch(child, progress);
    const uint64_t executions = progress.index;
    std::printf("seed %llu, %llu executions\n", static_cast<unsigned long long>(options.seed),
                static_cast<unsigned long long>(executions));
    if (ended_well) return 0;
    const Bytes input = kiln::mutated(corpus, options.seed, executions);
    std::ofstream(options.finding, std::ios::binary)
        .write(reinterpret_cast<const char *>(input.data()), static_cast<std::streamsize>(input.size()));
    std::printf("finding: %s\n", options.finding.c_str());
    return 1;
}

}  // namespace

int main(int count, char **arguments) {
    const Options options = parse(count, arguments);
    const std::vector<std::filesystem::path> files = files_of(options.folders);
    if (options.seconds == 0 || files.empty()) return replay(files);
    std::vector<Bytes> corpus;
    for (const auto &file : files) corpus.push_back(contents(file));
    return fuzz(options, corpus);
}
