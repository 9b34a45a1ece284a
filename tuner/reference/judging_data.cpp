#include "tuner/reference/judging_data.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <span>

#include "tuner/reference/operands.h"
#include "tuner/reference/reference.h"

namespace kiln {
namespace {

struct DataSet {
    Data data;
    uint64_t seed;
    const JudgingFiles &files;
};

Status write(std::span<const std::byte> content, const std::string &path) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char *>(content.data()), std::streamsize(content.size()));
    if (file.flush()) return {};
    return environment_error(fmt::format("{}: cannot be written: {}", path, strerror(errno)));
}

Status write(const Workload &workload, const DataSet &set) {
    const Operands operands = make_operands(workload, set.data, set.seed);
    const std::vector<NamedOperand> list = operand_list(workload);
    if (list.size() != set.files.operands.size())
        return environment_error("files are named for other operands than the workload has");
    for (size_t i = 0; i < list.size(); i++) {
        const auto &content = (operands.*list[i].place).data;
        if (Status s = write(std::as_bytes(std::span(content)), set.files.operands[i]); !s) return s;
    }
    const Result<Reference> expected = reference(workload, operands);
    if (!expected) return expected.error();
    if (Status s = write(std::as_bytes(std::span(expected->expected)), set.files.expected); !s) return s;
    return write(std::as_bytes(std::span(expected->magnitude)), set.files.magnitude);
}

}  // namespace

Status write_judging_data(const Workload &workload, const std::array<JudgingFiles, 3> &files) {
    for (const DataSet &set :
         {DataSet{Data::ordinary, 1, files[0]}, {Data::ordinary, 2, files[1]}, {Data::wide, 3, files[2]}}) {
        if (Status s = write(workload, set); !s) return s;
    }
    return {};
}

}  // namespace kiln
