#include "check/network_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "check/npy.h"
#include "graph/lower/lower.h"
#include "graph/onnx/model.h"
#include "json/file_text.h"
#include "text/quoted_text.h"

namespace kiln {
namespace {

constexpr int64_t most_output_bytes = int64_t(4) << 30;

// Several lines become one, as a reason is a cell of a table.
std::string in_one_line(std::string text) {
    std::ranges::replace(text, '\n', ';');
    return text;
}

const NetworkTensor *find(const std::vector<NetworkTensor> &tensors, const std::string &name) {
    const auto found = std::ranges::find(tensors, name, &NetworkTensor::name);
    return found == tensors.end() ? nullptr : &*found;
}

std::string form_text(scalar::Element type, const std::vector<int64_t> &shape) {
    return fmt::format("{} [{}]", name(type), fmt::join(shape, ", "));
}

// Why the tensors of the case are not those of the network; empty if they are.
std::string mismatch(const NetworkCase &c, const network::Program &program) {
    for (const network::Port &port : program.inputs) {
        const NetworkTensor *tensor = find(c.inputs, port.name);
        if (!tensor) return fmt::format("the case has no input `{}`", quoted_line(port.name));
        if (tensor->type == port.form.type && tensor->shape == port.form.shape) continue;
        return fmt::format("input `{}` is {}, but the case has {}", quoted_line(port.name),
                           form_text(port.form.type, port.form.shape), form_text(tensor->type, tensor->shape));
    }
    for (const NetworkTensor &tensor : c.expected) {
        const auto is_it = [&](const network::Port &port) { return port.name == tensor.name; };
        if (std::ranges::none_of(program.outputs, is_it)) {
            return fmt::format("the network has no output `{}`", quoted_line(tensor.name));
        }
    }
    for (const network::Port &port : program.outputs) {
        if (find(c.expected, port.name)) continue;
        return fmt::format("the case expects nothing of output `{}`, which would not be compared",
                           quoted_line(port.name));
    }
    return {};
}

Result<NpyArray> read_tensor(const NetworkTensor &tensor) {
    Result<NpyArray> array = read_npy(tensor.path);
    if (!array) return array;
    // Suites store booleans and bf16 as the bits of other types, of the same size.
    const bool has_shape = array->shape == tensor.shape;
    const bool has_type =
        array->descr == npy_descr(tensor.type) || (tensor.type == scalar::Element::boolean && array->descr == "|u1");
    if (has_shape && has_type) return array;
    return bad_input(fmt::format("{}: holds {} of shape [{}], but the manifest says {}", tensor.path, array->descr,
                                 fmt::join(array->shape, ", "), form_text(tensor.type, tensor.shape)));
}

class NetworkCheck {
public:
    NetworkCheck(const NetworkCase &c, const network::Program &program, const NetworkCheckTools &tools)
        : case_(c), program_(program), tools_(tools) {}

    Result<CaseResult> run(CaseResult result);

private:
    Result<NetworkRunRequest> request(const BuiltNetwork &built) const;
    Status judge_outputs(const NetworkRunRequest &request, CaseResult *result) const;
    std::string file(std::string_view what, size_t number) const {
        return fmt::format("{}/{}{}.bin", tools_.folder, what, number);
    }

    const NetworkCase &case_;
    const network::Program &program_;
    const NetworkCheckTools &tools_;
};

Result<NetworkRunRequest> NetworkCheck::request(const BuiltNetwork &built) const {
    NetworkRunRequest request{.files = built.files, .threads = tools_.threads, .repeats = 2, .compare_threads = true};
    for (const network::Port &port : program_.inputs) {
        const Result<NpyArray> array = read_tensor(*find(case_.inputs, port.name));
        if (!array) return array.error();
        request.inputs.push_back(file("in", request.inputs.size()));
        if (Status s = write_elements(request.inputs.back(), *array); !s) return s.error();
    }
    for (size_t i = 0; i < program_.outputs.size(); i++) request.outputs.push_back(file("out", i));
    return request;
}

Status NetworkCheck::judge_outputs(const NetworkRunRequest &request, CaseResult *result) const {
    result->status = CaseStatus::passed;
    bool has_number = true;
    double worst = 0;
    for (size_t i = 0; i < program_.outputs.size(); i++) {
        const network::Port &port = program_.outputs[i];
        const NetworkTensor &tensor = *find(case_.expected, port.name);
        const Result<NpyArray> expected = read_tensor(tensor);
        if (!expected) return expected.error();
        const Result<std::string> got = read_file_text(request.outputs[i], most_output_bytes);
        if (!got) return got.error();
        const Verdict verdict = judge({port.form.type, port.form.shape, std::as_bytes(std::span(*got))},
                                      {tensor.type, tensor.shape, expected->data}, tensor.tolerance);
        has_number = has_number && verdict.max_error;
        worst = std::max(worst, verdict.max_error.value_or(0));
        if (verdict.passed) continue;
        result->status = CaseStatus::failed;
        result->reason += fmt::format("{}output `{}`: {}", result->reason.empty() ? "" : "; ", quoted_line(port.name),
                                      verdict.reason);
    }
    if (has_number) result->max_error = worst;
    return {};
}

Result<CaseResult> NetworkCheck::run(CaseResult result) {
    Result<NetworkBuild> build = tools_.build(program_);
    if (!build) return build.error();
    if (const auto *unbuilt = std::get_if<Unbuilt>(&*build)) {
        result.status = unbuilt->status;
        result.reason = in_one_line(unbuilt->reason);
        return result;
    }
    const auto &built = std::get<BuiltNetwork>(*build);
    result.algorithm = fmt::format("{}", fmt::join(built.algorithms, "+"));
    result.candidate = fmt::format("{} step{}, {} kernel{}", program_.steps.size(),
                                   program_.steps.size() == 1 ? "" : "s", built.kernels, built.kernels == 1 ? "" : "s");
    result.untuned = built.untuned;
    const Result<NetworkRunRequest> request = this->request(built);
    if (!request) return request.error();
    const Result<Attempt<NetworkRunReport>> ran = tools_.runner.run(*request);
    if (!ran) return ran.error();
    if (ran->ok()) {
        if (Status s = judge_outputs(*request, &result); !s) return s.error();
        return result;
    }
    result.status = CaseStatus::failed;
    result.reason = fmt::format("{}: {}", name(ran->failure().status), ran->failure().message);
    return result;
}

}  // namespace

Result<PlannedNetwork> plan_network(const NetworkCase &c, const PlanNetwork &plan) {
    const Result<graph::onnx::Model> model = graph::onnx::read_model(c.model);
    if (!model) {
        if (model.error().code != ErrorCode::unsupported) return model.error();
        return PlannedNetwork{{}, in_one_line(model.error().message)};
    }
    graph::StatedInputs stated;
    for (const auto &[name, shape] : c.input_shapes) stated.shapes.push_back({name, shape});
    const Result<graph::Graph> lowered = graph::lower(*model, stated);
    if (!lowered) return PlannedNetwork{{}, in_one_line(lowered.error().message)};
    Result<network::Program> program = plan(*lowered);
    if (!program) {
        if (program.error().code != ErrorCode::unsupported) return program.error();
        return PlannedNetwork{{}, in_one_line(program.error().message)};
    }
    return PlannedNetwork{std::move(*program), ""};
}

Result<CaseResult> check_network(const ConformanceCase &c, const PlannedNetwork &planned,
                                 const NetworkCheckTools &tools) {
    CaseResult result{.id = c.id, .status = CaseStatus::unsupported, .reason = planned.reason};
    if (!planned.program) return result;
    result.reason = mismatch(*c.network, *planned.program);
    result.status = CaseStatus::failed;
    if (!result.reason.empty()) return result;
    Result<CaseResult> checked = NetworkCheck(*c.network, *planned.program, tools).run(std::move(result));
    if (checked && !c.judged && (checked->status == CaseStatus::passed || checked->status == CaseStatus::failed)) {
        checked->status = CaseStatus::recorded;
    }
    return checked;
}

}  // namespace kiln
