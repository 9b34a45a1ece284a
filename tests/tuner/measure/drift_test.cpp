#include "tuner/measure/drift.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kiln {
namespace {

// Answers for a sequence of readings: '.' kept, 'R' to be made again.
std::string judge(const std::vector<SentinelReading> &readings) {
    DriftDetector detector;
    std::string answers;
    for (const SentinelReading &reading : readings) answers += detector.drifted(reading) ? 'R' : '.';
    return answers;
}

TEST(DriftDetector, MeasuresADriftingWindowAgain) {
    const SentinelReading usual{100, 101}, changes{100, 120}, slow{120, 121}, fast{80, 80}, none{};
    const struct {
        const char *what;
        std::vector<SentinelReading> readings;
        std::string answers;
    } table[] = {
        {"nothing happens", {usual, usual, usual, usual}, "...."},
        {"noise is no drift", {{100, 103}, {98, 101}, {102, 99}, {101, 104}}, "...."},
        {"changes meanwhile", {usual, usual, usual, changes, usual}, "...R."},
        {"changes at the very first", {changes, usual}, "R."},
        {"slow for a moment", {usual, usual, usual, slow, usual, slow, usual}, "...R.R."},
        {"fast is as wrong as slow", {usual, usual, usual, fast, usual}, "...R."},
        {"slow for good: the new usual", {usual, usual, usual, slow, slow, slow, slow, slow}, "...RR..."},
        {"and then the old one is off", {usual, usual, usual, slow, slow, slow, slow, slow, usual}, "...RR...R"},
        {"never without an end", {changes, changes, changes, changes, changes, changes}, "RR.RR."},
        {"too little is known", {usual, slow, usual}, "..."},
        {"no sentinel", {none, none, none}, "..."},
    };
    for (const auto &row : table) EXPECT_EQ(judge(row.readings), row.answers) << row.what;
}

}  // namespace
}  // namespace kiln
