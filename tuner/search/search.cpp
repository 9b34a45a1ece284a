#include "tuner/search/search.h"

#include <iterator>
#include <string>
#include <utility>

#include "tuner/search/evolutionary_search.h"
#include "tuner/search/random_search.h"

namespace kiln {
namespace {

struct Strategy {
    std::string_view name;
    std::unique_ptr<Search> (*make)(std::vector<Space> spaces, uint64_t seed);
};

template<typename T>
std::unique_ptr<Search> make(std::vector<Space> spaces, uint64_t seed) {
    return std::make_unique<T>(std::move(spaces), seed);
}

constexpr Strategy strategies[] = {
    {"evolutionary", make<EvolutionarySearch>},
    {"random", make<RandomSearch>},
};

}  // namespace

std::span<const std::string_view> search_names() {
    static const std::vector<std::string_view> names = [] {
        std::vector<std::string_view> list;
        for (const Strategy &strategy : strategies) list.push_back(strategy.name);
        return list;
    }();
    return names;
}

Result<std::unique_ptr<Search>> make_search(std::string_view name, std::vector<Space> spaces, uint64_t seed) {
    std::string known;
    for (const Strategy &strategy : strategies) {
        if (strategy.name == name) return strategy.make(std::move(spaces), seed);
        known += (known.empty() ? "" : ", ") + std::string(strategy.name);
    }
    return Error{ErrorCode::usage, "unknown strategy `" + std::string(name) + "`; known are " + known};
}

}  // namespace kiln
