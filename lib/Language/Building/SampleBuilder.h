//===- SampleBuilder.h - Builds values of a field's samples -----*- C++ -*-===//

#ifndef HFTA_LIB_LANGUAGE_BUILDING_SAMPLEBUILDER_H
#define HFTA_LIB_LANGUAGE_BUILDING_SAMPLEBUILDER_H

#include "Analysis/FieldFunctions.h"
#include "Building/TensorBuilder.h"

namespace mlir::hfta::language {

/// Values that decide which numbers are drawn for samples: the job's seed and,
/// for each sample, its epoch and its index in the data set. All are of i64.
struct SampleKeys {
  Value seed, epochs, samples;
};

/// The other sample with which each sample is mixed.
struct Partners {
  Value values; ///< as those of the samples, before they are mixed
  /// For a field that is mixed like another one: the samples' shares.
  Value shares;
};

/// For each sample, the first row and column of a box, and those after its last
/// ones, of getPlaceType(). They may be outside of the sample.
struct Box {
  Value top, left, bottom, right;
};

/// Builds the ops of functions of fields. Axis 0 of every value counts the
/// samples of a micro-batch.
class SampleBuilder {
public:
  SampleBuilder(TensorBuilder &tensors, StringRef field, const SampleKeys &keys)
      : tensors(tensors), field(field), keys(keys) {}

  TensorBuilder &getTensors() { return tensors; }
  StringRef getField() const { return field; }
  const Partners &getPartners() const { return partners; }
  void setPartners(const Partners &values) { partners = values; }

  /// Builds uniform numbers in [0, 1), of `shape` for each of `count` samples.
  /// `what` says what a call draws them for. Fields draw alike if they call the
  /// same functions in the same views.
  Value draw(const FieldCall &call, const Twine &what, int64_t count,
             ArrayRef<int64_t> shape = {});

  /// Repeats a value of each sample, along its only axis, for all elements of a
  /// sample: to the shape of `like`.
  Value spread(Value values, Value like) {
    return tensors.broadcast(values, getShape(like), /*dimensions=*/0);
  }

  /// Builds a boolean for each of `count` samples that is true with the
  /// probability that the call's parameter `p` is.
  Value drawChoice(const FieldCall &call, int64_t count);

  /// Builds booleans, in the shape of `like`: whether an element is in its
  /// sample's box, which has rows and columns along the last two axes.
  Value findInside(const Box &box, Value like);

  /// Builds whole numbers from 0 to `size` - 1 from uniform ones.
  Value scaleToIndex(Value uniform, int64_t size, Type indexType);

  /// Returns the type in which takePlaces() computes with indices.
  Type getIndexType(Value x);
  /// Builds samples whose element at row i and column j, along the last two
  /// axes, is the element of `x` at rows[i] and columns[j], or 0 if that is
  /// outside. `rows` and `columns` have these for each sample.
  Value takePlaces(Value x, Value rows, Value columns);

  /// The type of the numbers of rows and columns of boxes.
  Type getPlaceType() { return tensors.getBuilder().getI32Type(); }

private:
  TensorBuilder &tensors;
  StringRef field;
  const SampleKeys &keys;
  Partners partners;
};

} // namespace mlir::hfta::language

#endif // HFTA_LIB_LANGUAGE_BUILDING_SAMPLEBUILDER_H
