#include "package/c/c_network_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "package/c/c_simulation.h"
#include "package/network/program_reference.h"

namespace kiln {
namespace {

using graph::Element;

// xorshift
class Random {
public:
    explicit Random(uint32_t seed) : state_(seed) {}
    uint32_t next() {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 17;
        state_ ^= state_ << 5;
        return state_;
    }

private:
    uint32_t state_;
};

template<typename T, typename Draw>
void fill(Bytes &bytes, const Draw &draw) {
    for (size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
        const auto value = static_cast<T>(draw());
        std::memcpy(bytes.data() + i, &value, sizeof value);
    }
}

Bytes random_input(const network::Port &port, Random &random) {
    Bytes bytes(size_t(network::bytes_of(port)));
    switch (port.form.type) {
        case Element::f32:
            fill<float>(bytes, [&] { return (double(random.next() >> 8) - 0x1p23) * 0x1p-21; });
            break;
        case Element::i32:
            fill<int32_t>(bytes, [&] { return int32_t(random.next() % 2001) - 1000; });
            break;
        case Element::boolean:
            fill<uint8_t>(bytes, [&] { return random.next() % 2; });
            break;
        default:
            fill<uint8_t>(bytes, [&] { return random.next() >> 24; });
    }
    return bytes;
}

template<typename T>
T element(const Bytes &bytes, size_t i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof value);
    return value;
}

bool is_close(const network::Port &port, const Bytes &got, const Bytes &expected, size_t i) {
    if (port.form.type == Element::f32) {
        const float a = element<float>(got, i), b = element<float>(expected, i);
        return a == b || (std::isnan(a) && std::isnan(b)) || std::fabs(a - b) <= 1e-4F * std::max(1.0F, std::fabs(b));
    }
    if (port.form.type == Element::i8) return std::abs(element<int8_t>(got, i) - element<int8_t>(expected, i)) <= 1;
    if (port.form.type == Element::u8) return std::abs(element<uint8_t>(got, i) - element<uint8_t>(expected, i)) <= 1;
    const auto size = size_t(size_of(port.form.type));
    return std::memcmp(got.data() + i * size, expected.data() + i * size, size) == 0;
}

Status compare(const network::Port &port, const Bytes &got, const Bytes &expected, bool exact) {
    if (got == expected) return {};
    const auto size = size_t(size_of(port.form.type));
    for (size_t i = 0; i < got.size() / size; i++) {
        const bool is_right = exact ? std::memcmp(got.data() + i * size, expected.data() + i * size, size) == 0
                                    : is_close(port, got, expected, i);
        if (is_right) continue;
        return unsupported(
            fmt::format("element {} of the output {} is wrong in simulation; please report this", i, port.name));
    }
    return {};
}

}  // namespace

Result<CNetworkRun> check_c_network(const network::Program &program, const std::string &file,
                                    const std::string &function, const CoreDescription &core) {
    Random random(1);
    std::vector<std::vector<Bytes>> inputs(2);
    for (std::vector<Bytes> &of_call : inputs) {
        for (const network::Port &port : program.inputs) of_call.push_back(random_input(port, random));
    }
    inputs.push_back(inputs.front());  // on what another call left in the arena
    std::vector<int64_t> output_bytes;
    for (const network::Port &port : program.outputs) output_bytes.push_back(network::bytes_of(port));
    const auto runs = run_simulated(file, function, inputs, output_bytes, core);
    if (!runs) return runs.error();
    const bool exact = network::is_exact(program);
    for (size_t call = 0; call < inputs.size(); call++) {
        const SimulatedRun &run = (*runs)[call];
        if (call == 2) {
            if (run.outputs == runs->front().outputs) continue;
            return unsupported(function + "() answers something else where it is called again; please report this");
        }
        const auto expected = network::run_program(program, inputs[call]);
        if (!expected) return expected.error();
        for (size_t i = 0; i < program.outputs.size(); i++) {
            if (Status s = compare(program.outputs[i], run.outputs[i], (*expected)[i], exact); !s) return s.error();
        }
    }
    const SimulatedRun &last = runs->back();
    return CNetworkRun{last.counts, last.stack_bytes};
}

}  // namespace kiln
