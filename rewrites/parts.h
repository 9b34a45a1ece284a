// Sums of products of small integers: the units of processors multiply two or four neighbouring channels in each lane of
// 32 bits and add them up.
#pragma once

#include "rewrites/conv_loops.h"

namespace kiln {

// Where a row's columns are joined (panels.h), a step has `parts` neighbouring numbers of a row: channels of several columns.
//
// The same convolution with steps of `parts` channels: `input_channels` counts steps, and a channel c of the input's map is
// part c % parts of step c / parts. Channels behind the last of a group are any, for weights that are zero. Padding and holes
// are numbers like others, so that no tap may be left out. Precondition: `parts` divides the channels of a group, where there
// are several.
ConvLoops in_parts(ConvLoops loops, int64_t parts);

}  // namespace kiln
