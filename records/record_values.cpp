#include "records/record_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <string_view>

#include "records/sample_list.h"

namespace kiln {
namespace {

// Keeps the first field whose value is not possible.
class Values {
public:
    explicit Values(std::string title) : title_(std::move(title)) {}

    void expect(bool possible, std::string_view field, std::string_view needs) {
        if (!possible && problem_.empty()) problem_ = fmt::format("{}: {}: needs {}", title_, field, needs);
    }
    void text(std::string_view field, const std::string &value) { expect(!value.empty(), field, "a text"); }
    void id(std::string_view field, const std::string &value) {
        const bool is_hex = value.find_first_not_of("0123456789abcdef") == std::string::npos;
        expect(value.size() == 32 && is_hex, field, "32 hex digits");
    }
    void time(std::string_view field, const std::string &value) {
        constexpr std::string_view form = "0000-00-00T00:00:00.000Z";
        bool fits = value.size() == form.size();
        for (size_t i = 0; fits && i < form.size(); ++i) {
            fits = form[i] == '0' ? value[i] >= '0' && value[i] <= '9' : value[i] == form[i];
        }
        expect(fits, field, "a time like 2000-12-31T23:59:59.999Z");
    }
    void threads(int value) { expect(value >= 1, "threads", "1 or more"); }
    void budget(double value) { expect(value >= 0 && std::isfinite(value), "error_budget", "a finite number from 0"); }
    template<typename T>
    void not_negative(std::string_view field, const std::optional<T> &value) {
        expect(!value || *value >= 0, field, "a number from 0");  // not a number is none
    }
    void samples(const std::vector<double> &values) {
        expect(are_samples(values), "samples", "at least one number, all positive and finite");
    }

    Status status() const { return problem_.empty() ? Status() : bad_input(problem_); }

private:
    std::string title_, problem_;
};

void check_errors(Values &values, const Trial &trial) {
    values.budget(trial.error_budget);
    values.not_negative("max_error", trial.errors.max);
    values.not_negative("rms_error", trial.errors.rms);
    values.not_negative("wide_error", trial.errors.wide);
}

void check_sizes(Values &values, const Trial &trial) {
    values.not_negative("object_bytes", trial.object_bytes);
    values.not_negative("packed_bytes", trial.packed_bytes);
    values.not_negative("workspace_bytes", trial.workspace_bytes);
    values.not_negative("workspace_bytes_per_thread", trial.workspace_bytes_per_thread);
    values.not_negative("build_ns", trial.build_ns);
    values.not_negative("run_ns", trial.run_ns);
    values.expect(trial.stderr_text.size() <= longest_stderr, "stderr_text", "16 KiB or less");
}

// What goes with the status: a measurement of an object within the budget, or a message.
void check_verdict(Values &values, const StoredTrial &stored) {
    const Trial &trial = stored.trial;
    const bool is_ok = trial.status == TrialStatus::ok;
    values.expect(is_ok == trial.message.empty(), "message", "a text exactly when the status is not ok");
    values.expect(is_ok != stored.measurement.empty(), "measurement", "an id exactly when the status is ok");
    if (!is_ok) return;
    values.id("measurement", stored.measurement);
    values.text("object_hash", trial.object_hash);
    values.expect(trial.errors.max && *trial.errors.max <= trial.error_budget, "max_error",
                  "a number within the error budget when the status is ok");
}

template<typename Context>
void check_context(Values &values, const Context &of) {
    values.text("workload", of.workload);
    values.expect(!of.workload.starts_with('/'), "workload", "an operation before the first /");
    values.text("target", of.target);
    values.text("machine", of.machine);
    values.text("toolchain", of.toolchain);
    values.threads(of.threads);
    values.time("created_at", of.created_at);
}

void check_entry(Values &values, const RaceEntry &entry, bool is_winner) {
    values.text("entries: trial", entry.trial);
    values.expect(0 < entry.ratio_lo && entry.ratio_lo <= entry.ratio && entry.ratio <= entry.ratio_hi &&
                      std::isfinite(entry.ratio_hi),
                  "entries: ratio", "a positive number inside its interval");
    values.expect(!is_winner || (entry.ratio_lo == 1 && entry.ratio_hi == 1), "entries: ratio", "1 of the winner");
}

}  // namespace

Status check_values(const WorkloadName &name) {
    Values values(title(name));
    values.text("workload", name.workload);
    values.expect(!name.workload.starts_with('/'), "workload", "an operation before the first /");
    values.expect(name.count >= 1 && name.count <= largest_count, "count",
                  "1 to 10^15; `kiln tune` with the list that has the name sets it anew");
    return values.status();
}

Status check_values(const StoredMeasurement &stored) {
    const Measurement &m = stored.measurement;
    Values values(title(stored));
    values.id("id", stored.id);
    values.text("object_hash", m.object_hash);
    values.text("machine", m.machine);
    values.threads(m.threads);
    values.samples(m.samples);
    values.expect(m.median > 0 && std::isfinite(m.median), "median", "a positive, finite number");
    values.expect(m.spread >= 0 && std::isfinite(m.spread), "spread", "a finite number from 0");
    values.time("created_at", m.created_at);
    return values.status();
}

Status check_values(const StoredTrial &stored) {
    Values values(title(stored));
    values.id("id", stored.trial.id);
    check_context(values, stored.trial);
    values.text("candidate", stored.trial.candidate);
    check_errors(values, stored.trial);
    check_sizes(values, stored.trial);
    check_verdict(values, stored);
    return values.status();
}

Status check_values(const Race &race) {
    Values values(title(race));
    values.id("id", race.id);
    check_context(values, race);
    values.budget(race.error_budget);
    values.expect(race.confidence > 0 && race.confidence < 1, "confidence", "a number between 0 and 1");
    for (const RaceEntry &entry : race.entries) check_entry(values, entry, &entry == &race.entries.front());
    if (Status status = values.status(); !status) return status;
    return check_race(race);
}

}  // namespace kiln
