// Guesses what a file is that is no ONNX model, for the message.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace kiln::graph::onnx {

// "it is a Git LFS pointer: run `git lfs pull`", or nothing.
std::string foreign_file(std::span<const std::byte> bytes);

}  // namespace kiln::graph::onnx
