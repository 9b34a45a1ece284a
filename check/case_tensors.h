// A case says many things twice: in its attributes and in the stored shapes of its tensors. The functions that turn a
// case into a workload compare them here.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "check/conformance_suite.h"
#include "json/json_fields.h"

namespace kiln {

// The case is valid, but workloads have no words for it yet. It is reported as unsupported.
struct Unmapped {
    std::string reason;
};
using Mapped = std::optional<Unmapped>;  // nothing: mapped

using Shape = std::vector<int64_t>;

// Suites call layouts and dtypes by these names.
std::optional<ActivationLayout> parse_suite_layout(std::string_view text, int rank);
std::optional<KernelLayout> parse_suite_kernel_layout(std::string_view text, int rank);
std::optional<DType> parse_suite_dtype(std::string_view text);

// A field of a workload that suites state in kiln's form under their own name.
struct SuiteField {
    std::string_view suite_name, name;
};
void read_window(JsonFields &attributes, std::span<const SuiteField> fields, Workload *w);  // spatial_rank, too

struct CaseTensor {
    SuiteTensor tensor;
    std::string dtype;  // as the suite calls it; tensor.dtype is f32 where kiln does not know it
};

class CaseTensors {
public:
    // Every problem is reported as one of `attributes`.
    CaseTensors(JsonFields &attributes, const std::map<std::string, CaseTensor> &tensors)
        : attributes_(attributes), tensors_(tensors) {}

    const CaseTensor *find(std::string_view name);  // null: reported
    bool has(std::string_view name) const { return tensors_.contains(std::string(name)); }
    // N, spatial, C of a stored activation. Blocks of channels hide the number of channels, so attribute C tells it.
    Shape logical(std::string_view name, const ActivationLayout &layout, int rank);
    void check_shape(std::string_view name, const Shape &expected);
    void check_attributes(const Workload &w);  // sizes that are stated twice

private:
    void check_attribute(std::string_view name, int64_t value);

    JsonFields &attributes_;
    const std::map<std::string, CaseTensor> &tensors_;
};

}  // namespace kiln
