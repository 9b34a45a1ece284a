#include "tuner/runner/simulated/core_judge.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "digest/content_digest.h"
#include "json/json_value.h"
#include "tuner/process/child_process.h"
#include "tuner/process/mapped_file.h"

namespace kiln {
namespace {

constexpr int deepest_level = 8;

Result<JudgedCounts> parse_answer(const std::string &text) {
    const Result<Json> json = parse_json(text, deepest_level);
    if (!json) return json.error();
    const auto number = [](const Json &object, const char *name) -> std::optional<int64_t> {
        const auto found = object.is_object() ? object.find(name) : object.end();
        if (found == object.end() || !found->is_number_integer() || *found < 0) return {};
        return found->get<int64_t>();
    };
    const auto hash = number(*json, "hash");
    if (!hash || *hash > UINT32_MAX) return bad_input("`hash`: needs a number of 32 bits");
    const auto marked = json->find("marked");
    if (marked == json->end() || !marked->is_array() || marked->size() != 1) {
        return bad_input("`marked`: needs a list with one object, of the one stretch between the marks");
    }
    const Json &stretch = marked->front();
    const auto cycles = number(stretch, "cycles"), instructions = number(stretch, "instructions");
    if (!cycles || *cycles == 0) return bad_input("`marked[0].cycles`: needs a whole number above 0");
    if (!instructions) return bad_input("`marked[0].instructions`: needs a whole number");
    return JudgedCounts{*cycles, *instructions, static_cast<uint32_t>(*hash), stretch.dump()};
}

Status write_file(const std::string &path, const std::string &content) {
    if ((std::ofstream(path, std::ios::binary) << content).flush()) return {};
    return environment_error(path + ": cannot be written in the work folder ($TMPDIR); is the disk full?");
}

}  // namespace

Result<JudgedCounts> ask_judge(const CoreJudge &judge, const std::string &executable) {
    if (Status s = write_file(judge.program, executable); !s) return s.error();
    ChildRequest request;
    request.arguments = {judge.path, judge.program};
    request.time_limit_ns = judge.time_limit_ns;
    const Result<ChildResult> child = run_child(request);
    std::error_code ignored;
    std::filesystem::remove(judge.program, ignored);
    if (!child) return child.error();
    if (child->end != ChildResult::End::exited || child->code != 0) {
        return environment_error(
            fmt::format("{}: {}: {}", judge.path, describe(*child), child->error_output.substr(0, 400)));
    }
    Result<JudgedCounts> counts = parse_answer(child->output);
    if (!counts) {
        return environment_error(fmt::format("{}: its answer is not one of a program that runs kernels: {}", judge.path,
                                             counts.error().message));
    }
    return counts;
}

Result<std::string> digest_of_judge(const CoreJudge &judge) {
    const auto file = MappedFile::open(judge.path);
    if (!file) return file.error();
    return digest_of(file->bytes());
}

}  // namespace kiln
