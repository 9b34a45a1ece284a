// A kernel and its operands in the memory of a simulated core. kiln_pack makes one array of all operands but the input, and
// kiln_compute reads that; a nest's has no kiln_pack and takes all operands as they are. Blocks lie one behind the other at
// multiples of 64 bytes, so that two runs meet the same conflicts in the cache; the array and the workspace last. A tile reads these and the stack
// again and again, so they have places of their own in a data cache that holds all three.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
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

    SimulatedCall pack();  // once, before compute(); nothing where there is no such function
    SimulatedCall compute() { return simulator_.call(compute_, arguments_); }
    // The next call as a program for another core, see Simulator.
    Result<std::string> program(CacheMode cache) {
        return simulator_.program_of({compute_, arguments_, output_.address, output_.bytes, cache == CacheMode::warm});
    }
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
    uint32_t compute_ = 0;
    std::optional<uint32_t> pack_;
    Block packed_, output_, workspace_;
    std::vector<uint32_t> arguments_, pack_arguments_;
};

}  // namespace kiln
