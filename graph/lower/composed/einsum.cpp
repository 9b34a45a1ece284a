#include "graph/lower/composed/einsum.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/lower/node/formulas.h"
#include "graph/lower/node/indices.h"
#include "graph/lower/node/refusal.h"
#include "graph/lower/node/shown_names.h"

namespace kiln::graph {
namespace {

// A letter is its own label. The axes of an ellipsis count from the last one, behind all letters, so that those of operands with
// fewer axes meet the last ones of others.
using Label = int;
using Labels = std::vector<Label>;
constexpr Label last_of_ellipsis = 1 << 10;

bool has(const Labels &labels, Label label) { return std::ranges::find(labels, label) != labels.end(); }

struct Term {
    ValueId value;
    Labels labels;  // one an axis
};

class Equation {
public:
    explicit Equation(NodeLowering &node) : node_(node), text_(node.attributes.text("equation")) {
        std::erase_if(text_, [](unsigned char c) { return std::isspace(c) != 0; });
        const size_t arrow = text_.find("->");
        std::string left = text_.substr(0, arrow);
        for (size_t begin = 0;;) {
            const size_t comma = left.find(',', begin);
            read_operand(left.substr(begin, comma == std::string::npos ? comma : comma - begin));
            if (comma == std::string::npos) break;
            begin = comma + 1;
        }
        if (static_cast<int>(terms_.size()) != node.input_count()) {
            wrong("it names " + std::to_string(terms_.size()) + " operands, and the node has " +
                  std::to_string(node.input_count()));
        }
        result_ = arrow == std::string::npos ? usual_result() : labels_of(text_.substr(arrow + 2), most_dots_);
        for (const Label label : result_) {
            if (!extents_.contains(label)) wrong("its result has a label that no operand has");
            if (std::ranges::count(result_, label) > 1) wrong("its result has a label twice");
        }
    }

    ValueId run() {
        Term all = with_all_extents(terms_[0]);
        for (size_t i = 1; i < terms_.size(); i++) {
            Labels needed = result_;
            for (size_t later = i + 1; later < terms_.size(); later++)
                needed.insert(needed.end(), terms_[later].labels.begin(), terms_[later].labels.end());
            all = product(all, with_all_extents(terms_[i]), needed);
        }
        all = summed(all, [&](Label label) { return !has(result_, label); });
        return in_order(all, result_).value;
    }

private:
    [[noreturn]] void wrong(const std::string &why) const {
        reject("its attribute 'equation' is " + shown(text_) + ": " + why);
    }

    // `dots` axes stand for an ellipsis.
    Labels labels_of(std::string_view text, int64_t dots) const {
        Labels labels;
        for (size_t i = 0; i < text.size(); i++) {
            if (text.substr(i, 3) == "...") {
                if (text.find("...", i + 3) != std::string_view::npos) wrong("a term of it has '...' twice");
                for (int64_t k = dots; k-- > 0;) labels.push_back(last_of_ellipsis - static_cast<Label>(k));
                i += 2;
            } else if (std::isalpha(static_cast<unsigned char>(text[i])) != 0) {
                labels.push_back(text[i]);
            } else {
                wrong("labels are letters and '...'");
            }
        }
        return labels;
    }

    void read_operand(const std::string &text) {
        const int index = static_cast<int>(terms_.size());
        if (!node_.has_input(index)) wrong("it names more operands than the node has");
        const ValueId value = node_.input(index);
        const size_t letters = labels_of(text, 0).size();
        const int64_t dots = node_.rank(value) - static_cast<int64_t>(letters);
        const bool has_dots = text.find("...") != std::string::npos;
        if (dots < 0 || (dots > 0 && !has_dots)) {
            wrong("operand " + std::to_string(index) + " has " + std::to_string(node_.rank(value)) +
                  " axes, and its term has " + std::to_string(letters) + (has_dots ? " or more" : ""));
        }
        Term term{value, labels_of(text, dots)};
        most_dots_ = std::max(most_dots_, dots);
        for (size_t axis = 0; axis < term.labels.size(); axis++) {
            const Label label = term.labels[axis];
            places_[label]++;
            const int64_t extent = node_.shape(value)[axis];
            int64_t &known = extents_.emplace(label, extent).first->second;
            if (known != extent && known != 1 && extent != 1) {
                wrong("a label has an extent of " + std::to_string(known) + " and of " + std::to_string(extent));
            }
            if (known == 1) known = extent;
        }
        terms_.push_back(diagonal(std::move(term)));
    }

    // The elements whose places along all axes of a label are the same: each label stays once.
    Term diagonal(Term term) {
        const Labels all = term.labels;
        for (const Label label : all) {
            const auto axes = std::ranges::count(term.labels, label);
            if (axes == 1) continue;
            Labels others = term.labels;
            std::erase(others, label);
            std::vector<int> permutation;
            Shape shape;
            for (const bool takes_label : {false, true}) {
                for (size_t axis = 0; axis < term.labels.size(); axis++) {
                    if ((term.labels[axis] == label) == takes_label) permutation.push_back(static_cast<int>(axis));
                }
            }
            const Shape before = node_.shape(term.value);
            for (size_t i = 0; i < others.size(); i++) shape.push_back(before[static_cast<size_t>(permutation[i])]);
            const int64_t extent = before[static_cast<size_t>(permutation.back())];
            int64_t step = 0, elements = 1;
            for (size_t i = others.size(); i < permutation.size(); i++) {
                if (before[static_cast<size_t>(permutation[i])] != extent)
                    wrong("an operand of shape " + to_text(before) + " has no diagonal along axes that differ");
                step += elements;
                elements *= extent;
            }
            shape.push_back(elements);
            const ValueId line = node_.reshape(node_.transpose(term.value, permutation), shape);
            others.push_back(label);
            term = {take(node_, line, {{node_.rank(line) - 1, index_range(0, extent, step)}}), std::move(others)};
        }
        return term;
    }

    // Without an arrow: the ellipsis, then what stands there once, in the order of the alphabet.
    Labels usual_result() const {
        Labels labels, letters;
        for (int64_t k = most_dots_; k-- > 0;) labels.push_back(last_of_ellipsis - static_cast<Label>(k));
        for (const auto &[label, extent] : extents_) {
            if (places_.at(label) == 1 && !has(labels, label)) letters.push_back(label);
        }
        labels.insert(labels.end(), letters.begin(), letters.end());
        return labels;
    }

    Shape shape_of(const Labels &labels) const {
        Shape shape;
        for (const Label label : labels) shape.push_back(extents_.at(label));
        return shape;
    }

    int64_t count(const Labels &labels) const {
        int64_t elements = 1;
        for (const int64_t extent : shape_of(labels)) {
            if (__builtin_mul_overflow(elements, extent, &elements)) refuse("its result is too large");
        }
        return elements;
    }

    // Axes of one element that are larger in other operands are repeated.
    Term with_all_extents(const Term &term) {
        return {node_.elementwise(operand(0), {term.value}, shape_of(term.labels)), term.labels};
    }

    template<typename Condition>
    Term summed(const Term &term, const Condition &condition) {
        std::vector<int> axes;
        Labels left;
        for (size_t axis = 0; axis < term.labels.size(); axis++) {
            if (condition(term.labels[axis])) axes.push_back(static_cast<int>(axis));
            if (!condition(term.labels[axis])) left.push_back(term.labels[axis]);
        }
        if (axes.empty()) return term;
        return {node_.reshape(node_.add(Reduce{Reduce::Kind::sum, axes}, {term.value}), shape_of(left)), left};
    }

    Term in_order(const Term &term, const Labels &labels) {
        std::vector<int> permutation;
        for (const Label label : labels) {
            permutation.push_back(static_cast<int>(std::ranges::find(term.labels, label) - term.labels.begin()));
        }
        return {node_.transpose(term.value, permutation), labels};
    }

    Term product(const Term &first, const Term &second, const Labels &needed) {
        const Term a = summed(first, [&](Label l) { return !has(needed, l) && !has(second.labels, l); });
        const Term b = summed(second, [&](Label l) { return !has(needed, l) && !has(first.labels, l); });
        Labels both, summed_over, left, right;
        for (const Label label : a.labels) {
            Labels &kind = !has(b.labels, label) ? left : has(needed, label) ? both : summed_over;
            kind.push_back(label);
        }
        for (const Label label : b.labels) {
            if (!has(a.labels, label)) right.push_back(label);
        }
        Labels result = both;
        result.insert(result.end(), left.begin(), left.end());
        result.insert(result.end(), right.begin(), right.end());
        const auto matrices = [&](const Term &term, const Labels &rows, const Labels &columns) {
            Labels order = both;
            order.insert(order.end(), rows.begin(), rows.end());
            order.insert(order.end(), columns.begin(), columns.end());
            Shape shape = shape_of(both);
            shape.insert(shape.end(), {count(rows), count(columns)});
            return node_.reshape(in_order(term, order).value, shape);
        };
        const ValueId x = matrices(a, left, summed_over), y = matrices(b, summed_over, right);
        // Without a sum a column times a row is broadcast.
        const ValueId sums = summed_over.empty() ? node_.elementwise(operand(0) * operand(1), {x, y})
                                                 : node_.add(MatrixProduct{}, {x, y});
        return {node_.reshape(sums, shape_of(result)), result};
    }

    NodeLowering &node_;
    std::string text_;
    std::vector<Term> terms_;
    std::map<Label, int64_t> extents_, places_;  // by label: its extent; how many axes of operands have it
    int64_t most_dots_ = 0;
    Labels result_;
};

}  // namespace

void einsum(NodeLowering &node) { node.result(Equation(node).run()); }

}  // namespace kiln::graph
