// Knobs as a struct of numbers. A template lists its knobs once, in `visit_knobs`; the text of a candidate is read into
// the struct and written from it by that list alone, so that a name that is misspelt does not compile or is refused,
// and never reads as 0.
//
//   struct MoveRowsKnobs {
//       int64_t lanes = 1, parallel = 0;
//   };
//   template<typename Visitor>
//   void visit_knobs(Visitor &visit, MoveRowsKnobs &k) {
//       visit.needs("lanes", k.lanes);
//       visit.may_lack("parallel", k.parallel);
//   }
//
// A space leaves a knob that can only be 0 out of its candidates (drop_knobs_that_do_not_apply), and their texts are
// stored. So a knob that does not apply to every workload `may_lack`, and is 0 where it is not there. Whether a
// candidate has just the knobs that its workload asks for is the space's question (Space::check).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "schedules/candidate.h"
#include "workload/result.h"

namespace kiln {

// Reads a struct's knobs from a candidate's.
class KnobReader {
public:
    explicit KnobReader(const Knobs &knobs) : knobs_(knobs) {}

    void needs(std::string_view name, int64_t &value) {
        if (!take(name, value) && missing_.empty()) missing_ = name;
    }
    void may_lack(std::string_view name, int64_t &value) {
        if (!take(name, value)) value = 0;
    }

    // After all knobs were visited: an error names the first that is missing, or else one that the struct does not
    // have.
    Status finish() const;

private:
    bool take(std::string_view name, int64_t &value);

    const Knobs &knobs_;
    Knobs taken_;
    std::string missing_;
};

// Writes a struct's knobs, also those that are 0.
struct KnobWriter {
    Knobs knobs;

    void needs(std::string_view name, int64_t value) { knobs.emplace(name, value); }
    void may_lack(std::string_view name, int64_t value) { knobs.emplace(name, value); }
};

// Reads what a space has checked: knobs that the struct does not have are those of another struct.
struct CheckedKnobReader {
    const Knobs &knobs;

    void needs(std::string_view name, int64_t &value) const {
        if (const auto found = knobs.find(name); found != knobs.end()) value = found->second;
    }
    void may_lack(std::string_view name, int64_t &value) const { needs(name, value); }
};

// Finds a field's name.
struct KnobNamer {
    const void *field;
    std::string name;

    void needs(std::string_view knob, const int64_t &value) {
        if (&value == field) name = knob;
    }
    void may_lack(std::string_view knob, const int64_t &value) { needs(knob, value); }
};

// Refuses knobs of which one is missing or unknown: "knob `rows` is missing".
template<typename TemplateKnobs>
Result<TemplateKnobs> decode_knobs(const Knobs &knobs) {
    TemplateKnobs decoded;
    KnobReader reader(knobs);
    visit_knobs(reader, decoded);
    if (Status s = reader.finish(); !s) return s.error();
    return decoded;
}

// Precondition: a space with the struct's knobs, and perhaps others, holds `knobs`.
template<typename TemplateKnobs>
TemplateKnobs checked_knobs(const Knobs &knobs) {
    TemplateKnobs decoded;
    CheckedKnobReader reader{knobs};
    visit_knobs(reader, decoded);
    return decoded;
}

template<typename TemplateKnobs>
Knobs encode_knobs(TemplateKnobs knobs) {
    KnobWriter writer;
    visit_knobs(writer, knobs);
    return std::move(writer.knobs);
}

// The values 1, 2, ... to `last` of a domain; none where it is below 1.
inline std::vector<int64_t> up_to(int64_t last) {
    std::vector<int64_t> values;
    for (int64_t v = 1; v <= last; v++) values.push_back(v);
    return values;
}

// How many of `count` tiles make a block: 1, 2, 4, ..., the divisors of `count` up to 64, and `count` itself; ascending.
std::vector<int64_t> block_sizes(int64_t count);

// The name of a field in texts: `knob_name(&CpuTileKnobs::rows)` is "rows".
template<typename TemplateKnobs>
std::string knob_name(int64_t TemplateKnobs::*field) {
    TemplateKnobs knobs;
    KnobNamer namer{&(knobs.*field), ""};
    visit_knobs(namer, knobs);
    return std::move(namer.name);
}

}  // namespace kiln
