// Reads of a nest as text, and back.
#include "workload/nest/nest_text.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace kiln {
namespace {

// Factors, offsets and extents below 2^31 in sums of up to 17 products: no index overflows.
constexpr int64_t largest_number = (int64_t{1} << 31) - 1;

class ReadsParser {
public:
    ReadsParser(std::string_view text, const Nest &nest) : rest_(text), nest_(nest) {}

    Result<std::vector<NestRead>> parse() {
        std::vector<NestRead> reads;
        do {
            NestRead &read = reads.emplace_back();
            if (Status s = parse_read(&read.operand, &read.indices, true); !s) return s.error();
            if (reads.size() > most_nest_reads) return fail("more than " + std::to_string(most_nest_reads) + " reads");
        } while (take(';'));
        if (!rest_.empty()) return fail("`" + std::string(rest_.substr(0, 20)) + "` is not expected");
        return reads;
    }

private:
    static Error fail(const std::string &what) {
        return bad_input("reads: " + what + "; needs reads such as x0[i0,2*i1+r0-1]");
    }

    bool take(char c) {
        if (!rest_.starts_with(c)) return false;
        rest_.remove_prefix(1);
        return true;
    }

    bool take_number(int64_t *number) {
        const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), *number);
        if (error != std::errc() || !is_digit(rest_.front()) || *number > largest_number) return false;
        rest_.remove_prefix(end - rest_.data());
        return true;
    }

    static bool is_digit(char c) { return c >= '0' && c <= '9'; }

    // `x<operand>[index,...]`
    Status parse_read(int *operand, std::vector<NestIndex> *indices, bool may_have_tables) {
        int64_t number = 0;
        if (!take('x') || !take_number(&number)) return fail("a read begins with x and the number of an operand");
        if (number >= static_cast<int64_t>(nest_.operands.size()))
            return fail("x" + std::to_string(number) + " is no operand");
        *operand = static_cast<int>(number);
        const size_t rank = nest_.operands[*operand].size();
        if (!take('[')) return fail("x" + std::to_string(number) + " has no `[`");
        do {
            if (indices->size() == rank) break;
            if (Status s = parse_index(&indices->emplace_back(), may_have_tables); !s) return s;
        } while (take(','));
        if (indices->size() == rank && take(']')) return {};
        return fail("x" + std::to_string(number) + " has " + std::to_string(rank) +
                    " axes and needs an index for each, then `]`");
    }

    Status parse_index(NestIndex *index, bool may_be_table) {
        if (may_be_table && rest_.starts_with('x')) return parse_read(&index->table, &index->place, false);
        index->loops.assign(nest_.loops.size(), 0);
        index->over.assign(nest_.over.size(), 0);
        bool is_negative = take('-');
        do {
            if (Status s = parse_term(is_negative ? -1 : 1, index); !s) return s;
            is_negative = rest_.starts_with('-');
        } while (take('+') || take('-'));
        return {};
    }

    // A number, a loop, or a number times a loop.
    Status parse_term(int64_t sign, NestIndex *index) {
        int64_t number = 1;
        const bool has_number = !rest_.empty() && is_digit(rest_.front());
        if (has_number && !take_number(&number)) return fail("a number beyond 2147483647");
        if (has_number && !take('*')) return add(sign * number, &index->offset);
        const bool over = rest_.starts_with('r');
        int64_t loop = 0;
        std::vector<int64_t> &factors = over ? index->over : index->loops;
        if (!take(over ? 'r' : 'i') || rest_.empty() || !take_number(&loop))
            return fail("an index has no loop i<n> or r<n> where it needs one");
        if (loop >= static_cast<int64_t>(factors.size())) {
            return fail(std::string(over ? "r" : "i") + std::to_string(loop) + " is no loop");
        }
        return add(sign * number, &factors[loop]);
    }

    Status add(int64_t number, int64_t *sum) {
        *sum += number;
        if (std::abs(*sum) <= largest_number) return {};
        return fail("a sum of factors beyond 2147483647");
    }

    std::string_view rest_;
    const Nest &nest_;
};

void append_term(int64_t factor, const std::string &loop, std::string *text) {
    if (factor == 0) return;
    if (factor < 0) *text += '-';
    if (factor > 0 && !text->empty()) *text += '+';
    if (factor != 1 && factor != -1) *text += std::to_string(std::abs(factor)) + '*';
    *text += loop;
}

std::string read_text(int operand, const std::vector<NestIndex> &indices);

std::string index_text(const NestIndex &index) {
    if (index.table >= 0) return read_text(index.table, index.place);
    std::string text;
    for (size_t d = 0; d < index.loops.size(); d++) append_term(index.loops[d], "i" + std::to_string(d), &text);
    for (size_t d = 0; d < index.over.size(); d++) append_term(index.over[d], "r" + std::to_string(d), &text);
    if (index.offset > 0 && !text.empty()) text += '+';
    if (index.offset != 0 || text.empty()) text += std::to_string(index.offset);
    return text;
}

std::string read_text(int operand, const std::vector<NestIndex> &indices) {
    std::string text = "x" + std::to_string(operand) + "[";
    for (size_t d = 0; d < indices.size(); d++) text += (d ? "," : "") + index_text(indices[d]);
    return text + "]";
}

}  // namespace

Result<std::vector<NestRead>> parse_reads(std::string_view text, const Nest &nest) {
    return ReadsParser(text, nest).parse();
}

std::string reads_text(const Nest &nest) {
    std::string text;
    for (const NestRead &read : nest.reads) text += (text.empty() ? "" : ";") + read_text(read.operand, read.indices);
    return text;
}

}  // namespace kiln
