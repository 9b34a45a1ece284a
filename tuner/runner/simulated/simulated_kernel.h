// A kernel and its operands in the memory of a simulated core. Operands lie one behind the other at multiples of 64 bytes,
// in the order in which kernels take them, so that two runs meet the same conflicts in the cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "simulate/simulator.h"
#include "tuner/protocol/runner_protocol.h"
#include "workload/result.h"
#include "workload/workload.h"

namespace kiln {

class SimulatedKernel {
public:
    struct Request {
        const RunnerKernel &kernel;
        const Workload &workload;
        const CoreDescription &core;
        const OperandPaths &operands;
    };
    // Errors (bad_input): the program cannot be loaded, or lacks a function that its sizes say it has; (environment) an
    // operand's file cannot be read.
    static Result<SimulatedKernel> create(const Request &request);

    SimulatedCall pack();  // once, before compute(), where packs()
    SimulatedCall compute() { return simulator_.call(compute_, arguments_); }
    bool packs() const { return pack_ != 0; }
    void cold_caches() { simulator_.cold_caches(); }

    void poison_output();
    std::span<const std::byte> output() { return simulator_.memory().at(output_.address, output_.bytes); }

private:
    struct Block {
        uint32_t address = 0;
        int64_t bytes = 0;
    };
    explicit SimulatedKernel(Simulator simulator) : simulator_(std::move(simulator)) {}
    Status place_operands(const Request &request);
    Result<Block> place(int64_t bytes, Access access);

    Simulator simulator_;
    uint32_t compute_ = 0, pack_ = 0;
    Block weights_, packed_, output_, workspace_;
    std::vector<uint32_t> arguments_;
};

}  // namespace kiln
