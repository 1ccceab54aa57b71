//===- FitSample.h - Samples as inputs of models ----------------*- C++ -*-===//

#ifndef HFTA_LANGUAGE_FITSAMPLE_H
#define HFTA_LANGUAGE_FITSAMPLE_H

#include "Hfta/Import/Onnx/Import.h"

namespace mlir::hfta {

/// Matches a sample's shape with the axes of an input, both without the batch
/// axis, and returns the shape that the input gets. Axes of length 1 may be
/// added or dropped. An axis of unknown size takes the sample's size, which is
/// added to `sizes`, by the axis' symbol, unless that has one already. Returns
/// nothing if they don't match; some sizes may have been added.
std::optional<llvm::SmallVector<int64_t>>
fitSample(llvm::ArrayRef<OnnxAxis> axes, llvm::ArrayRef<int64_t> shape,
          llvm::StringMap<int64_t> &sizes);

} // namespace mlir::hfta

#endif // HFTA_LANGUAGE_FITSAMPLE_H
