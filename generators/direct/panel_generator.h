// What the generators of direct sums share with those of their packed weights: panels of output channels, as wide as
// the register tile.
#pragma once

#include "generators/conv_generator.h"
#include "generators/direct/panel_form.h"
#include "rewrites/panels.h"
#include "schedules/spaces/cpu_tile_knobs.h"
#include "schedules/spaces/cpu_tile_space.h"

namespace kiln {

template<typename Derived>
class PanelGenerator : public ConvGenerator<Derived, CpuTileKnobs> {
protected:
    void read_panels() {
        this->read_convolution();
        lanes = tile_lanes(this->knobs, this->target_of_kiln);
        this->loops = panelled(gathered(this->loops), lanes);
    }

    // Tiles that do not divide the rows compute some below the last, which are not stored; their input may not exist.
    void allow_rows_below(Place *row) const {
        if (this->loops.output[1] % this->knobs.rows != 0 && row->outside == Outside::never)
            row->outside = Outside::any;
    }

    int panel_width() const { return lanes * extent(this->knobs.vectors); }

    PanelForm panel_form() const { return {this->knobs, lanes}; }

    int lanes = 1;  // of a vector
};

}  // namespace kiln
