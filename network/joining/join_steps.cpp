#include "network/joining/join_steps.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "network/joining/joined_nest.h"
#include "workload/signature.h"

namespace kiln::network {
namespace {

struct Range {
    Place place;
    int64_t bytes = 0;

    bool overlaps(const Range &other) const {
        return place.memory == other.place.memory && place.index == other.place.index &&
               place.offset < other.place.offset + other.bytes && other.place.offset < place.offset + bytes;
    }
};

// What is left of these ranges where `written` is written over.
std::vector<Range> without(const std::vector<Range> &ranges, const Range &written) {
    std::vector<Range> left;
    for (const Range &range : ranges) {
        if (!range.overlaps(written)) {
            left.push_back(range);
            continue;
        }
        const int64_t begin = range.place.offset, end = begin + range.bytes;
        const int64_t first = written.place.offset, last = first + written.bytes;
        Range part = range;
        if (begin < first) part.bytes = first - begin, left.push_back(part);
        if (last < end) part.place.offset = last, part.bytes = end - last, left.push_back(part);
    }
    return left;
}

// The memory that a step reads and writes.
struct Touched {
    std::vector<Range> reads;
    Range result;
};

Touched touched(const Step &step) {
    Touched all;
    if (const auto *copy = std::get_if<Copy>(&step.work)) {
        const auto range = [&](const Place &place, int64_t pitch) {
            return Range{place, (copy->rows - 1) * pitch + copy->row_bytes};
        };
        all.reads.push_back(range(copy->from, copy->from_pitch));
        all.result = range(copy->to, copy->to_pitch);
        return all;
    }
    const auto &call = std::get<KernelCall>(step.work);
    const Signature signature = kiln::signature(call.workload);
    for (size_t i = 0; i < call.operands.size(); i++) {
        all.reads.push_back({call.operands[i], signature.operands[i].bytes()});
    }
    all.result = {call.result, signature.result.bytes()};
    return all;
}

const KernelCall *nest_call(const Step &step) {
    const auto *call = std::get_if<KernelCall>(&step.work);
    return call && call->workload.op == Operation::nest ? call : nullptr;
}

class Joining {
public:
    Joining(const JoinPrices &prices, Program *program) : prices_(prices), steps_(program->steps) {
        for (const Step &step : steps_) touched_.push_back(touched(step));
    }

    bool join_any() {
        for (size_t consumer = 1; consumer < steps_.size(); consumer++) {
            const KernelCall *call = nest_call(steps_[consumer]);
            for (size_t operand = 0; call && operand < call->operands.size(); operand++) {
                const auto producer = producer_of(touched_[consumer].reads[operand], consumer);
                if (producer && join(*producer, consumer, static_cast<int>(operand))) return true;
            }
        }
        return false;
    }

private:
    // The nest that computed all of these bytes, which nothing reads but one operand of the consumer.
    std::optional<size_t> producer_of(const Range &range, size_t consumer) const {
        if (range.place.memory != Place::Memory::workspace) return {};
        size_t at = consumer;
        while (at > 0 && !touched_[at - 1].result.overlaps(range)) at--;
        if (at == 0) return {};
        const size_t producer = at - 1;
        const Range &result = touched_[producer].result;
        const bool is_same = result.place == range.place && result.bytes == range.bytes;
        if (!is_same || !nest_call(steps_[producer]) || touched_[consumer].result.overlaps(range)) return {};
        std::vector<Range> left{result};  // what later steps have not written over
        for (size_t later = producer + 1; later < steps_.size() && !left.empty(); later++) {
            const auto reads = std::ranges::count_if(touched_[later].reads, [&](const Range &read) {
                return std::ranges::any_of(left, [&](const Range &part) { return read.overlaps(part); });
            });
            if (reads > (later == consumer ? 1 : 0)) return {};
            if (later > consumer) left = without(left, touched_[later].result);
        }
        return producer;
    }

    // Whether what the producer reads is still there, and stays so while the consumer writes. The producer itself, which may
    // write over it, will be gone.
    bool is_kept(size_t producer, size_t consumer) const {
        for (const Range &read : touched_[producer].reads) {
            for (size_t at = producer + 1; at <= consumer; at++) {
                if (touched_[at].result.overlaps(read)) return false;
            }
        }
        return true;
    }

    bool pays(const Workload &first, const Workload &second, const Workload &both) const {
        if (!prices_.time) return true;
        const auto a = prices_.time(first), b = prices_.time(second), all = prices_.time(both);
        if (!a || !b) return true;
        return all ? *all <= *a + *b : prices_.hopes;
    }

    bool join(size_t producer, size_t consumer, int operand) {
        if (!is_kept(producer, consumer)) return false;
        const KernelCall &first = *nest_call(steps_[producer]), &second = *nest_call(steps_[consumer]);
        const auto joined = joined_nest(nest_of(first.workload), nest_of(second.workload), operand);
        if (!joined) return false;
        KernelCall call{nest_workload(joined->nest), {}, second.result};
        if (!pays(first.workload, second.workload, call.workload)) return false;
        for (const JoinedNest::Source &source : joined->sources) {
            call.operands.push_back(
                (source.is_producers ? first : second).operands[static_cast<size_t>(source.operand)]);
        }
        put(producer, consumer, std::move(call));
        return true;
    }

    void put(size_t producer, size_t consumer, KernelCall call) {
        const Step &first = steps_[producer];
        Step &second = steps_[consumer];
        std::vector<std::string> origins = first.origins;
        for (std::string &origin : second.origins) {
            if (std::ranges::find(origins, origin) == origins.end()) origins.push_back(std::move(origin));
        }
        second.origins = std::move(origins);
        second.name = first.name;
        second.reads.insert(second.reads.end(), first.reads.begin(), first.reads.end());
        second.work = std::move(call);
        touched_[consumer] = touched(second);
        steps_.erase(steps_.begin() + static_cast<std::ptrdiff_t>(producer));
        touched_.erase(touched_.begin() + static_cast<std::ptrdiff_t>(producer));
        const int gone = static_cast<int>(producer);
        for (Step &step : steps_) {
            std::erase(step.reads, gone);
            for (int &read : step.reads) read -= read > gone;
            std::ranges::sort(step.reads);
            step.reads.erase(std::ranges::unique(step.reads).begin(), step.reads.end());
        }
    }

    const JoinPrices &prices_;
    std::vector<Step> &steps_;
    std::vector<Touched> touched_;
};

}  // namespace

void join_steps(const JoinPrices &prices, Program *program) {
    Joining joining(prices, program);
    while (joining.join_any()) {
    }
}

}  // namespace kiln::network
