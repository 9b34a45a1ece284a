#include "cli/network/network_bench.h"

#include <fmt/format.h>

#include <filesystem>
#include <random>

#include "check/npy.h"
#include "json/file_text.h"

namespace kiln {
namespace {

namespace fs = std::filesystem;

constexpr int step_calls = 15;
constexpr int64_t most_output_bytes = int64_t(4) << 30;

// A network call takes milliseconds: fewer samples than of a kernel, for longer.
SamplingLimits limits_of_a_turn() {
    SamplingLimits limits;
    limits.min_samples = 6;
    return limits;
}

// Floats from -1 to 1; whole numbers and booleans are 0 or 1, which most networks take for any of their inputs.
NpyArray random_array(const graph::TypedShape &form, std::mt19937 &random) {
    NpyArray array{std::string(npy_descr(form.type)), form.shape, {}};
    const auto count = static_cast<size_t>(*graph::element_count(form.shape));
    const auto size = static_cast<size_t>(graph::size_of(form.type));
    array.data.resize(count * size);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (size_t i = 0; i < count; i++) {
        const double value = uniform(random);
        graph::write_float(form.type, graph::is_float(form.type) ? value : value > 0, array.data.data() + i * size);
    }
    return array;
}

// The files of all calls: elements alone for kiln, with a header for peers.
class CallFiles {
public:
    CallFiles(const network::Program &program, std::string folder) : program_(program), folder_(std::move(folder)) {}

    Status write_inputs() {
        std::error_code error;
        fs::create_directories(folder_, error);
        std::mt19937 random(1);
        for (const network::Port &port : program_.inputs) {
            const NpyArray array = random_array(port.form, random);
            inputs_.push_back(fmt::format("{}/in{}.bin", folder_, inputs_.size()));
            if (Status s = write_elements(inputs_.back(), array); !s) return s;
            if (Status s = write_npy(inputs_.back() + ".npy", array); !s) return s;
        }
        for (size_t i = 0; i < program_.outputs.size(); i++)
            outputs_.push_back(fmt::format("{}/out{}.bin", folder_, i));
        return {};
    }

    // What kiln has computed, for peers.
    Status write_outputs() const {
        for (size_t i = 0; i < outputs_.size(); i++) {
            const Result<std::string> bytes = read_file_text(outputs_[i], most_output_bytes);
            if (!bytes) return bytes.error();
            const auto elements = std::as_bytes(std::span(*bytes));
            const graph::TypedShape &form = program_.outputs[i].form;
            const NpyArray array{std::string(npy_descr(form.type)), form.shape, {elements.begin(), elements.end()}};
            if (Status s = write_npy(outputs_[i] + ".npy", array); !s) return s;
        }
        return {};
    }

    // Peers run the model itself, which has these inputs too.
    Status write_constants(const std::vector<graph::ConstantInput> &constants) {
        for (const auto &[name, form, data] : constants) {
            const NpyArray array{
                std::string(npy_descr(form.type)), form.shape, {data.bytes().begin(), data.bytes().end()}};
            constants_.push_back({name, fmt::format("{}/constant{}.npy", folder_, constants_.size())});
            if (Status s = write_npy(constants_.back().file, array); !s) return s;
        }
        return {};
    }

    PeerNetwork for_peers(const std::string &model) const {
        PeerNetwork network{.model = fs::absolute(model).string(), .inputs = {}, .outputs = {}};
        for (size_t i = 0; i < inputs_.size(); i++)
            network.inputs.push_back({program_.inputs[i].name, inputs_[i] + ".npy"});
        for (size_t i = 0; i < outputs_.size(); i++) {
            network.outputs.push_back({program_.outputs[i].name, outputs_[i] + ".npy"});
        }
        network.inputs.insert(network.inputs.end(), constants_.begin(), constants_.end());
        return network;
    }

    const std::vector<std::string> &inputs() const { return inputs_; }
    const std::vector<std::string> &outputs() const { return outputs_; }

private:
    const network::Program &program_;
    std::string folder_;
    std::vector<std::string> inputs_, outputs_;
    std::vector<PeerNetwork::Tensor> constants_;
};

// Answers why there is no network; empty if there is one.
Result<std::string> build(NetworkWorkshop &workshop, const network::Program &program, BuiltNetwork *built) {
    Result<NetworkBuild> build = workshop.build(program);
    if (!build) return build.error();
    if (const auto *unbuilt = std::get_if<Unbuilt>(&*build)) return unbuilt->reason;
    *built = std::get<BuiltNetwork>(*build);
    return std::string();
}

Result<std::vector<double>> time_steps(NetworkRunRequest request, NetworkRunner &runner, Layer *layer) {
    request.sampling.reset();
    request.step_calls = step_calls;
    const Result<Attempt<NetworkRunReport>> ran = runner.run(request);
    if (!ran) return ran.error();
    std::vector<double> medians;
    if (!ran->ok()) {
        layer->problem = fmt::format("{}: {}", name(ran->failure().status), ran->failure().message);
        return medians;
    }
    for (const Samples &step : ran->value().steps) medians.push_back(summarize(step).median);
    return medians;
}

}  // namespace

Result<BenchedSteps> bench_network(const network::Program &program, const std::string &model, int threads,
                                   const NetworkBenchParts &parts, Bench &bench) {
    BenchedSteps benched;
    Layer &layer = benched.whole;
    BuiltNetwork chosen, standard;
    Result<std::string> problem = build(parts.chosen, program, &chosen);
    if (problem && problem->empty() && parts.standard) problem = build(*parts.standard, program, &standard);
    if (!problem) return problem.error();
    layer.problem = *problem;
    if (!layer.problem.empty()) return benched;

    CallFiles files(program, parts.chosen.folder() + "/calls");
    if (Status s = files.write_inputs(); !s) return s.error();
    if (Status s = files.write_constants(parts.constants); !s) return s.error();
    const auto request = [&](const BuiltNetwork &built) {
        return NetworkRunRequest{.files = built.files, .threads = threads, .inputs = files.inputs()};
    };
    NetworkRunRequest once = request(chosen);
    once.outputs = files.outputs();
    const Result<Attempt<NetworkRunReport>> ran = parts.chosen.runner().run(once);
    if (!ran) return ran.error();
    if (!ran->ok()) {
        layer.problem = fmt::format("{}: {}", name(ran->failure().status), ran->failure().message);
        return benched;
    }
    if (Status s = files.write_outputs(); !s) return s.error();

    BenchedNetwork network{.chosen = request(chosen),
                           .standard = {},
                           .about = fmt::format("{} kernels", chosen.kernels),
                           .untuned = chosen.untuned,
                           .for_peers = files.for_peers(model),
                           .profiles = parts.steps};
    network.chosen.sampling = limits_of_a_turn();
    if (parts.standard) network.standard = request(standard);
    if (network.standard) network.standard->sampling = limits_of_a_turn();
    Result<Layer> measured = bench.measure(network, parts.chosen.runner());
    if (!measured) return measured.error();
    layer = std::move(*measured);
    if (!parts.steps || !layer.problem.empty()) return benched;
    Result<std::vector<double>> steps = time_steps(network.chosen, parts.chosen.runner(), &layer);
    if (!steps) return steps.error();
    benched.step_ns = std::move(*steps);
    return benched;
}

}  // namespace kiln
