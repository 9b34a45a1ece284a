// The peaks that were measured on this machine before. They tell a busy moment from a slow machine. They lie in a small
// file of the user's cache folder. Nothing else is lost with the file, so failing to read or write it is no error.
#pragma once

#include <optional>
#include <string>

#include "tuner/measure/hardware_probe.h"

namespace kiln {

// $XDG_CACHE_HOME/kiln/peaks.json, else $HOME/.cache/kiln/peaks.json; empty where neither is set.
std::string peak_memory_path();

class PeakMemory {
public:
    PeakMemory(std::string path, std::string machine) : path_(std::move(path)), machine_(std::move(machine)) {}

    std::optional<FmaPeak> earlier(const std::string &instructions, int threads) const;

    // Keeps the highest.
    void remember(const FmaPeak &peak, int threads) const;

private:
    std::string path_, machine_;
};

}  // namespace kiln
