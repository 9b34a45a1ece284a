#include "package/c/c_budget.h"

#include <algorithm>
#include <map>
#include <optional>

#include "package/c/c_kernel_files.h"
#include "package/c/c_layer.h"
#include "package/c/c_network_files.h"
#include "package/output/text_files.h"
#include "tuner/budget/recorded_option.h"

namespace kiln {
namespace {

// A layer and what it may have: recorded candidates, or nothing for the default.
struct Layer {
    NamedWorkload workload;
    std::vector<std::optional<CandidateChoice>> choices;
    LayerKernels sizes;
};

// A layer's kernel, built: what was collected for it alone, and its size as it would ship.
struct BuiltKernel {
    CollectedKernels collected;
    KernelOption size;
};

class BudgetedCollection {
public:
    BudgetedCollection(const BudgetRequest &request, const CollectEnvironment &environment)
        : request_(request), environment_(environment) {}

    Status gather();
    // What was chosen with the sizes that are known, built. Nothing: its sizes are others, which are known now.
    Result<std::optional<CollectedKernels>> attempt();
    const CollectedKernels &without() const { return without_; }  // reports of layers that no algorithm computes

private:
    Result<const BuiltKernel *> built(size_t layer, size_t choice);
    Result<KernelOption> real_size(const PackagedKernel &kernel) const;

    const BudgetRequest &request_;
    const CollectEnvironment &environment_;
    std::vector<Layer> layers_;
    CollectedKernels without_;                                     // layers that no algorithm computes
    std::map<std::pair<size_t, std::string>, BuiltKernel> built_;  // by layer and candidate; the default has no text
};

std::string text_of(const std::optional<CandidateChoice> &choice) { return choice ? to_text(choice->candidate) : ""; }

Status BudgetedCollection::gather() {
    for (const NamedWorkload &workload : merge_equal(request_.workloads)) {
        const ChoiceContext context = context_of(request_.target, environment_);
        const auto usable = usable_algorithms(workload.workload, context);
        if (!usable && usable.error().code != ErrorCode::unsupported) return usable.error();
        if (!usable || usable->empty()) {
            const auto none = collect_kernels({workload}, {request_.target}, environment_, [](const KernelReport &) {});
            if (!none) return none.error();
            without_.reports.insert(without_.reports.end(), none->reports.begin(), none->reports.end());
            continue;
        }
        const auto recorded = recorded_candidates(workload.workload, *usable, context);
        if (!recorded) return recorded.error();
        Layer layer{workload, {}, {workload.list + "/" + workload.name, {}}};
        for (const CandidateChoice &choice : *recorded) {
            layer.choices.emplace_back(choice);
            layer.sizes.options.push_back(recorded_option(choice.best->measurement, workload.count));
        }
        if (layer.choices.empty()) {
            layer.choices.emplace_back();
            layer.sizes.options.emplace_back();  // of no size, until it is built
        }
        layers_.push_back(std::move(layer));
    }
    return {};
}

// With the function around it.
Result<KernelOption> BudgetedCollection::real_size(const PackagedKernel &kernel) const {
    Package package;
    package.name = "kiln_budget";
    package.kernels = {kernel};
    const std::string folder = request_.work_folder + "/budget";
    const std::vector<CLayer> layers = c_network_layers(package);
    const std::string header = c_kernels_header(package.name, layers);
    if (Status s = write_text(folder + "/src/" + package.name + "_kernels.h", header); !s) return s.error();
    if (Status s = write_kernel_files(package.name, layers, folder); !s) return s.error();
    const Result<CKernelFacts> facts = compile_kernel_files(layers, folder);
    if (!facts) return facts.error();
    const CObjectFacts &code = layers.front().has_file() ? facts->layers.front() : facts->shared.front();
    return KernelOption{.code = kernel.artifact.shared_code,
                        .cycles = kernel.workload.count * kernel.soft_core->cycles,
                        .text = code.text_bytes + code.rodata_bytes,
                        .stack = code.stack_bytes,
                        .workspace = kernel.workspace_bytes};
}

Result<const BuiltKernel *> BudgetedCollection::built(size_t layer, size_t choice) {
    const std::optional<CandidateChoice> &wanted = layers_[layer].choices[choice];
    const auto [place, is_new] = built_.try_emplace({layer, text_of(wanted)});
    if (!is_new) return &place->second;
    CollectEnvironment environment = environment_;
    const NamedWorkload &workload = layers_[layer].workload;
    if (wanted) environment.wanted.emplace(key(workload.workload), *wanted);
    auto collected = collect_kernels({workload}, {request_.target}, environment, [](const KernelReport &) {});
    if (!collected) return collected.error();
    if (!collected->kernels.empty()) {
        const Result<KernelOption> size = real_size(collected->kernels.front());
        if (!size) return size.error();
        place->second.size = *size;
    }
    place->second.collected = std::move(*collected);
    return &place->second;
}

bool is_same_size(const KernelOption &a, const KernelOption &b) {
    return a.text == b.text && a.stack == b.stack && a.workspace == b.workspace && a.cycles == b.cycles;
}

Result<std::optional<CollectedKernels>> BudgetedCollection::attempt() {
    std::vector<LayerKernels> sizes;
    for (const Layer &layer : layers_) sizes.push_back(layer.sizes);
    const Result<KernelChoice> choice = best_choice(sizes, request_.budget);
    if (!choice) return choice.error();
    bool is_as_expected = true;
    CollectedKernels all = without_;
    for (size_t i = 0; i < layers_.size(); i++) {
        Layer &layer = layers_[i];
        const auto chosen = static_cast<std::ptrdiff_t>(choice->options[i]);
        const Result<const BuiltKernel *> one = built(i, choice->options[i]);
        if (!one) return one.error();
        const CollectedKernels &collected = (*one)->collected;
        const std::optional<CandidateChoice> &wanted = layer.choices[choice->options[i]];
        if (collected.kernels.empty() || (wanted && collected.kernels.front().candidate != text_of(wanted))) {
            layer.choices.erase(layer.choices.begin() + chosen);  // it is wrong here, or cannot be built any more
            layer.sizes.options.erase(layer.sizes.options.begin() + chosen);
            is_as_expected = false;
            continue;
        }
        KernelOption &size = layer.sizes.options[choice->options[i]];
        is_as_expected = is_as_expected && is_same_size(size, (*one)->size);
        size = (*one)->size;
        all.kernels.insert(all.kernels.end(), collected.kernels.begin(), collected.kernels.end());
        all.reports.insert(all.reports.end(), collected.reports.begin(), collected.reports.end());
    }
    if (!is_as_expected) return std::optional<CollectedKernels>();
    return std::optional(std::move(all));
}

}  // namespace

Result<CollectedKernels> collect_within(const BudgetRequest &request, const CollectEnvironment &environment,
                                        const CollectListener &listener) {
    BudgetedCollection collection(request, environment);
    if (Status s = collection.gather(); !s) return s.error();
    if (request.needs_all && !collection.without().reports.empty()) return collection.without();
    for (;;) {  // each turn learns the size of another kernel at least
        Result<std::optional<CollectedKernels>> collected = collection.attempt();
        if (!collected) return collected.error();
        if (!*collected) continue;
        for (const KernelReport &report : (*collected)->reports) listener(report);
        return std::move(**collected);
    }
}

}  // namespace kiln
