//===- Rectangles.h - Parts of images that are drawn ------------*- C++ -*-===//

#ifndef HFTA_LIB_LANGUAGE_BUILDING_RECTANGLES_H
#define HFTA_LIB_LANGUAGE_BUILDING_RECTANGLES_H

#include "Building/SampleBuilder.h"

namespace mlir::hfta::language {

/// Returns what is wrong with samples of this shape where a function takes
/// images; empty: nothing.
std::string needImages(const std::vector<int64_t> &shape);
/// Does as needImages() for a function that doesn't change the samples' shape
/// (FieldFunction::reshape).
std::string keepImages(const FieldCall &call, std::vector<int64_t> &shape);

/// Builds a rectangle inside of each sample of `value`, whose share of the
/// sample's area and whose proportions, height by width, are drawn from the
/// call's intervals `area` and `ratio`. Ten tries are made to find one that
/// fits. Without success it is the largest one in the middle that has
/// proportions of the interval if it `mayTouch` opposite sides of the sample,
/// else it is empty.
Box drawRectangles(SampleBuilder &samples, const FieldCall &call, Value value,
                   bool mayTouch);

/// Builds a box around a random element of each sample of `value`. `height` and
/// `width` have a number for each sample, of SampleBuilder::getPlaceType().
Box drawAround(SampleBuilder &samples, const FieldCall &call, Value value,
               Value height, Value width);

} // namespace mlir::hfta::language

#endif // HFTA_LIB_LANGUAGE_BUILDING_RECTANGLES_H
