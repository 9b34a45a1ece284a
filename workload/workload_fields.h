// The fields of a workload: the one table from which its key, its JSON, its descriptor in the C interface and the check
// of which field means something for which operation follow. Each form has a codec for each type of field, so that a
// new field of a known type is a row here.
#pragma once

#include <span>
#include <string_view>
#include <variant>

#include "workload/workload.h"

struct kiln_descriptor;  // runtime/kiln.h

namespace kiln {

// What a field is where it is left out; a key leaves it out where it is that.
enum class LeftOut {
    refused,    // every operation that has the field needs it
    initial,    // as in a Workload{}
    one_each,   // one stride, one dilation, no padding for each spatial dimension
    as_dtype,   // the same as dtype, which comes before it in the table
    outermost,  // the first two positions
};

struct WorkloadField {
    std::string_view name;  // in keys and in JSON
    unsigned used_by;       // kinds of operation
    std::variant<std::vector<int64_t> Workload::*, std::vector<std::vector<int64_t>> Workload::*,
                 std::vector<DType> Workload::*, std::vector<Padding> Workload::*,
                 std::vector<EpilogueStep> Workload::*, int64_t Workload::*, bool Workload::*, std::string Workload::*,
                 DType Workload::*, ActivationLayout Workload::*, KernelLayout Workload::*, SpecialValues Workload::*>
        member;
    LeftOut left_out;
    void (*describe)(const Workload &, kiln_descriptor *);  // precondition: the lists have at most their entries
    int64_t smallest = 1;                                   // of an integer, or of a list's entries
    bool repeats = false;                                   // one number stands for a list of it

    bool is_used_by(Operation op) const;
};

std::span<const WorkloadField> workload_fields();  // in the order of the key

bool is_left_out(const WorkloadField &field, const Workload &w);  // the field is as if it were left out
void leave_out(const WorkloadField &field, Workload *w);          // in the order of the table; lists stay empty

// A value in a key. read_key_text() answers false for a text that stands for no value.
std::string key_text(const WorkloadField &field, const Workload &w);
bool read_key_text(const WorkloadField &field, std::string_view text, Workload *w);

}  // namespace kiln
