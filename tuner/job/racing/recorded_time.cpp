#include "tuner/job/racing/recorded_time.h"

namespace kiln {

Measurement measurement_of(const RunReport &report, const Trial &trial, Metric metric) {
    const Summary summary = summarize(report.samples);
    Measurement m;
    m.object_hash = trial.object_hash;
    m.machine = trial.machine;
    m.threads = trial.threads;
    m.cache = trial.cache;
    m.metric = metric;
    m.samples = report.samples;
    m.median = summary.median;
    m.spread = summary.spread;
    m.conditions = report.conditions;
    return m;
}

}  // namespace kiln
