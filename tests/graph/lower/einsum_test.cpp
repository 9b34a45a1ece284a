// Einsum against sums over all labels in plain loops.
#include <map>

#include "tests/graph/lower/rule_cases.h"

namespace kiln::graph {
namespace {

// An equation in which every axis has a letter of its own, as the reference reads it.
struct Einsum {
    std::string equation;
    std::vector<Shape> operands;
    std::string spelled = "";  // the same without ellipses and with an arrow, where `equation` is not
};

int64_t place(const Numbers &numbers, const std::string &labels, const std::map<char, int64_t> &index) {
    int64_t at = 0;
    for (size_t axis = 0; axis < labels.size(); axis++) {
        const int64_t extent = numbers.form.shape[axis];
        at = at * extent + (extent == 1 ? 0 : index.at(labels[axis]));
    }
    return at;
}

Numbers expected(const std::string &equation, const std::vector<std::optional<Numbers>> &operands) {
    const std::string left = equation.substr(0, equation.find('-'));
    const std::string labels = equation.substr(equation.find('>') + 1);
    std::vector<std::string> terms{""};
    for (const char c : left) {
        if (c == ',') terms.emplace_back();
        if (c != ',') terms.back() += c;
    }
    std::map<char, int64_t> extents;
    for (size_t i = 0; i < terms.size(); i++) {
        for (size_t axis = 0; axis < terms[i].size(); axis++) {
            int64_t &extent = extents[terms[i][axis]];
            extent = std::max(extent, operands[i]->form.shape[axis]);
        }
    }
    Shape shape;
    for (const char label : labels) shape.push_back(extents[label]);
    Numbers result = counted(shape);
    for (double &element : std::get<0>(result.elements)) element = 0;
    int64_t count = 1;
    for (const auto &[label, extent] : extents) count *= extent;
    for (int64_t n = 0; n < count; n++) {
        std::map<char, int64_t> index;
        int64_t rest = n;
        for (const auto &[label, extent] : extents) index[label] = rest % extent, rest /= extent;
        double product = 1;
        for (size_t i = 0; i < terms.size(); i++)
            product *= std::get<0>(operands[i]->elements)[static_cast<size_t>(place(*operands[i], terms[i], index))];
        std::get<0>(result.elements)[static_cast<size_t>(place(result, labels, index))] += product;
    }
    return result;
}

RuleCase case_of(const Einsum &row) {
    RuleCase node{"Einsum", 12, {text("equation", row.equation)}, {}, {}};
    double first = -3;
    for (const Shape &shape : row.operands) node.inputs.emplace_back(counted(shape, first++));
    return node;
}

TEST(Einsum, SumsOfProducts) {
    const std::vector<Einsum> rows{
        {"ij,jk->ik", {{2, 3}, {3, 4}}},
        {"ij,kj->ki", {{2, 3}, {4, 3}}},
        {"bhid,bhjd->bhij", {{1, 2, 3, 4}, {1, 2, 5, 4}}},
        {"bhij,bhjd->bihd", {{2, 2, 3, 4}, {2, 2, 4, 5}}},
        {"bnhd,hde->bne", {{2, 3, 2, 4}, {2, 4, 5}}},
        {"bchw,c->bhw", {{2, 3, 4, 2}, {3}}},
        {"nchw,nc->nchw", {{2, 3, 2, 2}, {2, 3}}},
        {"i,j->ij", {{3}, {4}}},
        {"i,i->", {{5}, {5}}},
        {"ij->ji", {{2, 3}}},
        {"ijk->j", {{2, 3, 4}}},
        {"ijk,l->k", {{2, 3, 4}, {5}}},  // sums of one operand alone
        {"ij,jk,kl->il", {{2, 3}, {3, 4}, {4, 2}}},
        {"ib,jb,b->bij", {{2, 3}, {4, 3}, {3}}},
        {"bij,bjk->bik", {{1, 2, 3}, {4, 3, 2}}},  // an axis of one element is repeated
        {"ij,jk->ik", {{2, 1}, {3, 4}}},
        {" i j , j k -> i k ", {{2, 3}, {3, 4}}, "ij,jk->ik"},
        {"ij,jk", {{2, 3}, {3, 4}}, "ij,jk->ik"},
        {"ba", {{2, 3}}, "ba->ab"},
        {"...ij,...jk->...ik", {{2, 5, 2, 3}, {2, 5, 3, 4}}, "xyij,xyjk->xyik"},
        {"...ij,...jk", {{5, 2, 3}, {2, 5, 3, 4}}, "yij,xyjk->xyik"},
        {"...ij,jk->...ik", {{2, 2, 3}, {3, 4}}, "xij,jk->xik"},
        // Diagonals.
        {"ii->i", {{3, 3}}},
        {"ii", {{3, 3}}, "ii->"},
        {"bii->bi", {{2, 3, 3}}},
        {"ibi->b", {{3, 2, 3}}},
        {"iii->i", {{3, 3, 3}}},
        {"ibbi->ib", {{3, 2, 2, 3}}},
        {"iij,jk->ik", {{3, 3, 2}, {2, 4}}},
        {"iij,jk", {{3, 3, 2}, {2, 4}}, "iij,jk->k"},
        {"ij,jj->ij", {{2, 3}, {3, 3}}},
        {"ij,jj->ij", {{2, 3}, {1, 1}}},
        {"...ii->...i", {{2, 3, 3}}, "xii->xi"},
    };
    for (const Einsum &row : rows) {
        SCOPED_TRACE(row.equation);
        RuleCase node = case_of(row);
        node.outputs = {expected(row.spelled.empty() ? row.equation : row.spelled, node.inputs)};
        expect_outputs(node);
    }
}

TEST(Einsum, Refused) {
    const std::vector<std::pair<Einsum, std::string>> rows{
        {{"ii->i", {{3, 1}}}, "an operand of shape 3x1 has no diagonal along axes that differ"},
        {{"ii->i", {{3, 4}}}, "an extent of 3 and of 4"},
        {{"ij,jk->ik", {{2, 3}, {4, 5}}}, "an extent of 3 and of 4"},
        {{"ij,jk->ik", {{2, 3}}}, "names more operands than the node has"},
        {{"ij->ij", {{2, 3}, {2, 3}}}, "it names 1 operands, and the node has 2"},
        {{"ij->ik", {{2, 3}}}, "a label that no operand has"},
        {{"ij->ii", {{2, 3}}}, "a label twice"},
        {{"ijk->i", {{2, 3}}}, "operand 0 has 2 axes, and its term has 3"},
        {{"ij->i", {{2, 3, 4}}}, "operand 0 has 3 axes, and its term has 2"},
        {{"i,...jkl->i", {{2}, {2, 3}}}, "operand 1 has 2 axes, and its term has 3 or more"},
        {{"......", {{2, 3}}}, "a term of it has '...' twice"},
        {{"i...j...->ij", {{2, 3}}}, "a term of it has '...' twice"},
        {{"i...->...i...", {{2, 3}}}, "a term of it has '...' twice"},
        {{"i..->i", {{2, 3}}}, "labels are letters and '...'"},
        {{"....->i", {{2, 3}}}, "labels are letters and '...'"},
        {{"ij->i?", {{2, 3}}}, "labels are letters"},
    };
    for (const auto &[row, message] : rows) {
        SCOPED_TRACE(row.equation);
        RuleCase node = case_of(row);
        node.outputs = {counted({1})};
        const auto graph = model_of(node).lowered();
        ASSERT_FALSE(graph);
        EXPECT_NE(graph.error().message.find(message), std::string::npos) << graph.error().message;
    }
}

}  // namespace
}  // namespace kiln::graph
