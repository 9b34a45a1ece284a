// What kiln-generator prints of the object that it wrote, one JSON object.
#pragma once

#include <cstdint>
#include <string_view>

#include "workload/result.h"

namespace kiln {

struct KernelConstants {
    int64_t packed_bytes = 0, prepared_bytes = 0;
    int64_t workspace_bytes = 0;  // of C sources; objects ask for theirs when they run
    int64_t sources = 1;          // of C; 2: the function that packs weights has one of its own, SOURCE_pack.c
};

// Errors (environment): anything else than these sizes.
Result<KernelConstants> parse_generator_answer(std::string_view printed);

}  // namespace kiln
