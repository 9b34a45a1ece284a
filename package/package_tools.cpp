#include "package/package_tools.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "text/markup.h"
#include "tuner/build/object_file.h"
#include "tuner/process/child_process.h"
#include "tuner/process/executables.h"

namespace kiln {
namespace {

// $CXX may be a path, also a relative one: the user wrote it.
std::string find_compiler_named(const std::string &name) {
    if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0 ? name : "";
    return find_executable(name);
}

Result<std::vector<std::string>> find_compiler() {
    if (const char *variable = std::getenv("CXX"); variable && *variable) {
        std::istringstream words(variable);
        std::vector<std::string> command;
        for (std::string word; words >> word;) command.push_back(word);
        if (!command.empty()) command[0] = find_compiler_named(command[0]);
        if (!command.empty() && !command[0].empty()) return command;
        return environment_error(fmt::format("no C++ compiler: $CXX is `{}`, which is not an executable", variable));
    }
    for (const char *name : {"c++", "g++", "clang++"}) {
        if (std::string path = find_executable(name); !path.empty()) return std::vector{path};
    }
    return environment_error("no C++ compiler: neither c++, g++ nor clang++ is on PATH; install g++ or set CXX");
}

Result<std::string> find_binutil(const std::string &name) {
    std::string path = find_executable(name);
    if (path.empty()) return environment_error(fmt::format("`{}` is not on PATH; install the package binutils", name));
    return path;
}

// `tool` is how a failure names it.
Status run_tool(std::vector<std::string> command, const std::string &tool) {
    ChildRequest request;
    request.arguments = std::move(command);
    request.time_limit_ns = 300'000'000'000;
    const Result<ChildResult> child = run_child(request);
    if (!child) return child.error();
    if (child->end == ChildResult::End::exited && child->code == 0) return {};
    std::string message = fmt::format("{} failed: {}\n{}", tool, describe(*child), child->error_output);
    message.erase(message.find_last_not_of('\n') + 1);
    return environment_error(std::move(message));
}

Status run_tool(std::vector<std::string> command) {
    const std::string tool = command[0];
    return run_tool(std::move(command), tool);
}

// A command that begins with the compiler.
Status run_compiler(std::vector<std::string> command) {
    const char *variable = std::getenv("CXX");
    const std::string origin = variable && *variable ? " ($CXX)" : "; CXX may name another";
    const std::string tool = fmt::format("the C++ compiler {}{}", command[0], origin);
    return run_tool(std::move(command), tool);
}

}  // namespace

Result<PackageTools> PackageTools::find() {
    PackageTools tools;
    Result<std::vector<std::string>> compiler = find_compiler();
    if (!compiler) return compiler.error();
    tools.compiler_ = std::move(*compiler);
    for (const auto &[name, path] :
         {std::pair{"ld", &tools.linker_}, {"objcopy", &tools.objcopy_}, {"ar", &tools.archiver_}}) {
        Result<std::string> found = find_binutil(name);
        if (!found) return found.error();
        *path = std::move(*found);
    }
    return tools;
}

Status PackageTools::compile(const std::string &source, const std::string &include_folder,
                             const std::string &object) const {
    std::vector<std::string> command = compiler_;
    command.insert(command.end(), {"-std=c++20", "-O1", "-g0", "-fPIC", "-fvisibility=hidden", "-fno-exceptions",
                                   "-fno-rtti", "-w", "-I", include_folder, "-c", source, "-o", object});
    return run_compiler(std::move(command));
}

Status PackageTools::prefix_symbols(const std::string &object, const std::string &prefix,
                                    const std::string &result) const {
    const Result<std::vector<std::string>> symbols = defined_symbols(object);
    if (!symbols) return symbols.error();
    const std::string names = result + ".symbols";
    std::ofstream file(names);
    for (const std::string &symbol : *symbols) file << symbol << ' ' << prefix << symbol << '\n';
    file.close();
    if (!file) return environment_error(names + ": cannot be written");
    return run_tool({objcopy_, "--redefine-syms=" + names, object, result});
}

Status PackageTools::embed(const std::string &file, const std::string &symbol, const std::string &object) const {
    const std::string source = object + ".s";
    std::ofstream text(source);
    text << ".section .rodata." << symbol << ",\"a\",@progbits\n.balign 64\n.globl " << symbol << "\n.hidden " << symbol
         << "\n.type " << symbol << ",@object\n"
         << symbol << ":\n.incbin " << c_string(file) << "\n.size " << symbol << ", .-" << symbol
         << "\n.section .note.GNU-stack,\"\",@progbits\n";
    text.close();
    if (!text) return environment_error(source + ": cannot be written");
    std::vector<std::string> command = compiler_;
    command.insert(command.end(), {"-c", source, "-o", object});
    return run_compiler(std::move(command));
}

Status PackageTools::merge(const std::vector<std::string> &inputs, std::vector<std::string> symbols,
                           const std::string &result) const {
    // The linker dissolves groups (inline functions): packages must not share them, and their symbols are local.
    const std::string whole = result + ".whole";
    std::vector<std::string> command = {linker_, "-r", "--force-group-allocation", "-o", whole};
    command.insert(command.end(), inputs.begin(), inputs.end());
    if (Status s = run_tool(std::move(command)); !s) return s;
    const Result<std::vector<std::string>> missing = undefined_symbols(whole);
    if (!missing) return missing.error();
    for (const std::string &name : *missing) {
        if (name.starts_with("halide_") || name.starts_with("kiln")) {
            return unsupported(fmt::format("a kernel calls {}, which packages do not have", name));
        }
    }
    std::vector<std::string> localize = {objcopy_, "--discard-all", "--remove-section=.comment"};
    for (const std::string &symbol : symbols) localize.push_back("--keep-global-symbol=" + symbol);
    localize.insert(localize.end(), {whole, result});
    if (Status s = run_tool(std::move(localize)); !s) return s;
    // Any other global symbol would meet the same symbol of another package.
    const Result<std::vector<std::string>> global = defined_symbols(result);
    if (!global) return global.error();
    std::vector<std::string> left = *global;
    std::ranges::sort(left);
    std::ranges::sort(symbols);
    if (left == symbols) return {};
    return environment_error(fmt::format("{} did not make all symbols local but {}; it left {}", objcopy_,
                                         fmt::join(symbols, ", "), fmt::join(left, ", ")));
}

Status PackageTools::archive(const std::string &object, const std::string &library) const {
    return run_tool({archiver_, "rcsD", library, object});
}

Status PackageTools::link_shared(const std::string &object, const std::string &library) const {
    const std::string soname = std::filesystem::path(library).filename();
    std::vector<std::string> command = compiler_;
    // The loader makes all relocations at once, so that no call takes a lock for the first use of a function.
    command.insert(command.end(), {"-shared", "-Wl,-soname," + soname, "-Wl,--as-needed", "-Wl,--no-undefined",
                                   "-Wl,-z,defs,-z,now,-z,relro,-z,noexecstack", "-Wl,-Bsymbolic", "-o", library,
                                   object, "-lm", "-pthread"});
    return run_compiler(std::move(command));
}

}  // namespace kiln
