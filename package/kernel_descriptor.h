// A workload in the words of the C interface (runtime/kiln.h): its descriptor and the form of a call's operands.
#pragma once

#include "runtime/kernel_table.h"
#include "workload/result.h"
#include "workload/signature.h"
#include "workload/target.h"
#include "workload/workload.h"

namespace kiln {

struct CallShapes {
    OperandShape operands[tensor_operands];
};

// The table of a package says this of a workload.
struct InterfaceForm {
    kiln_descriptor descriptor;  // normalized
    CallShapes shapes;
};

// Errors: more epilogue steps or a longer layout name than a descriptor holds, or tensors of more dimensions than a
// call's, but for nests, whose outermost dimensions are joined then (unsupported).
Result<InterfaceForm> interface_form(const Workload &workload);
Result<kiln_descriptor> descriptor_of(const Workload &workload);
int interface_code(Role role);                     // KILN_INPUT, ...
CallShapes call_shapes(const Workload &workload);  // precondition: descriptor_of() answers a descriptor

// The CPU features that dispatch must find before it chooses a kernel of this target. Errors: a feature that dispatch
// cannot look for (unsupported).
Result<uint64_t> required_cpu_features(const Target &target);

}  // namespace kiln
