// Networks on this machine: programs become packages in a temporary folder, and run. Kernels that several networks share are
// built and judged once.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "check/network_check.h"
#include "network/program.h"
#include "package/package.h"
#include "tuner/job/candidate_choice.h"
#include "tuner/job/workshop.h"

namespace kiln {

// One of several packages of a program.
struct NetworkVersion {
    std::string name = {};  // of the package's folder; empty: the only one
    std::map<std::string, CandidateChoice> kernels =
        {};  // tried before those that the context chooses, by workload's key
};

class NetworkWorkshop {
public:
    // Workshop and context outlive it. Its packages lie in a folder of that name in the workshop's.
    NetworkWorkshop(Workshop &workshop, const ChoiceContext &context, PackageParts parts,
                    const std::string &name = "network");
    NetworkWorkshop(NetworkWorkshop &&) noexcept;
    ~NetworkWorkshop();

    // Starts to build the kernels of a program that will be built.
    void expect(const network::Program &program, const NetworkVersion &version = {});

    // A package of the program, which takes the place of the one before of that version. What is wrong with the program's kernels
    // is no error.
    Result<NetworkBuild> build(const network::Program &program, const NetworkVersion &version = {});

    NetworkRunner &runner();
    const std::string &folder() const;  // for files of a call

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace kiln
