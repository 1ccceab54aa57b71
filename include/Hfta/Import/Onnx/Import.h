//===- Import.h - ONNX files to hfta.model ----------------------*- C++ -*-===//
//
// An ONNX file is opened once (`OnnxFile`), its ports are looked at to bind
// data to them, and it is imported as one `hfta.model` with variables and
// @forward. Whatever the file holds, the importer reports instead of crashing:
// diagnostics go to the context, at a NameLoc of the node over the file.
//===----------------------------------------------------------------------===//

#ifndef HFTA_IMPORT_ONNX_IMPORT_H
#define HFTA_IMPORT_ONNX_IMPORT_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/IR/Job.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mlir::hfta {

/// On a constant of an imported model: its shape or elements may follow from
/// the batch size. hfta-describe-model removes it.
inline constexpr llvm::StringLiteral kFollowsBatchAttrName =
    "hfta.follows_batch";

/// Why an import failed; the driver's exit code follows from it.
enum class OnnxFailure {
  none,
  input,      ///< the file, or what is bound to it, is wrong
  unsupported ///< a valid file uses something that Hfta doesn't have
};

/// One axis of a port. `size` is ShapedType::kDynamic unless the file fixes
/// it; `symbol` is empty for a fixed axis, PORT.NUMBER for one that the file
/// leaves open without a name.
struct OnnxAxis {
  int64_t size = ShapedType::kDynamic;
  std::string symbol;
};

/// An input that no initializer fills, or an output.
struct OnnxPort {
  std::string name;
  Type elementType;      ///< as in the file; null if it has no tensor type
  bool hasShape = false; ///< false: `shape` says nothing, not even the rank
  std::vector<OnnxAxis> shape;
};

struct OnnxImportOptions {
  /// Symbol of the `hfta.model`.
  std::string modelName = "model";
  /// Size of axis 0 of every input. Nothing: the exported sizes are kept, a
  /// symbolic axis 0 needs an entry in `dims`.
  std::optional<int64_t> microBatch;
  /// Sizes of open axes by their `OnnxAxis::symbol`.
  llvm::StringMap<int64_t> dims;
  /// One sample's shape (without axis 0) by input name: binds the axes that
  /// the file leaves open. Must agree with those that it fixes.
  llvm::StringMap<std::vector<int64_t>> sampleShapes;
  /// Inputs bound at compile time, by name; they are no arguments of @forward.
  llvm::StringMap<DenseElementsAttr> constants;
  /// New names of @forward's arguments by the file's input name (the data
  /// field bound to it); the file's own name then stays in the argument
  /// attribute `hfta.file_name`, which export uses.
  llvm::StringMap<std::string> argumentNames;
  /// Globs (`*`, `?`, `[…]`) of initializers that aren't trained, and of those
  /// that are whatever else is said of them. A pattern without effect is an
  /// error. The file's metadata `hfta.parameters` and the initializers' names
  /// and uses decide on the others.
  std::vector<std::string> freeze, trainable;
  /// Parameters are drawn anew from the copy's seed instead of starting with
  /// the file's values.
  bool freshInitialization = false;
  /// True: for a job; BatchNormalization and Dropout become ops without a
  /// mode, running statistics are updated as PyTorch does. False: the graph is
  /// executed as written.
  bool training = true;
};

/// A parsed and checked file. Keeps the file's tensors in memory.
class OnnxFile {
public:
  /// Reads `path`. Nothing on failure, which is diagnosed and put into
  /// `failure`.
  static std::unique_ptr<OnnxFile> open(StringRef path, MLIRContext *context,
                                        OnnxFailure &failure);
  /// The same from memory; `path` names it in messages and is the place that
  /// external data is looked for.
  static std::unique_ptr<OnnxFile> parse(StringRef bytes, StringRef path,
                                         MLIRContext *context,
                                         OnnxFailure &failure);
  ~OnnxFile();

  const std::vector<OnnxPort> &getInputs() const;
  const std::vector<OnnxPort> &getOutputs() const;

  /// Appends the model to the module. On failure nothing is added, everything
  /// found wrong or unsupported has been reported at once, and `failure` tells
  /// which. Argument k of @forward is input k less the bound constants; ports
  /// carry `hfta.name`.
  FailureOr<ModelOp> import(ModuleOp module, const OnnxImportOptions &options,
                            OnnxFailure &failure) const;

private:
  struct Impl;
  explicit OnnxFile(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

/// A handler of the importer's table: used from operator set `sinceVersion` on
/// until the next entry of the same name.
struct OnnxSupportedOp {
  StringRef name;
  int64_t sinceVersion;
};

/// The table, by name, then version (`--list-supported-ops`).
std::vector<OnnxSupportedOp> getSupportedOnnxOps();

/// Supported operator sets of the default domain. Files of an older set import
/// as far as their operators have not changed since.
inline constexpr int64_t kLeastOnnxOpset = 7;
inline constexpr int64_t kGreatestOnnxOpset = 28;
inline constexpr int64_t kGreatestOnnxIrVersion = 14;

} // namespace mlir::hfta

#endif // HFTA_IMPORT_ONNX_IMPORT_H
