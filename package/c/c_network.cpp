#include "package/c/c_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "package/c/c_simulation.h"
#include "package/templates/template_text.h"
#include "text/quoted_text.h"

namespace kiln {
namespace {

using graph::Element;
using graph::Place;

int64_t whole_words(int64_t bytes, int64_t word) { return (bytes + word - 1) / word * word; }

std::vector<CPort> ports_of(const network::Program &program, const std::string &package) {
    std::vector<CPort> ports;
    std::set<std::string> taken;
    const auto add = [&](const std::vector<network::Port> &list, const std::string &kind) {
        for (const network::Port &port : list) {
            const std::string stem = list.size() == 1 ? kind : kind + "_" + c_identifier(port.name);
            std::string name = stem;
            for (int number = 2; !taken.insert(name).second; number++) name = fmt::format("{}_{}", stem, number);
            ports.push_back({port, name, upper(package + "_" + name), kind == "output"});
        }
    };
    add(program.inputs, "input");
    add(program.outputs, "output");
    return ports;
}

Status check_ports(const std::vector<CPort> &ports) {
    for (const CPort &port : ports) {
        const Element type = port.port.form.type;
        if (c_port_type(type)) continue;
        return unsupported(
            fmt::format("{} {} is of {}, for which C has no type; packages for soft cores have no such "
                        "inputs and outputs",
                        port.is_output ? "output" : "input", quoted_line(port.port.name), graph::name(type)));
    }
    return {};
}

class Layout {
public:
    Layout(const Package &package, const network::Program &program, const CoreDescription &core)
        : program_(program), core_(core) {
        network_.package = package.name;
        network_.program = &program;
        network_.ports = ports_of(program, package.name);
        network_.layers = c_network_layers(package);
        for (size_t i = 0; i < network_.layers.size(); i++)
            kernels_.emplace(key(network_.layers[i].kernel->workload.workload), static_cast<int>(i));
    }

    Result<CNetwork> run() && {
        if (Status s = check_ports(network_.ports); !s) return s.error();
        for (const network::Step &step : program_.steps) {
            CNetworkStep made{&step, -1, {}};
            const auto *call = std::get_if<network::KernelCall>(&step.work);
            if (!call) {
                const auto &copy = std::get<network::Copy>(step.work);
                made.arguments = {plain(copy.from), copy.to};
            } else if (Status s = place(*call, step.name, &made); !s) {
                return s.error();
            }
            network_.steps.push_back(std::move(made));
        }
        constexpr int64_t alignment = 8;  // that kernels count on
        // The plan is older than what joined steps: all values may be gone.
        if (keeps_values()) network_.values_bytes = whole_words(program_.workspace, alignment);
        for (const CNetworkStep &step : network_.steps) {
            if (step.kernel < 0) continue;
            const int64_t bytes = network_.layers[size_t(step.kernel)].kernel->workspace_bytes;
            network_.workspace_bytes = std::max(network_.workspace_bytes, whole_words(bytes, alignment));
        }
        return std::move(network_);
    }

private:
    bool keeps_values() const {
        return std::ranges::any_of(network_.steps, [](const CNetworkStep &step) {
            return std::ranges::any_of(step.arguments,
                                       [](const Place &place) { return place.memory == Place::Memory::workspace; });
        });
    }

    // The offset of the bytes in the array of all constants.
    int64_t stored(std::span<const std::byte> bytes) {
        const std::string text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
        const auto [known, is_new] = offsets_.emplace(text, 4 * std::ssize(network_.constants));
        if (is_new) {
            std::vector<int32_t> words(size_t(whole_words(std::ssize(bytes), 4) / 4));
            std::memcpy(words.data(), bytes.data(), bytes.size());
            network_.constants.insert(network_.constants.end(), words.begin(), words.end());
        }
        return known->second;
    }

    std::span<const std::byte> constant(const Place &place) const {
        return program_.constants[size_t(place.index)].data.bytes();
    }

    Place plain(Place place) {
        if (place.memory != Place::Memory::constant) return place;
        return {Place::Memory::constant, 0, stored(constant(place)) + place.offset};
    }

    Status place(const network::KernelCall &call, const std::string &name, CNetworkStep *step) {
        const auto found = kernels_.find(key(call.workload));
        if (found == kernels_.end())
            return unsupported("no kernel computes " + quoted_line(name) + ", so no package was written");
        step->kernel = found->second;
        const CLayer &layer = network_.layers[size_t(step->kernel)];
        const Signature forms = signature(call.workload);
        std::vector<std::span<const std::byte>> packed;
        for (size_t i = 0; i < forms.operands.size(); i++) {
            const Place &operand = call.operands[i];
            if (layer.is_nest || forms.operands[i].role == Role::input) {
                step->arguments.push_back(plain(operand));
                continue;
            }
            if (operand.memory != Place::Memory::constant) {
                return unsupported(
                    fmt::format("{}: its {} is computed when the network runs, and kernels for soft cores have it "
                                "packed; quantize the model "
                                "with constants (static quantization)",
                                quoted_line(name), forms.operands[i].name));
            }
            packed.push_back(constant(operand).subspan(size_t(operand.offset), size_t(forms.operands[i].bytes())));
        }
        if (!layer.is_nest) {
            const Result<Bytes> made = packed_constants(*layer.kernel, packed, core_);
            if (!made) return made.error();
            step->arguments.push_back({Place::Memory::constant, 0, stored(*made)});
        }
        step->arguments.push_back(call.result);
        return {};
    }

    const network::Program &program_;
    const CoreDescription &core_;
    CNetwork network_;
    std::map<std::string, int> kernels_;      // by key
    std::map<std::string, int64_t> offsets_;  // by bytes
};

}  // namespace

const char *c_port_type(Element type) {
    switch (type) {
        case Element::f32:
            return "float";
        case Element::f64:
            return "double";
        case Element::i8:
            return "int8_t";
        case Element::u8:
        case Element::boolean:
            return "uint8_t";
        case Element::i16:
            return "int16_t";
        case Element::u16:
            return "uint16_t";
        case Element::i32:
            return "int32_t";
        case Element::u32:
            return "uint32_t";
        case Element::i64:
            return "int64_t";
        case Element::u64:
            return "uint64_t";
        case Element::f16:
        case Element::bf16:
            return nullptr;
    }
    return nullptr;
}

Result<CNetwork> lay_out_c_network(const Package &package, const network::Program &program,
                                   const CoreDescription &core) {
    return Layout(package, program, core).run();
}

}  // namespace kiln
