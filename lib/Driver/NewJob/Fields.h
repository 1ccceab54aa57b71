//===- Fields.h - Which files are inputs and which the label ----*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_NEWJOB_FIELDS_H
#define HFTA_LIB_DRIVER_NEWJOB_FIELDS_H

#include "Hfta/Import/Onnx/Import.h"
#include "NewJob/LossChoice.h"

#include <array>

namespace mlir::hfta {

/// A field of the new job's data block.
struct NewField {
  std::string name;
  std::string type; ///< declared, as "f32[13]"; empty if the files state it
  llvm::SmallVector<int64_t> shape; ///< a sample's
  /// The files that each part reads, as `npy("x.npy")`; empty: there is no such
  /// part.
  std::array<std::string, kDataParts> sources;
  /// Arithmetic around the source in all parts: "normalize(" and ", 1, 2)".
  std::string before, after;
  NumberFacts range; ///< the label's, in the training data
};

/// The fields of a data block.
struct NewFields {
  std::vector<NewField> inputs; ///< in the order of the model's inputs
  NewField label;
  int64_t samples = 0; ///< for training
  /// What was decided and the files don't say plainly, as sentences.
  std::vector<std::string> notes;
};

/// Decides which field each input of a model gets, by names and by shapes, and
/// which one is the label. `outputs` is the number of elements of a sample of
/// the model's output if the file states it, else 0. Paths are written relative
/// to `folder`. The error says what is missing or ambiguous.
llvm::Expected<NewFields> findFields(const DataFiles &files,
                                     llvm::ArrayRef<OnnxPort> ports,
                                     int64_t outputs, llvm::StringRef folder);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_NEWJOB_FIELDS_H
