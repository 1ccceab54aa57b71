//===- Profile.h - Files with measured layers -------------------*- C++ -*-===//
//
// Layer profiles as PipeDream and DAPPLE publish them. A node is a line
//
//   node4 -- MaxPool2d -- forward_compute_time=0.65, backward_compute_time=1.3,
//   activation_size=96000000, parameter_size=0
//
// (in one line; times in milliseconds, sizes in bytes, "[a; b]" for a node with
// several outputs, and perhaps " -- stage_id=2" at the end). An edge is a line
// that begins with a tab:
//
//   	node3 -- node4
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_PROFILE_H
#define HFTA_PLANNING_PROFILE_H

#include "Hfta/Planning/LayerModel.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

namespace mlir::hfta::planning {

struct ProfileError {
  unsigned line = 0; ///< from 1; 0: the file as a whole
  std::string message;
};

/// Reads a profile whose times and activations are those of `samples` samples.
/// Layers are ordered by their number of ancestors, equal ones as in the file,
/// and a source right before its first user. Sources named Input... and sinks
/// named __getitem__... are no layers. A layer's name is the node's
/// description, or its identifier where several have that description. On
/// failure it returns nothing and sets `error`.
std::optional<LayerModel> readProfile(llvm::StringRef text, int64_t samples,
                                      ProfileError &error);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_PROFILE_H
