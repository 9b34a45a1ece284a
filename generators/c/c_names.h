// Names of a kernel's buffers and variables in C. Halide's say where something comes from, "output.s0.x.x_tile", and may
// hold any character; of these only the last part is of interest to a reader.
#pragma once

#include <map>
#include <set>
#include <string>

namespace kiln {

class CNames {
public:
    // The identifier that stands for this name until it is forgotten; a new one unless it has one already.
    std::string of(const std::string &name);
    // A name that binds anew, such as a loop's: an identifier that no other visible name has.
    std::string bind(const std::string &name);
    void forget(const std::string &name);
    std::string fresh(const std::string &stem);

private:
    std::map<std::string, std::string> names_;
    std::set<std::string> used_;
};

}  // namespace kiln
