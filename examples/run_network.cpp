// A network in C++17: two threads run it at the same time on the same weights, each with a workspace of its own, and answer
// the same.
//
//   run_network NAME.weights
#include <cstdio>
#include <exception>
#include <thread>
#include <vector>

#include PACKAGE_HEADER
#include PACKAGE_CPP_HEADER

namespace {

// Tensors as bytes, and the pointers to them.
struct Tensors {
    std::vector<std::vector<unsigned char>> bytes;
    std::vector<void *> pointers;

    Tensors(const kiln_port *ports, std::size_t count) {
        for (std::size_t i = 0; i < count; i++) bytes.emplace_back(ports[i].bytes);
        for (auto &tensor : bytes) pointers.push_back(tensor.data());
    }
};

// Answers what was thrown, since an exception that leaves a thread ends the program.
std::exception_ptr run(const kiln::Weights &weights, const Tensors &inputs, const Tensors &outputs) noexcept {
    try {
        kiln::Network(weights).run(inputs.pointers.data(), outputs.pointers.data());
    } catch (...) {
        return std::current_exception();
    }
    return nullptr;
}

}  // namespace

int main(int count, char **arguments) try {
    const kiln_network *network = NETWORK();
    const kiln_network_info &info = *kiln_describe_network(network);
    const kiln::Weights weights = count > 1 ? kiln::Weights(network, arguments[1]) : kiln::Weights(network);
    Tensors inputs(info.inputs, info.input_count);
    std::vector<Tensors> outputs(2, Tensors(info.outputs, info.output_count));
    std::vector<std::exception_ptr> thrown(outputs.size());
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < outputs.size(); t++) {
        Tensors &mine = outputs[t];
        for (std::size_t i = 0; i < mine.bytes.size(); i++) mine.pointers[i] = mine.bytes[i].data();
        threads.emplace_back([&, t] { thrown[t] = run(weights, inputs, outputs[t]); });
    }
    for (std::thread &thread : threads) thread.join();
    for (const std::exception_ptr &problem : thrown) {
        if (problem) std::rethrow_exception(problem);
    }
    const bool same = outputs[0].bytes == outputs[1].bytes;
    std::printf("%s: %zu outputs, %s\n", info.name, info.output_count, same ? "ok" : "WRONG");
    return same ? 0 : 1;
} catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
