#include "tuner/budget/kernel_choice.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

namespace kiln {
namespace {

// Code that several layers may share, by number: a bit of a set.
using SharedCode = std::map<std::string, size_t>;
constexpr size_t most_shared = 64;  // in all
// Of layers that are tied by such code, those that most layers may have. Others are counted for each layer: every set of code
// has choices of its own, so their number is what takes time and memory.
constexpr size_t most_tied = 8;

// The order in which layers are gone through, layers that are tied by shared code side by side and first, and that code.
struct Order {
    std::vector<size_t> layers;
    SharedCode shared;
};

Order order_of(const std::vector<LayerKernels> &layers) {
    std::map<std::string, std::set<size_t>> owners;
    for (size_t i = 0; i < layers.size(); i++) {
        for (const KernelOption &option : layers[i].options) {
            if (!option.code.empty()) owners[option.code].insert(i);
        }
    }
    std::vector<size_t> tie(layers.size());  // the first of the layers that a layer is tied to
    std::iota(tie.begin(), tie.end(), size_t{0});
    for (const auto &[code, of] : owners) {
        std::set<size_t> ties;
        for (const size_t layer : of) ties.insert(tie[layer]);
        for (size_t &t : tie) t = ties.contains(t) ? *ties.begin() : t;
    }
    std::vector<std::pair<size_t, std::string>> by_owners;
    for (const auto &[code, of] : owners) {
        if (of.size() > 1) by_owners.emplace_back(of.size(), code);
    }
    std::ranges::sort(by_owners, std::greater());
    Order order;
    std::map<size_t, size_t> tied;  // code by tie
    for (const auto &[count, code] : by_owners) {
        size_t &of_tie = tied[tie[*owners[code].begin()]];
        if (of_tie < most_tied && order.shared.size() < most_shared) {
            of_tie++;
            order.shared.emplace(code, order.shared.size());
        }
    }
    order.layers.resize(layers.size());
    std::iota(order.layers.begin(), order.layers.end(), size_t{0});
    std::ranges::stable_sort(order.layers, {}, [&](size_t i) { return std::pair(!tied.contains(tie[i]), tie[i]); });
    return order;
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

constexpr size_t most_named = 5;  // layers in a message

// Which layers have no kernel that fits, and by how much. Nothing where each has one.
std::optional<Error> layers_without_kernel(const std::vector<LayerKernels> &layers, const MemoryBudget &budget) {
    std::vector<std::string> lines;
    for (const LayerKernels &layer : layers) {
        if (layer.options.empty()) return unsupported(layer.layer + ": there is no kernel at all");
        if (std::ranges::any_of(layer.options, [&](const KernelOption &o) { return fits(o, budget); })) continue;
        std::string line = layer.layer + ": no kernel fits";
        for (const LimitName &name : own_limits) {
            if (budget.*name.limit == MemoryBudget::unlimited) continue;
            const auto least = std::ranges::min(layer.options, {}, name.need).*name.need;
            line += "; " + std::string(name.option) + " " + std::to_string(budget.*name.limit) + ", and the least is " +
                    std::to_string(least) + " " + name.what;
        }
        lines.push_back(std::move(line));
    }
    if (lines.empty()) return {};
    std::string message = lines.front();
    for (size_t i = 1; i < std::min(lines.size(), most_named); i++) message += ". " + lines[i];
    if (lines.size() > most_named) {
        message += ". And so for " + std::to_string(lines.size() - most_named) + " more";
    }
    return unsupported(message);
}

// The layers whose kernels have most of the code of a choice, those that share a kernel together.
std::string largest_kernels(const std::vector<LayerKernels> &layers, const KernelChoice &choice) {
    struct Code {
        int64_t text = 0;
        std::string layers;
    };
    std::map<std::string, Code> shared;
    std::vector<Code> codes;
    for (size_t i = 0; i < layers.size(); i++) {
        const KernelOption &option = layers[i].options[choice.options[i]];
        if (option.code.empty()) {
            codes.push_back({option.text, layers[i].layer});
            continue;
        }
        Code &code = shared[option.code];
        code.text = option.text;
        code.layers += (code.layers.empty() ? "" : ", ") + layers[i].layer;
    }
    for (auto &[name, code] : shared) codes.push_back(std::move(code));
    std::ranges::stable_sort(codes, std::greater(), &Code::text);
    std::string named;
    for (size_t i = 0; i < std::min(codes.size(), most_named); i++) {
        named += (i == 0 ? "" : "; ") + std::to_string(codes[i].text) + " bytes for " + codes[i].layers;
    }
    return named;
}

class Search {
public:
    Search(const std::vector<LayerKernels> &layers, const MemoryBudget &budget)
        : layers_(layers), budget_(budget), order_(order_of(layers)) {}

    // The error: some layers have no kernel that fits.
    std::optional<Error> run() {
        steps_.push_back({Partial{}});
        if (std::optional<Error> error = layers_without_kernel(layers_, budget_)) return error;
        for (size_t at = 0; at < order_.layers.size(); at++) {
            const LayerKernels &layer = layers_[order_.layers[at]];
            const uint64_t wanted = wanted_behind(at);
            std::vector<Partial> next;
            for (size_t i = 0; i < layer.options.size(); i++) {
                if (fits(layer.options[i], budget_)) add(layer.options[i], i, wanted, &next);
            }
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
    uint64_t bit_of(const KernelOption &option) const {
        const auto known = order_.shared.find(option.code);
        return known == order_.shared.end() ? 0 : uint64_t{1} << known->second;
    }

    // The shared code that later layers may have: of other code nobody asks any more whether it is there.
    uint64_t wanted_behind(size_t at) const {
        uint64_t wanted = 0;
        for (size_t later = at + 1; later < order_.layers.size(); later++) {
            for (const KernelOption &option : layers_[order_.layers[later]].options) wanted |= bit_of(option);
        }
        return wanted;
    }

    void add(const KernelOption &option, size_t index, uint64_t wanted, std::vector<Partial> *next) const {
        const uint64_t bit = bit_of(option);
        const std::vector<Partial> &before = steps_.back();
        for (size_t i = 0; i < before.size(); i++) {
            const Partial &p = before[i];
            const int64_t text = p.text + ((p.has & bit) != 0 ? 0 : option.text);
            next->push_back({text, p.cycles + option.cycles, (p.has | bit) & wanted, i, index});
        }
    }

    KernelChoice choice(Partial at) const {
        KernelChoice choice{std::vector<size_t>(layers_.size()), at.cycles, at.text};
        for (size_t i = layers_.size(); i > 0; i--) {
            const size_t layer = order_.layers[i - 1];
            choice.options[layer] = at.option;
            const KernelOption &option = layers_[layer].options[at.option];
            choice.stack = std::max(choice.stack, option.stack);
            choice.workspace = std::max(choice.workspace, option.workspace);
            at = steps_[i - 1][at.before];
        }
        return choice;
    }

    const std::vector<LayerKernels> &layers_;
    const MemoryBudget &budget_;
    Order order_;
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
        if (choice.text <= budget.text - budget.caller_text) best = &choice;  // the more code, the fewer cycles
    }
    if (best) return *best;
    const KernelChoice &smallest = choices->front();
    const std::string caller = budget.caller_text == 0
                                   ? ""
                                   : ", and what calls them has " + std::to_string(budget.caller_text) +
                                         " bytes: " + std::to_string(smallest.text + budget.caller_text) + " in all";
    return unsupported("--max-text " + std::to_string(budget.text) + ": the smallest kernels of all " +
                       std::to_string(layers.size()) + " layers have " + std::to_string(smallest.text) +
                       " bytes of code together" + caller + ", " +
                       std::to_string(smallest.text + budget.caller_text - budget.text) +
                       " too many. Smaller ones may be found by more trials of `kiln tune`. The largest are " +
                       largest_kernels(layers, smallest));
}

}  // namespace kiln
