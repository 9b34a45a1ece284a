#include "cli/network/call_files.h"

#include <fmt/format.h>

#include <filesystem>
#include <random>
#include <span>

#include "check/npy.h"
#include "json/file_text.h"

namespace kiln {
namespace {

namespace fs = std::filesystem;

constexpr int64_t most_output_bytes = int64_t(4) << 30;

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

}  // namespace

Status CallFiles::write_inputs() {
    std::error_code error;
    fs::create_directories(folder_, error);
    std::mt19937 random(1);
    for (const network::Port &port : program_.inputs) {
        const NpyArray array = random_array(port.form, random);
        inputs_.push_back(fmt::format("{}/in{}.bin", folder_, inputs_.size()));
        if (Status s = write_elements(inputs_.back(), array); !s) return s;
        if (Status s = write_npy(inputs_.back() + ".npy", array); !s) return s;
    }
    for (size_t i = 0; i < program_.outputs.size(); i++) outputs_.push_back(fmt::format("{}/out{}.bin", folder_, i));
    return {};
}

Status CallFiles::write_outputs() const {
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

Status CallFiles::write_constants(const std::vector<graph::ConstantInput> &constants) {
    for (const auto &[name, form, data] : constants) {
        const NpyArray array{std::string(npy_descr(form.type)), form.shape, {data.bytes().begin(), data.bytes().end()}};
        constants_.push_back({name, fmt::format("{}/constant{}.npy", folder_, constants_.size())});
        if (Status s = write_npy(constants_.back().file, array); !s) return s;
    }
    return {};
}

PeerNetwork CallFiles::for_peers(const std::string &model) const {
    PeerNetwork network{.model = fs::absolute(model).string(), .inputs = {}, .outputs = {}};
    for (size_t i = 0; i < inputs_.size(); i++)
        network.inputs.push_back({program_.inputs[i].name, inputs_[i] + ".npy"});
    for (size_t i = 0; i < outputs_.size(); i++)
        network.outputs.push_back({program_.outputs[i].name, outputs_[i] + ".npy"});
    network.inputs.insert(network.inputs.end(), constants_.begin(), constants_.end());
    return network;
}

}  // namespace kiln
