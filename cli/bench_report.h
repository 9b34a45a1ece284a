// What `kiln bench` measured, and its three forms: a table, `bench/1` JSON and a bar chart.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/measure/hardware_probe.h"
#include "workload/lists/workload_list.h"
#include "workload/target.h"

namespace kiln {

// One kernel over all rounds.
struct Timing {
    std::string candidate;  // of a peer: what it says about its implementation
    std::vector<double> round_medians_ns;
    double min_ns = 0;

    double median_ns() const;
    void add(double round_median_ns, double round_min_ns);
};

// A peer on one layer. Its times are without the overhead of its call.
struct PeerTiming {
    std::string name, version;
    std::optional<Timing> timing;
    double call_overhead_ns = 0;  // median over rounds; already subtracted
    std::string problem;          // why there is no time
    bool is_failure = false;      // it should have had one: it computed wrong numbers, failed or got lost
};

struct Layer {
    std::string algorithm;
    std::optional<Timing> chosen, standard;  // tuned (or else default), and default
    bool untuned = false;
    std::string problem;  // why there is no time
    std::vector<PeerTiming> peers;
    std::optional<Timing> copy;  // of data movement: a copy of as many bytes by plain stores, in the same rounds
};

// Peer's median over ours; `lo` and `hi` are the quartiles of the rounds' own ratios. Precondition: as many rounds
// each.
struct Ratio {
    double value = 0, lo = 0, hi = 0;
};
Ratio ratio(const Timing &peer, const Timing &ours);

struct BenchReport {
    std::vector<NamedWorkload> workloads;
    std::vector<Layer> layers;  // one each
    Target target;
    FmaPeak peak;
    std::vector<Bandwidth> bandwidths;  // smallest working set first
    std::vector<std::string> peers;
};

// An estimate of what the direct method can reach on this machine, GFLOP/s: the FMA peak, or less where it takes longer
// to read all operands and write the result once, from and to the smallest memory that holds them all (roofline;
// Williams et al., 2009). Nothing where no operations are counted. Counted operations that a kernel skips, taps in the
// padding and what Winograd saves, take it past this.
std::optional<double> roofline_gflops(const Workload &workload, const FmaPeak &peak,
                                      const std::vector<Bandwidth> &bandwidths, int threads);

double gflops(const Workload &workload, const Timing &timing);
void print_json(const BenchReport &report);
void print_table(const BenchReport &report);

// GFLOP/s of each layer, ours and the peers', with the FMA peak as a line and each layer's roofline as a tick: an SVG
// file that needs nothing else.
std::string bench_chart(const BenchReport &report);

}  // namespace kiln
