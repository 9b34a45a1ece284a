#include "tuner/budget/kernel_choice.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace kiln {
namespace {

// Code that several layers may share, by number.
using SharedCode = std::map<std::string, size_t>;
constexpr size_t most_shared = 64;  // bits of a set; what is beyond them is counted for each layer

SharedCode shared_code(const std::vector<LayerKernels> &layers) {
    std::map<std::string, size_t> last;  // the layer that had it last
    SharedCode shared;
    for (size_t i = 0; i < layers.size(); i++) {
        for (const KernelOption &option : layers[i].options) {
            const auto [seen, is_new] = last.try_emplace(option.code, i);
            if (!is_new && seen->second != i && shared.size() < most_shared)
                shared.try_emplace(option.code, shared.size());
            seen->second = i;
        }
    }
    return shared;
}

// Choices for the first layers, with a way back through the layers before.
struct Partial {
    int64_t text = 0, cycles = 0;
    uint64_t has = 0;  // the shared code that it has already
    size_t before = 0, option = 0;
};

// What another one beats is dropped: fewer bytes, fewer cycles, and all of its code. Sorted by bytes, then cycles.
void drop_beaten(std::vector<Partial> *partials) {
    std::ranges::sort(*partials, [](const Partial &a, const Partial &b) {
        return std::pair(a.text, a.cycles) < std::pair(b.text, b.cycles);
    });
    std::map<uint64_t, int64_t> fewest;  // cycles, for each set of code
    std::erase_if(*partials, [&](const Partial &p) {
        for (const auto &[has, cycles] : fewest) {
            if (cycles <= p.cycles && (has & p.has) == p.has) return true;
        }
        fewest[p.has] = p.cycles;
        return false;
    });
}

struct LimitName {
    const char *option, *what;
    int64_t KernelOption::*need;
    int64_t MemoryBudget::*limit;
};
constexpr LimitName own_limits[] = {
    {"--max-stack", "bytes of stack", &KernelOption::stack, &MemoryBudget::stack},
    {"--max-workspace", "bytes of workspace", &KernelOption::workspace, &MemoryBudget::workspace},
};

bool fits(const KernelOption &option, const MemoryBudget &budget) {
    return std::ranges::all_of(own_limits,
                               [&](const LimitName &name) { return option.*name.need <= budget.*name.limit; });
}

// Why a layer has no kernel that fits.
Error no_kernel(const LayerKernels &layer, const MemoryBudget &budget) {
    std::string message = layer.layer + ": no kernel fits";
    if (layer.options.empty()) return unsupported(layer.layer + ": there is no kernel at all");
    for (const LimitName &name : own_limits) {
        if (budget.*name.limit == MemoryBudget::unlimited) continue;
        const auto least = std::ranges::min(layer.options, {}, name.need).*name.need;
        message += "; " + std::string(name.option) + " " + std::to_string(budget.*name.limit) + ", and the least is " +
                   std::to_string(least) + " " + name.what;
    }
    return unsupported(message);
}

class Search {
public:
    Search(const std::vector<LayerKernels> &layers, const MemoryBudget &budget)
        : layers_(layers), budget_(budget), shared_(shared_code(layers)) {}

    // False: some layer has no kernel that fits.
    std::optional<Error> run() {
        steps_.push_back({Partial{}});
        for (const LayerKernels &layer : layers_) {
            std::vector<Partial> next;
            for (size_t i = 0; i < layer.options.size(); i++) {
                if (fits(layer.options[i], budget_)) add(layer.options[i], i, &next);
            }
            if (next.empty()) return no_kernel(layer, budget_);
            drop_beaten(&next);
            steps_.push_back(std::move(next));
        }
        return {};
    }

    std::vector<KernelChoice> choices() const {
        std::vector<KernelChoice> found;
        for (const Partial &last : steps_.back()) {
            if (!found.empty() && last.cycles >= found.back().cycles) continue;  // it only has more code for others
            found.push_back(choice(last));
        }
        return found;
    }

private:
    void add(const KernelOption &option, size_t index, std::vector<Partial> *next) const {
        const auto known = shared_.find(option.code);
        const uint64_t bit = known == shared_.end() ? 0 : uint64_t{1} << known->second;
        const std::vector<Partial> &before = steps_.back();
        for (size_t i = 0; i < before.size(); i++) {
            const Partial &p = before[i];
            const int64_t text = p.text + ((p.has & bit) != 0 ? 0 : option.text);
            next->push_back({text, p.cycles + option.cycles, p.has | bit, i, index});
        }
    }

    KernelChoice choice(Partial at) const {
        KernelChoice choice{std::vector<size_t>(layers_.size()), at.cycles, at.text};
        for (size_t i = layers_.size(); i > 0; i--) {
            choice.options[i - 1] = at.option;
            const KernelOption &option = layers_[i - 1].options[at.option];
            choice.stack = std::max(choice.stack, option.stack);
            choice.workspace = std::max(choice.workspace, option.workspace);
            at = steps_[i - 1][at.before];
        }
        return choice;
    }

    const std::vector<LayerKernels> &layers_;
    const MemoryBudget &budget_;
    SharedCode shared_;
    std::vector<std::vector<Partial>> steps_;
};

}  // namespace

Result<std::vector<KernelChoice>> pareto_choices(const std::vector<LayerKernels> &layers, const MemoryBudget &budget) {
    Search search(layers, budget);
    if (const std::optional<Error> error = search.run()) return *error;
    return search.choices();
}

Result<KernelChoice> best_choice(const std::vector<LayerKernels> &layers, const MemoryBudget &budget) {
    const auto choices = pareto_choices(layers, budget);
    if (!choices) return choices.error();
    const KernelChoice *best = nullptr;
    for (const KernelChoice &choice : *choices) {
        if (choice.text <= budget.text) best = &choice;  // the more code, the fewer cycles
    }
    if (best) return *best;
    return unsupported("--max-text " + std::to_string(budget.text) + ": the smallest kernels of all " +
                       std::to_string(layers.size()) + " layers have " + std::to_string(choices->front().text) +
                       " bytes of code together");
}

}  // namespace kiln
