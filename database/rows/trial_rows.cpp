#include "database/rows/trial_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "database/rows/context_rows.h"
#include "records/record_values.h"

namespace kiln {
namespace {

double storable(double value) { return std::isnan(value) ? std::numeric_limits<double>::infinity() : value + 0.0; }
void make_storable(std::optional<double> &value) {
    if (value) value = storable(*value);
}

}  // namespace

const std::string &trial_columns() {
    static const std::string columns = columns_of<StoredTrial>(trial_table);
    return columns;
}

const std::string &measurement_columns() {
    static const std::string columns = columns_of<StoredMeasurement>(measurement_table);
    return columns;
}

Trial storable(Trial trial) {
    trial.stderr_text.resize(std::min(trial.stderr_text.size(), longest_stderr));
    trial.error_budget = storable(trial.error_budget);
    make_storable(trial.errors.max);
    make_storable(trial.errors.rms);
    make_storable(trial.errors.wide);
    return trial;
}

Status insert_measurement(const Connection &connection, const StoredMeasurement &stored) {
    if (Status status = insert_machine(connection, stored.measurement.machine); !status) return status;
    return insert_row(connection, measurement_table, stored, " ON CONFLICT (id) DO NOTHING");
}

Status insert_trial(const Connection &connection, const StoredTrial &stored) {
    const Trial &t = stored.trial;
    if (Status status = insert_context(connection, {t.workload, t.target, t.threads, t.machine, t.toolchain}); !status)
        return status;
    return insert_row(connection, trial_table, stored);
}

}  // namespace kiln
