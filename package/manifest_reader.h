// Reads manifests back: from a package's folder, its manifest.json, its library, or a program that was linked with it.
//
// The library holds the text of its manifest, so the reader searches binaries for it, stripped and linked ones too. It
// reads a file of a later version with more fields. It refuses a file that lacks a field, or has one of another type,
// and names the field.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workload/result.h"

namespace kiln {

// All fields of an object in their order: "measurement.median" and the value's text, empty for null.
using Facts = std::vector<std::pair<std::string, std::string>>;

struct ManifestKernel {
    std::string key, layer;  // "list/name"
    std::string target, candidate;
    std::string why_place;
    bool tuned = false, stale = false;
    std::string trial, evidence;   // empty where there is none
    std::optional<double> median;  // in the measurement's metric, as are these
    std::optional<double> median_lo, median_hi;
    std::string metric;
    Facts facts;
};

struct ManifestNetwork {
    std::string name, plan;
    std::string weights;  // the file beside the library; empty: the library holds them
    int64_t weights_bytes = 0;
    std::string weights_digest;
    size_t inputs = 0, outputs = 0, variants = 0;
};

struct Manifest {
    std::string source;  // where it was found
    std::string name, toolchain, database, database_digest;
    bool fallback = false;  // convolutions of any sizes are computed too; false in manifests that do not say
    std::vector<ManifestKernel> kernels;
    std::optional<ManifestNetwork> network;
    std::optional<ManifestNetwork> preparation;  // of the network's inputs
};

// The manifest in a text. Messages call it `source`.
Result<Manifest> parse_manifest(std::string_view text, const std::string &source);

// All manifests of a file or folder, at least one: a program may hold several packages.
Result<std::vector<Manifest>> read_manifests(const std::string &path);

}  // namespace kiln
