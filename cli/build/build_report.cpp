#include "cli/build/build_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/answers/output.h"
#include "package/described_network.h"
#include "package/package_texts.h"
#include "text/quoted_text.h"

namespace kiln {
namespace {

// What became of one kernel, in words.
std::string outcome(const KernelReport &report) {
    const std::string why = report.message.empty() ? "" : "; " + report.message;
    switch (report.source) {
        case KernelSource::tuned:
            return "tuned" + why;
        case KernelSource::stale:
            return "stale: this compiler makes another object than the measured one" + why;
        case KernelSource::untuned:
            return "untuned" + why;
        case KernelSource::empty:
            return "left out: " + report.message;
        case KernelSource::missing:
            break;
    }
    return "no kernel: " + report.message;
}

// What a firmware pays for all layers of C sources together.
void print_soft_core(const Package &package) {
    int64_t cycles = 0, code = 0, packed = 0, stack = 0, workspace = 0;
    for (const PackagedKernel &kernel : package.kernels) {
        const SoftCoreKernel &soft = *kernel.soft_core;
        cycles += kernel.workload.count * soft.cycles, code += soft.text_bytes + soft.rodata_bytes;
        packed += soft.packed_bytes;
        stack = std::max(stack, soft.stack_bytes), workspace = std::max(workspace, kernel.workspace_bytes);
    }
    for (const SharedSoftCoreCode &shared : package.shared_code) code += shared.text_bytes + shared.rodata_bytes;
    print_line(fmt::format("  {} cycles in all; code {} bytes, stack {}, workspace {}; weights {}", cycles, code, stack,
                           workspace, size_text(packed)));
}

// What a firmware pays for a network.
void print_soft_network(const SoftCoreNetwork &network) {
    const size_t steps = network.program.steps.size();
    print_line(fmt::format("  {}(): {} step{}, {} cycles; code {} bytes, constants {}, static memory {}, stack {}",
                           network.function, steps, steps == 1 ? "" : "s", network.cycles, network.text_bytes,
                           size_text(network.constant_bytes), size_text(network.arena_bytes), network.stack_bytes));
}

void print_network(const PackagedNetwork &network, const std::string &name) {
    const int64_t plan = network.program.workspace, least = network.program.workspace_lower_bound;
    const std::string targets =
        network.variants.size() > 1 ? fmt::format(" for each of {} targets", network.variants.size()) : "";
    const size_t steps = network.program.steps.size();
    const std::string share = least > 0 ? fmt::format(", {:.2f} x the least", double(plan) / double(least)) : "";
    print_line(fmt::format("  {}_{}(): {} step{}{}, {} of values{}", name, network.function(), steps,
                           steps == 1 ? "" : "s", targets, size_text(plan), share));
    if (network.prepares_inputs) {
        for (const network::Port &port : network.program.outputs) {
            print_line(fmt::format("    {}: {} {}", quoted_line(port.name), graph::name(port.form.type),
                                   graph::to_text(port.form.shape)));
        }
        return;
    }
    const std::string place = network.embeds_weights ? "in the library" : fmt::format("in lib/{}.weights", name);
    print_line(fmt::format("  weights: {} {}", size_text(network.weights_bytes), place));
}

}  // namespace

void show_kernel(const KernelReport &report) {
    tell_line(fmt::format("{}/{}, {}: {}", report.workload.list, report.workload.name, report.target.halide,
                          outcome(report)));
}

NetworkReports::NetworkReports(size_t targets, size_t kernels, std::function<int64_t()> now_ns)
    : targets_(targets), kernels_(kernels), now_ns_(std::move(now_ns)), last_line_ns_(now_ns_()) {}

void NetworkReports::show(const KernelReport &report) {
    constexpr int64_t interval_ns = 10'000'000'000;
    show_outcome(report);
    const int64_t now = now_ns_();
    if (++done_ >= kernels_ || now - last_line_ns_ < interval_ns) return;
    last_line_ns_ = now;
    tell_line(fmt::format("{} of {} kernels are built and checked", done_, kernels_));
}

void NetworkReports::show_outcome(const KernelReport &report) {
    constexpr int most = 5;
    const bool is_as_wanted = report.source == KernelSource::tuned || report.source == KernelSource::untuned;
    if ((is_as_wanted && report.message.empty()) || ++shown_ > most) return;
    const std::string target = targets_ == 1 ? "" : ", " + report.target.halide;
    tell_line(fmt::format("{}{}: {}", report.workload.name, target, outcome(report)));
    if (shown_ == most) tell_line("...");
}

void print_package(const Package &package, const std::string &output) {
    const auto count = [&](auto is_one) { return std::ranges::count_if(package.kernels, is_one); };
    const auto untuned = count([](const PackagedKernel &k) { return !k.best.has_value(); });
    const auto stale = count([](const PackagedKernel &k) { return k.stale; });
    const auto all = int64_t(package.kernels.size());
    print_line(fmt::format("{}: {} kernels, {} tuned, {} untuned, {} stale", output, all, all - untuned - stale,
                           untuned, stale));
    if (package.soft_core_network) return print_soft_network(*package.soft_core_network);
    if (!package.kernels.empty() && package.kernels.front().soft_core) print_soft_core(package);
    for (const PackagedNetwork &network : package.networks) print_network(network, package.name);
}

}  // namespace kiln
