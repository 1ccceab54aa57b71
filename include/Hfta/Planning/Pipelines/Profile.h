//===- Profile.h - Files with measured layers -------------------*- C++ -*-===//
//
// Reads layer profiles in the form in which PipeDream and DAPPLE publish them.
// A node is one line
//
//   node4 -- MaxPool2d -- forward_compute_time=0.65, backward_compute_time=1.3,
//   activation_size=96000000, parameter_size=0
//
// (broken here; times are in milliseconds, sizes in bytes, "[a; b]" for a node
// with several outputs; " -- stage_id=2" may follow). An edge is a line that
// begins with a tab:
//
//   	node3 -- node4
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_PIPELINES_PROFILE_H
#define HFTA_PLANNING_PIPELINES_PROFILE_H

#include "Hfta/Planning/Common/LayerModel.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

namespace mlir::hfta::planning {

struct ProfileError {
  unsigned line = 0; ///< counted from 1; 0 for the file as a whole
  std::string message;
};

/// Reads a profile whose times and activation sizes are those of `samples`
/// samples. Layers are sorted by their number of ancestors, equal ones in the
/// order of the file; sources are placed directly before their first user.
/// Sources named Input... and sinks named __getitem__... aren't layers. The
/// name of a layer is the node's description, or its identifier if several
/// nodes have this description. On failure, returns nothing and sets `error`.
std::optional<LayerModel> readProfile(llvm::StringRef text, int64_t samples,
                                      ProfileError &error);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_PIPELINES_PROFILE_H
