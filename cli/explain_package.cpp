#include "cli/explain_package.h"

#include <fmt/format.h>

#include "cli/answers/output.h"
#include "cli/answers/terminal_text.h"
#include "package/manifest_reader.h"
#include "workload/lists/glob.h"

namespace kiln {
namespace {

std::string chosen(const ManifestKernel &kernel) {
    if (kernel.stale) return "stale";
    return kernel.tuned ? "tuned" : "default";
}

Cell or_null(const std::string &text) { return text.empty() ? Cell() : Cell(text); }

Cell microseconds(const ManifestKernel &kernel) {
    if (!kernel.median || kernel.metric != "ns") return {};
    return *kernel.median / 1000;
}

// Half the width of the median's 95 % interval, in percent of the median.
Cell uncertainty(const ManifestKernel &kernel) {
    if (!kernel.median || !kernel.median_lo || !kernel.median_hi || !(*kernel.median > 0)) return {};
    return 50 * (*kernel.median_hi - *kernel.median_lo) / *kernel.median;
}

std::string algorithm_of(const std::string &candidate) { return candidate.substr(0, candidate.find('/')); }

const std::vector<std::string> summary_columns = {
    "layer", "target", "chosen", "algorithm", "median_us", "uncertainty_percent", "evidence", "trial", "why_place"};
const TableForm summary_form = {{.name = "layer"},
                                {.name = "target", .context = true},
                                {.name = "median_us", .title = "us", .digits = 2},
                                {.name = "uncertainty_percent", .title = "+-%", .digits = 2},
                                {.name = "chosen"},
                                {.name = "algorithm"},
                                {.name = "evidence"},
                                {.name = "trial"},
                                {.name = "why_place", .title = "why at its place"}};
const std::vector<std::string> fact_columns = {"layer", "target", "fact", "value"};

// A row for each kernel, in the order in which dispatch tries those of one workload.
Table summary(const std::vector<Manifest> &manifests) {
    Table table{.columns = summary_columns, .rows = {}};
    for (const Manifest &manifest : manifests) {
        for (const ManifestKernel &k : manifest.kernels) {
            table.rows.push_back({k.layer, k.target, chosen(k), algorithm_of(k.candidate), microseconds(k),
                                  uncertainty(k), or_null(k.evidence), or_null(k.trial.substr(0, 12)), k.why_place});
        }
    }
    return table;
}

bool matches(const ManifestKernel &kernel, const std::string &pattern) {
    return glob_match(pattern, kernel.layer) || glob_match(pattern, kernel.key);
}

Facts facts_of(const Manifest &manifest, const ManifestKernel &kernel) {
    Facts facts = {{"package", manifest.name},
                   {"package.toolchain", manifest.toolchain},
                   {"database", manifest.database},
                   {"database_digest", manifest.database_digest}};
    facts.insert(facts.end(), kernel.facts.begin(), kernel.facts.end());
    return facts;
}

// For programs: all facts of all chosen kernels in one table.
Table rows_of_facts(const ManifestKernel &kernel, const Facts &facts) {
    Table table{.columns = fact_columns, .rows = {}};
    for (const auto &[fact, value] : facts) {
        table.rows.push_back({kernel.layer, kernel.target, fact, or_null(value)});
    }
    return table;
}

// For people: a table for each kernel.
void print_page(const ManifestKernel &kernel, const Facts &facts, const AnswerOptions &options) {
    print_line(kernel.layer + " on " + kernel.target);
    print(rows_of_facts(kernel, facts), {{.name = "fact"}, {.name = "value"}}, options);
    print_line("");
}

// Whether any kernel matched.
bool print_details(const std::vector<Manifest> &manifests, const ExplainPackageArguments &arguments) {
    Table all;
    for (const Manifest &manifest : manifests) {
        for (const ManifestKernel &kernel : manifest.kernels) {
            if (!matches(kernel, arguments.kernel)) continue;
            const Facts facts = facts_of(manifest, kernel);
            Table table = rows_of_facts(kernel, facts);
            all.columns = table.columns;
            all.rows.insert(all.rows.end(), table.rows.begin(), table.rows.end());
            if (arguments.answer.format == TableFormat::table) print_page(kernel, facts, arguments.answer);
        }
    }
    const bool any = !all.rows.empty();
    if (any && arguments.answer.format != TableFormat::table) print(std::move(all), {}, arguments.answer);
    return any;
}

// How many kernels each package has, of which the filter leaves some. Errors (usage): it matches no layer.
Result<std::vector<size_t>> keep_layers(const std::string &filter, std::vector<Manifest> *manifests) {
    std::vector<std::string> names;
    std::vector<size_t> counts;
    size_t kept = 0;
    for (Manifest &manifest : *manifests) {
        counts.push_back(manifest.kernels.size());
        for (const ManifestKernel &kernel : manifest.kernels) names.push_back(kernel.layer);
        std::erase_if(manifest.kernels, [&](const ManifestKernel &k) { return !glob_match(filter, k.layer); });
        kept += manifest.kernels.size();
    }
    if (kept == 0 && (!names.empty() || filter != WorkloadOptions().filter)) {
        return no_match(filter, "layer of the package", names);
    }
    return counts;
}

// "3 kernels", or "1 of 3 kernels" where the filter leaves one.
std::string kernels_text(size_t kept, size_t all) {
    return fmt::format("{}{} kernel{}", kept == all ? "" : fmt::format("{} of ", kept), all, all == 1 ? "" : "s");
}

// About the whole package, which has `all` kernels; the table has one row a kernel.
void tell_of(const Manifest &m, size_t all) {
    tell_line(fmt::format("{}: package {}, {}{}, built by {}", m.source, m.name, kernels_text(m.kernels.size(), all),
                          m.fallback ? " and one for any sizes" : "", m.toolchain));
    if (const auto &p = m.preparation) {
        tell_line(fmt::format("{}: {}_prepare() computes the network's inputs, {} to {} tensors", m.source, m.name,
                              p->inputs, p->outputs));
    }
    if (const auto &n = m.network) {
        tell_line(fmt::format("{}: network {}, {} to {} tensors, plan {}", m.source, n->name, n->inputs, n->outputs,
                              n->plan));
        tell_line(fmt::format("{}: weights of {} bytes {}, digest {}", m.source, n->weights_bytes,
                              n->weights.empty() ? "in the library" : "in " + n->weights, n->weights_digest));
    }
    if (m.database_digest.empty()) {
        tell_line(fmt::format("{}: built without a database", m.source));
    } else {
        tell_line(fmt::format("{}: database {}, digest {} (`kiln db info` shows a database's)", m.source, m.database,
                              m.database_digest));
    }
}

// Nothing matched. A network that only moves bytes has no kernel to show as an example.
Error no_kernel(const std::vector<Manifest> &manifests, const ExplainPackageArguments &arguments) {
    const std::string what = fmt::format("{}: no kernel matches `{}`", arguments.path, arguments.kernel);
    for (const Manifest &manifest : manifests) {
        if (manifest.kernels.empty()) continue;
        const ManifestKernel &example = manifest.kernels.front();
        return usage_error(
            fmt::format("{}; layers are named like {}, keys are like {}", what, example.layer, example.key));
    }
    return usage_error(fmt::format("{}; there is no kernel at all", what));
}

}  // namespace

int explain_package(const ExplainPackageArguments &arguments) {
    const bool all = arguments.kernel.empty();
    if (Status s = check_columns(arguments.answer, all ? summary_columns : fact_columns); !s) return fail(s.error());
    Result<std::vector<Manifest>> manifests = read_manifests(arguments.path);
    if (!manifests) return fail(manifests.error());
    const Result<std::vector<size_t>> counts = keep_layers(arguments.filter, &*manifests);
    if (!counts) return fail(counts.error());
    if (!all) return print_details(*manifests, arguments) ? exit_done : fail(no_kernel(*manifests, arguments));
    for (size_t i = 0; i < manifests->size(); i++) {
        const Manifest &manifest = (*manifests)[i];
        const bool is_filtered_out = manifest.kernels.empty() && (*counts)[i] > 0;
        if (!is_filtered_out) tell_of(manifest, (*counts)[i]);
    }
    print(summary(*manifests), summary_form, arguments.answer);
    return exit_done;
}

}  // namespace kiln
