// What the generators of Strassen's products and of their packed weights share.
#pragma once

#include "generators/winograd/product_generator.h"

namespace kiln {

template<typename Derived>
class StrassenGenerator : public ProductGenerator<Derived> {
protected:
    void read_facts() {
        this->read_convolution();
        this->take_facts(strassen_facts(this->loops, this->target_of_kiln, Core{}));
    }
};

}  // namespace kiln
