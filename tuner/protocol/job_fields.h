// The fields of each job of the measuring process: one list, by which it is written as JSON and read back.
#pragma once

#include <concepts>
#include <type_traits>

#include "tuner/protocol/runner_protocol.h"

namespace kiln {

template<typename T, typename Value>
concept IsPart = std::same_as<std::remove_const_t<T>, Value>;

template<typename Fields, IsPart<CacheDescription> Value>
void visit_fields(Fields &fields, Value &cache) {
    fields("bytes", cache.bytes);
    fields("line_bytes", cache.line_bytes);
    fields("refill_cycles", cache.refill_cycles);
}

template<typename Fields, IsPart<CoreDescription> Value>
void visit_fields(Fields &fields, Value &core) {
    fields("name", core.name);
    fields("clock_hz", core.clock_hz);
    fields("instruction_cache", core.instructions);
    fields("data_cache", core.data);
    fields("load_cycles", core.load_cycles);
    fields("multiply_cycles", core.multiply_cycles);
    fields("shift_cycles", core.shift_cycles);
    fields("divide_cycles", core.divide_cycles);
    fields("jump_cycles", core.jump_cycles);
    fields("indirect_jump_cycles", core.indirect_jump_cycles);
    fields("mispredicted_cycles", core.mispredicted_cycles);
    fields("store_cycles", core.store_cycles);
    fields("pending_stores", core.pending_stores);
}

template<typename Fields, IsPart<RunnerCall> Value>
void visit_fields(Fields &fields, Value &call) {
    fields("workload", call.workload);
    fields("threads", call.threads);
    fields("memory_limit_bytes", call.memory_limit_bytes);
    fields("core", call.core);
}

template<typename Fields, IsPart<RunnerKernel> Value>
void visit_fields(Fields &fields, Value &kernel) {
    fields("shared_object", kernel.shared_object);
    fields("packed_bytes", kernel.packed_bytes);
    fields("prepared_bytes", kernel.prepared_bytes);
    fields("workspace_bytes", kernel.workspace_bytes);
    fields("text_bytes", kernel.text_bytes);
    fields("rodata_bytes", kernel.rodata_bytes);
    fields("shared_code", kernel.shared_code);
}

template<typename Fields, IsPart<RunnerData> Value>
void visit_fields(Fields &fields, Value &data) {
    fields("operands", data.operands);
    fields("expected", data.expected);
    fields("magnitude", data.magnitude);
}

template<typename Fields, IsPart<JudgingData> Value>
void visit_fields(Fields &fields, Value &data) {
    fields("ordinary", data.ordinary);
    fields("other", data.other);
    fields("wide", data.wide);
}

template<typename Fields, IsPart<SamplingLimits> Value>
void visit_fields(Fields &fields, Value &limits) {
    fields("min_samples", limits.min_samples);
    fields("max_samples", limits.max_samples);
    fields("min_total_ns", limits.min_total_ns);
    fields("max_total_ns", limits.max_total_ns);
    fields("relative_precision", limits.relative_precision);
    fields("unstable_spread", limits.unstable_spread);
}

template<typename Fields, IsPart<SamplingOrder> Value>
void visit_fields(Fields &fields, Value &sampling) {
    fields("cache", sampling.cache);
    fields("limits", sampling.limits);
    fields("cutoffs_ns", sampling.cutoffs_ns);
    fields("patience_ns", sampling.patience_ns);
    fields("memory_bytes", sampling.memory_bytes);
}

template<typename Fields, IsPart<JudgeJob> Value>
void visit_fields(Fields &fields, Value &job) {
    fields("call", job.call);
    fields("kernel", job.kernel);
    fields("error_budget", job.error_budget);
    fields("sampling", job.sampling);
    fields("data", job.data);
}

template<typename Fields, IsPart<CoreJudge> Value>
void visit_fields(Fields &fields, Value &judge) {
    fields("path", judge.path);
    fields("program", judge.program);
    fields("time_limit_ns", judge.time_limit_ns);
}

template<typename Fields, IsPart<HeatJob> Value>
void visit_fields(Fields &fields, Value &job) {
    fields("call", job.call);
    fields("kernels", job.kernels);
    fields("cache", job.cache);
    fields("rounds", job.rounds);
    fields("seed", job.seed);
    fields("workspace_bytes", job.workspace_bytes);
    fields("workspace_bytes_per_thread", job.workspace_bytes_per_thread);
    fields("operands", job.operands);
    fields("memory_bytes", job.memory_bytes);
    fields("judge", job.judge);
}

template<typename Fields, IsPart<PrepareJob> Value>
void visit_fields(Fields &fields, Value &job) {
    fields("call", job.call);
    fields("data", job.data);
}

template<typename Fields, IsPart<ExecuteJob> Value>
void visit_fields(Fields &fields, Value &job) {
    fields("call", job.call);
    fields("kernel", job.kernel);
    fields("operands", job.operands);
    fields("output", job.output);
    fields("judge", job.judge);
}

template<typename Fields, IsPart<PackJob> Value>
void visit_fields(Fields &fields, Value &job) {
    fields("call", job.call);
    fields("kernel", job.kernel);
    fields("weights", job.weights);
    fields("packed", job.packed);
}

template<typename Fields, IsPart<NetworkJob> Value>
void visit_fields(Fields &fields, Value &job) {
    fields("call", job.call);
    fields("library", job.library);
    fields("weights", job.weights);
    fields("inputs", job.inputs);
    fields("outputs", job.outputs);
    fields("repeats", job.repeats);
    fields("compare_threads", job.compare_threads);
    fields("sampling", job.sampling);
    fields("step_calls", job.step_calls);
}

}  // namespace kiln
