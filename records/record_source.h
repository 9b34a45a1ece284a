// Where records come from: another database, or a file that was exported.
#pragma once

#include <functional>
#include <string>

#include "records/record.h"
#include "workload/result.h"

namespace kiln {

struct RecordSource {
    std::string name;  // for messages

    // Hands every record to `visit`, each checked by check_content(). Ends at the first error of a record or of `visit`;
    // errors name the source and the place. May be called again.
    std::function<Status(const std::function<Status(const Record &)> &visit)> for_each;
};

}  // namespace kiln
