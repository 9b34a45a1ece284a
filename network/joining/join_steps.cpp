#include "network/joining/join_steps.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "network/joining/joined_nest.h"
#include "network/joining/touched_memory.h"

namespace kiln::network {
namespace {

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

bool is_narrow(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }

// Floats of 16 bits are converted in steps of their own: a nest that reads others, too, has no types for them.
const KernelCall *nest_call(const Step &step) {
    const auto *call = std::get_if<KernelCall>(&step.work);
    const bool is_nest = call && call->workload.op == Operation::nest;
    return is_nest && !is_narrow(call->workload.dtype) && !is_narrow(call->workload.output_dtype) ? call : nullptr;
}

// Consumers are visited in their order, each until nothing joins it any more. What became part of another step is marked, and left out
// at the end, so that all keep their numbers.
//
// The plan is that of a search that begins anew behind each join, since a join lets few pairs join that were refused before:
//
// - The consumer has another nest and reads something else. It is visited again, and so is what reads its result (`readers_`).
// - The producer writes over nothing any more. What was refused because it did is visited again (`waiting_`).
// - What the producer read is read by the consumer now, and nothing between them writes over it. So a result that had another reader
//   still has one.
class Joining {
public:
    Joining(const JoinPrices &prices, Program *program)
        : prices_(prices), steps_(program->steps), is_gone_(steps_.size(), false), readers_(steps_.size(), none) {
        for (size_t i = 0; i < steps_.size(); i++) {
            touched_.push_back(touched(steps_[i]));
            if (is_in_workspace(touched_[i].result)) writers_[key_of(touched_[i].result)].insert(i);
            due_.insert(due_.end(), i);
        }
    }

    void run() {
        while (!due_.empty()) {
            const size_t consumer = *due_.begin();
            due_.erase(due_.begin());
            visit(consumer);
        }
        number_anew();
    }

private:
    using RangeKey = std::tuple<int, int64_t, int64_t>;

    static constexpr size_t none = std::numeric_limits<size_t>::max();

    static bool is_in_workspace(const Range &range) {
        return range.place.memory == Place::Memory::workspace && range.bytes > 0;
    }
    static RangeKey key_of(const Range &range) { return {range.place.index, range.place.offset, range.bytes}; }

    // Joins it with the first of the nests that computed its operands, if one fits.
    void visit(size_t consumer) {
        const KernelCall *call = nest_call(steps_[consumer]);
        for (size_t operand = 0; call && operand < call->operands.size(); operand++) {
            const auto producer = producer_of(touched_[consumer].reads[operand], consumer);
            if (!producer) continue;
            readers_[*producer] = consumer;
            if (const auto between = overwriter(*producer, consumer)) {
                waiting_[*between].push_back(consumer);
            } else if (join(*producer, consumer, static_cast<int>(operand))) {
                return;
            }
        }
    }

    // The nest that computed all of these bytes, which nothing reads but one operand of the consumer.
    std::optional<size_t> producer_of(const Range &range, size_t consumer) const {
        if (!is_in_workspace(range) || touched_[consumer].result.overlaps(range)) return {};
        const auto writers = writers_.find(key_of(range));
        if (writers == writers_.end()) return {};
        const auto next = writers->second.lower_bound(consumer);
        if (next == writers->second.begin()) return {};
        const size_t producer = *std::prev(next);
        if (!nest_call(steps_[producer])) return {};
        std::vector<Range> left{range};  // what later steps have not written over
        for (size_t later = producer + 1; later < steps_.size() && !left.empty(); later++) {
            if (is_gone_[later]) continue;
            const auto reads = std::ranges::count_if(touched_[later].reads, [&](const Range &read) {
                return std::ranges::any_of(left, [&](const Range &part) { return read.overlaps(part); });
            });
            if (reads > (later == consumer ? 1 : 0)) return {};
            if (later < consumer && touched_[later].result.overlaps(range)) return {};
            if (later > consumer) left = without(left, touched_[later].result);
        }
        return producer;
    }

    // A step that writes over what the producer reads, before the consumer has read it or while it writes. The producer itself,
    // which may do so, will be gone.
    std::optional<size_t> overwriter(size_t producer, size_t consumer) const {
        for (const Range &read : touched_[producer].reads) {
            for (size_t at = producer + 1; at <= consumer; at++) {
                if (!is_gone_[at] && touched_[at].result.overlaps(read)) return at;
            }
        }
        return {};
    }

    bool pays(const Workload &first, const Workload &second, const Workload &both) const {
        if (!prices_.time) return true;
        const auto a = prices_.time(first), b = prices_.time(second), all = prices_.time(both);
        if (!a || !b) return true;
        return all ? *all <= *a + *b : prices_.hopes;
    }

    bool join(size_t producer, size_t consumer, int operand) {
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
        is_gone_[producer] = true;
        writers_[key_of(touched_[producer].result)].erase(producer);
        tidy_reads(&second);
        visit_again(consumer);
        visit_again(readers_[consumer]);
        for (const size_t waiting : waiting_[producer]) visit_again(waiting);
        waiting_.erase(producer);
    }

    void visit_again(size_t step) {
        if (step != none && !is_gone_[step]) due_.insert(step);
    }

    void tidy_reads(Step *step) const {
        std::erase_if(step->reads, [&](int read) { return is_gone_[static_cast<size_t>(read)]; });
        std::ranges::sort(step->reads);
        step->reads.erase(std::ranges::unique(step->reads).begin(), step->reads.end());
    }

    // Without the steps that are gone.
    void number_anew() {
        if (std::ranges::none_of(is_gone_, std::identity())) return;
        std::vector<int> numbers;
        for (size_t i = 0, count = 0; i < steps_.size(); i++) {
            numbers.push_back(static_cast<int>(count));
            if (!is_gone_[i]) count++;
        }
        std::vector<Step> left;
        for (size_t i = 0; i < steps_.size(); i++) {
            if (is_gone_[i]) continue;
            tidy_reads(&steps_[i]);
            for (int &read : steps_[i].reads) read = numbers[static_cast<size_t>(read)];
            left.push_back(std::move(steps_[i]));
        }
        steps_ = std::move(left);
    }

    const JoinPrices &prices_;
    std::vector<Step> &steps_;
    std::vector<Touched> touched_;
    std::vector<bool> is_gone_;
    std::set<size_t> due_;                          // consumers to visit
    std::map<RangeKey, std::set<size_t>> writers_;  // steps by exactly what they write
    std::vector<size_t> readers_;  // by producer: the one step that read its result when it was visited
    std::map<size_t, std::vector<size_t>> waiting_;  // consumers by the step that wrote over what their producer reads
};

}  // namespace

void join_steps(const JoinPrices &prices, Program *program) { Joining(prices, program).run(); }

}  // namespace kiln::network
