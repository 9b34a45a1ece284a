// Objects made by the system's C compiler, where a test needs real ones.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/database/scratch_folder.h"
#include "tuner/process/child_process.h"

namespace kiln {

// Runs a command to its end; its output, or a test failure.
inline std::string run_command(std::vector<std::string> command) {
    ChildRequest request;
    request.arguments = std::move(command);
    const auto result = run_child(request);
    if (!result) {
        ADD_FAILURE() << result.error().message;
        return "";
    }
    EXPECT_TRUE(result->end == ChildResult::End::exited && result->code == 0)
        << request.arguments[0] << ": " << describe(*result) << "\n"
        << result->error_output;
    return result->output;
}

// Compiles C source to `<name>.o` in the folder.
inline std::string compile_c(const ScratchFolder &folder, const std::string &name, const std::string &source,
                             std::vector<std::string> flags = {}) {
    const std::string object = folder / (name + ".o");
    ScratchFolder::write(folder / (name + ".c"), source);
    std::vector<std::string> command = {"/usr/bin/cc", "-O1", "-fPIC", "-c", folder / (name + ".c"), "-o", object};
    command.insert(command.end(), flags.begin(), flags.end());
    run_command(command);
    return object;
}

}  // namespace kiln
