#include "package/c/c_object_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "json/file_text.h"
#include "schedules/compiler_flags.h"
#include "simulate/elf32.h"
#include "tuner/build/cross_compiler.h"
#include "tuner/build/stack_usage.h"
#include "tuner/process/child_process.h"

namespace kiln {
namespace {

constexpr int64_t most_bytes = int64_t{64} << 20;

Status compile(const COwnFile &file, const std::string &folder, const std::string &object) {
    const Result<std::string> compiler = find_cross_tool(cross_compiler_name);
    if (!compiler) return compiler.error();
    ChildRequest child;
    child.arguments = {*compiler};
    child.arguments.insert(child.arguments.end(), soft_core_flags.begin(), soft_core_flags.end());
    child.arguments.insert(child.arguments.end(), file.flags.begin(), file.flags.end());
    for (const char *last : {"-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fstack-usage", "-I"})
        child.arguments.emplace_back(last);
    child.arguments.insert(child.arguments.end(),
                           {folder + "/include", "-c", "-o", object, folder + "/" + file.source_file});
    child.time_limit_ns = 300'000'000'000;
    const Result<ChildResult> ended = run_child(child);
    if (!ended) return ended.error();
    if (ended->end == ChildResult::End::exited && ended->code == 0) return {};
    return environment_error(fmt::format("{}: {} does not compile it: {}\n{}", file.name, cross_compiler_name,
                                         describe(*ended), ended->error_output));
}

Status check_undefined(const COwnFile &file, std::vector<std::string> undefined) {
    std::erase_if(undefined, [](const std::string &name) { return name == "memcpy" || name == "memset"; });
    if (undefined.empty()) return {};
    return unsupported(fmt::format("{}: the kernel calls {}; kernels for soft cores may call memcpy and memset only",
                                   file.name, fmt::join(undefined, ", ")));
}

Result<std::vector<FunctionStack>> stacks_of(const std::string &object) {
    const std::string path = std::filesystem::path(object).replace_extension(".su").string();
    if (!std::filesystem::exists(path)) return std::vector<FunctionStack>();  // a file without functions
    const auto usage = read_file_text(path, most_bytes);
    if (!usage) return usage.error();
    return parse_stack_usage(*usage, object);
}

}  // namespace

Result<CObjectFacts> compile_own_object(const COwnFile &file, const std::string &folder, const std::string &object) {
    if (Status s = compile(file, folder, object); !s) return s.error();
    const auto content = read_file_text(object, most_bytes);
    if (!content) return content.error();
    const auto elf = parse_elf32(std::as_bytes(std::span(*content)), object);
    if (!elf) return elf.error();
    const auto stacks = stacks_of(object);
    if (!stacks) return stacks.error();
    const ObjectSizes sizes = sizes_of(*elf);
    return CObjectFacts{sizes.text, sizes.rodata, most_stack(*stacks, "no function has this name")};
}

namespace {

// A file of a kernel, and the bytes of code that the measured one has.
struct KernelFile : COwnFile {
    std::string function;
    int64_t measured_text = 0;
};

Result<CObjectFacts> check_kernel(const KernelFile &file, const std::string &folder, const std::string &object) {
    if (Status s = compile(file, folder, object); !s) return s.error();
    const auto content = read_file_text(object, most_bytes);
    if (!content) return content.error();
    auto elf = parse_elf32(std::as_bytes(std::span(*content)), object);
    if (!elf) return elf.error();
    if (Status s = check_undefined(file, elf->undefined); !s) return s.error();
    const auto stacks = stacks_of(object);
    if (!stacks) return stacks.error();
    CObjectFacts facts;
    facts.stack_bytes = most_stack(*stacks, file.function + "_pack");
    if (facts.stack_bytes > most_stack_bytes) {
        return unsupported(fmt::format("{}: a call needs {} bytes of stack; kernels for soft cores may use {}",
                                       file.name, facts.stack_bytes, most_stack_bytes));
    }
    std::erase_if(elf->sections, [&](const Elf32::Section &section) {
        return section.name.starts_with(".text." + file.function + "_pack");
    });
    const ObjectSizes sizes = sizes_of(*elf);
    facts.text_bytes = sizes.text, facts.rodata_bytes = sizes.rodata;
    if (sizes.text == file.measured_text && sizes.data == 0) return facts;
    return environment_error(
        fmt::format("{}: the packaged source compiles to {} bytes of code, and {} were measured; "
                    "please report this",
                    file.name, sizes.text, file.measured_text));
}

}  // namespace

Result<CObjectFacts> check_c_object(const CLayer &layer, const std::string &folder, const std::string &object) {
    const Artifact &artifact = layer.kernel->artifact;
    const int64_t measured = layer.shared.empty() ? artifact.text_bytes : 0;
    const COwnFile file{layer.layer, layer.source_file(), std::get<CSources>(artifact.code).flags};
    return check_kernel({file, layer.function, measured}, folder, object);
}

Result<CObjectFacts> check_c_object(const CSharedCode &code, const std::string &folder, const std::string &object) {
    const Artifact &artifact = code.layer->kernel->artifact;
    const COwnFile file{code.function(), code.source_file(), std::get<CSources>(artifact.code).flags};
    return check_kernel({file, code.function(), artifact.text_bytes}, folder, object);
}

}  // namespace kiln
