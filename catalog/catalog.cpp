#include "catalog/catalog.h"

#include "catalog/conv_algorithms.h"
#include "catalog/depthwise_algorithm.h"
#include "catalog/fold_algorithm.h"
#include "catalog/matrix/matrix_algorithm.h"
#include "catalog/operators/movement_algorithms.h"
#include "catalog/operators/nest_algorithm.h"
#include "catalog/operators/transform_algorithms.h"
#include "catalog/quantized_algorithm.h"
#include "catalog/scalar/scalar_algorithms.h"
#include "catalog/winograd/quantized_winograd.h"
#include "catalog/winograd/strassen.h"
#include "catalog/winograd/winograd_algorithm.h"

namespace kiln {
namespace {

constexpr Algorithm algorithms[] = {
    {"phases", 2, "convolutions of the output's phases, which meet no hole of the input", phases_applies, sum_space},
    {"direct", 1, "the definition, blocked for registers and caches", direct_applies, sum_space, false, false, false,
     true},
    {"separable", 1, "a depthwise convolution and one of 1x1 behind it, some rows at a time", separable_applies,
     sum_space, false, false, false, true, true},
    {"depthwise_rows", 1, "depthwise sums in vectors of columns", depthwise_rows_applies, depthwise_rows_space},
    {"depthwise_turned", 1, "depthwise sums in vectors of channels that memory has apart", depthwise_turned_applies,
     depthwise_turned_space},
    {"input_phases", 1, "convolutions without dilation on the input's phases", input_phases_applies, sum_space},
    {"quantized", 1, "the definition in integers, several products a lane", quantized_applies, quantized_space, false,
     false, true},
    {"matrix", 1, "products of matrices in tile registers", matrix_applies, matrix_space},
    {"quantized_depthwise", 1, "depthwise sums of several columns a lane", quantized_depthwise_applies,
     quantized_depthwise_space},
    {"scalar_depthwise", 2, "sums of one channel on a core without vectors", scalar_depthwise_applies,
     scalar_depthwise_space_of},
    {"scalar_dense", 2, "sums over channels on a core without vectors", scalar_dense_applies, scalar_dense_space_of},
    {"shared_depthwise", 1, "sums of one channel in code that layers of other sizes share", shared_depthwise_applies,
     shared_depthwise_space_of},
    {"shared_dense", 1, "sums over channels in code that layers of other sizes share", shared_dense_applies,
     shared_dense_space_of},
    {"kernel_gradient", 1, "sums of products over all pixels", kernel_gradient_applies, kernel_gradient_space},
    {fold_fused, 1, "blocks of pixels as channels, folded in the kernel", fold_applies, fold_space},
    {fold_prepared, 1, "blocks of pixels as channels, folded by `prepare`", fold_applies, fold_space, false, true},
    {fold_gradient, 1, "the gradient of the kernel over blocks of pixels", fold_gradient_applies, fold_gradient_space},
    {"winograd_4", 1, "Winograd, 4 outputs a tile side", winograd_applies, winograd_space, true, false, false, true},
    {"winograd_2", 1, "Winograd, 2 outputs a tile side", winograd_applies, winograd_space, true, false, false, true},
    {"winograd_3", 1, "Winograd, 3 outputs a tile side", winograd_applies, winograd_space, true, false, false, true},
    {"winograd_5", 1, "Winograd, 5 outputs a tile side", winograd_applies, winograd_space, true, false, false, true},
    {"winograd_6", 1, "Winograd, 6 outputs a tile side", winograd_applies, winograd_space, true, false, false, true},
    {"strassen", 1, "seven products of halves for eight", strassen_applies, strassen_space, true, false, false, true},
    {"quantized_winograd_2", 1, "Winograd in integers, 2 outputs a tile side", quantized_winograd_applies,
     quantized_winograd_space},
    {"quantized_winograd_3", 1, "Winograd in integers, 3 outputs a tile side", quantized_winograd_applies,
     quantized_winograd_space},
    {"space_to_depth", 1, "blocks of pixels to channels", movement_applies, movement_space},
    {"depth_to_space", 1, "channels to blocks of pixels", movement_applies, movement_space},
    {"layout_transform", 1, "activations or weights in another layout", movement_applies, movement_space},
    {"winograd_input_transform", 1, "B^T D B of every tile", transform_applies, transform_space, true},
    {"winograd_filter_transform", 1, "G K G^T of every kernel", transform_applies, transform_space, true},
    {"winograd_output_transform", 1, "A^T M A of every tile", transform_applies, transform_space, true},
    {"nest", 1, "loops as they are written, blocked for registers", nest_applies, nest_space},
};

}  // namespace

std::span<const Algorithm> catalog() { return algorithms; }

}  // namespace kiln
