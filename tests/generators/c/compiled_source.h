// C sources as shared objects, for tests that call their functions.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "generators/c/c_source.h"

namespace kiln {

inline const Halide::Target scalar("x86-32-noos-no_runtime-no_asserts-no_bounds_query");

class CSourceTest : public testing::Test {
protected:
    CSourceTest() {
        std::string name = (std::filesystem::temp_directory_path() / "kiln-c-XXXXXX").string();
        folder_ = mkdtemp(name.data());
    }
    ~CSourceTest() override { std::filesystem::remove_all(folder_); }

    // A source as a shared object, made without a warning.
    void *opened(const CSource &source) {
        const std::string stem = folder_ + "/k" + std::to_string(next_++);
        std::ofstream(stem + ".c") << source.text;
        const std::string command =
            "cc -std=c99 -O1 -Wall -Wextra -Werror -shared -fPIC -o '" + stem + ".so' '" + stem + ".c'";
        EXPECT_EQ(std::system(command.c_str()), 0) << source.text;
        void *library = dlopen((stem + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
        EXPECT_NE(library, nullptr) << source.text;
        return library;
    }
    void *compiled(const CSource &source) {
        void *library = opened(source);
        return library ? dlsym(library, "kiln_compute") : nullptr;
    }

    std::string folder_;
    int next_ = 0;
};

}  // namespace kiln
