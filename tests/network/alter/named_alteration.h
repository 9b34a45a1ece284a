// An alteration of kiln's by its name.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "network/alter/alteration.h"

namespace kiln::network {

inline const Alteration &named(const std::string &name) {
    for (const Alteration &alteration : alterations()) {
        if (alteration.name == name) return alteration;
    }
    ADD_FAILURE() << "there is no " << name;
    return alterations()[0];
}

}  // namespace kiln::network
