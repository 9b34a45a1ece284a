#include "tuner/race/race_field.h"

#include <algorithm>
#include <set>

namespace kiln {

std::vector<size_t> race_field(const std::vector<Contender> &contenders, const FieldRules &rules) {
    std::vector<size_t> order;
    for (size_t i = 0; i < contenders.size(); i++) order.push_back(i);
    // Several trials may have one object. The incumbent's trial stands for it, else the default's, so that reruns race
    // the same trials.
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        const Contender &x = contenders[a], &y = contenders[b];
        if (x.quiet_ns != y.quiet_ns) return x.quiet_ns < y.quiet_ns;
        if (x.is_incumbent != y.is_incumbent) return x.is_incumbent;
        if (x.is_default != y.is_default) return x.is_default;
        return x.object_bytes < y.object_bytes;
    });
    std::vector<size_t> field;
    std::set<std::string> objects;
    size_t top = 0;
    for (const size_t i : order) {
        const Contender &c = contenders[i];
        if (objects.contains(c.object_hash)) continue;
        const double behind = c.quiet_ns / contenders[order.front()].quiet_ns;
        const bool is_close = top < rules.top && behind <= rules.close;
        if (!is_close && !((c.is_incumbent || c.is_default) && behind <= rules.not_worth_it)) continue;
        top += is_close;
        objects.insert(c.object_hash);
        field.push_back(i);
    }
    if (field.size() != 1) return field;
    for (const size_t i : order) {
        if (contenders[i].is_incumbent && !objects.contains(contenders[i].object_hash)) field.push_back(i);
    }
    return field;
}

}  // namespace kiln
