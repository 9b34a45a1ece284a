// Rewrites that leave the sizes of the output alone: how its channels are cut into panels of vectors, and what counts as
// a channel or a row.
#pragma once

#include "rewrites/conv_loops.h"

namespace kiln {

// Where results are scattered, the sums are gathered in NHWC with the sums' channels, whatever the result's layout: a
// copy puts them in their places. Else the same.
ConvLoops gathered(ConvLoops loops);

// The same convolution seen as one over rows of floats: the kernel's columns and input channels, contiguous in NHWC, are
// one dimension of the sum, and the input's positions and channels are one, too: channel position * joined + channel.
// Packed weights are the same bytes. Precondition: dilation[0] is 1, one group.
ConvLoops joined_columns(ConvLoops loops);

// The loops as panels of vectors of `lanes` outputs see them: with group_panels where groups and vectors do not divide
// each other, so that lanes of one vector would need different groups' inputs at different places.
ConvLoops panelled(ConvLoops loops, int lanes);

// Where no window reaches over rows, images of one row are rows of one image: tiles span them. Only NHWC has them side by
// side. Else the same.
ConvLoops rows_of_one_image(ConvLoops loops);

// Where windows of one tap with strides read single pixels (read_pixels in input_phases.h): these are one row, and so are the results,
// since tiles need not end where rows of the input do. Only where channels lie side by side, so that vectors are of channels, and
// where whole tiles do not fill rows well. Else the same.
ConvLoops pixels_of_one_row(const ConvLoops &loops);

}  // namespace kiln
