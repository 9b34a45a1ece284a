#include "cli/network/peer_steps.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

network::Program program(const std::vector<std::vector<std::string>> &origins) {
    network::Program program;
    for (const std::vector<std::string> &of_step : origins) {
        network::Step step;
        step.origins = of_step;
        step.work = network::Copy();
        if (of_step.front().starts_with("conv"))
            step.work = network::KernelCall{.workload = convolution({1, 8, 8, 4}, {3, 3, 4, 4})};
        program.steps.push_back(std::move(step));
    }
    return program;
}

TEST(PeerSteps, NodesCountForTheStepThatComputesThem) {
    const network::Program network = program({{"move", "conv"}, {"conv", "relu"}, {"pool"}, {"conv2", "add", "relu2"}});
    const struct {
        const char *what;
        PeerProfile profile;
        std::vector<std::optional<double>> ns;
        double elsewhere_ns;
    } rows[] = {
        {"no profile", {}, {{}, {}, {}, {}}, 0},
        {"one node a step", {{{"conv"}, 5}, {{"pool"}, 2}, {{"conv2"}, 7}}, {{}, 5, 2, 7}, 0},
        {"several nodes of a step", {{{"conv2"}, 7}, {{"add"}, 2}, {{"relu2"}, 1}}, {{}, {}, {}, 10}, 0},
        {"fused across steps", {{{"pool", "conv2", "add"}, 9}, {{"move", "relu", "pool"}, 4}}, {{}, 4, {}, 9}, 0},
        {"nodes of the library's own", {{{}, 3}, {{"somebody"}, 4}, {{"pool"}, 1}}, {{}, {}, 1, {}}, 7},
    };
    for (const auto &row : rows) {
        SCOPED_TRACE(row.what);
        const PeerSteps steps = peer_steps("openvino", row.profile, network);
        EXPECT_EQ(steps.peer, "openvino");
        EXPECT_EQ(steps.ns, row.ns);
        EXPECT_EQ(steps.elsewhere_ns, row.elsewhere_ns);
        double all = 0;
        for (const PeerNode &node : row.profile) all += node.ns;
        EXPECT_EQ(steps.all_ns, all);
    }
}

}  // namespace
}  // namespace kiln
