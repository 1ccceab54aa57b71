//===- Import.h - ONNX files to hfta.model ----------------------*- C++ -*-===//
//
// An ONNX file is opened once (`OnnxFile`); the caller looks at its ports to
// bind data to them, and then imports it as one `hfta.model` with variables and
// @forward. Whatever the file contains, the importer reports errors instead of
// crashing: diagnostics go to the context, at the location of the node (a
// NameLoc) in the file.
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

/// Marks a constant of an imported model whose shape or elements may depend on
/// the batch size. hfta-describe-model removes it.
inline constexpr llvm::StringLiteral kFollowsBatchAttrName =
    "hfta.follows_batch";

/// The reason why an import failed; the driver's exit code follows from it.
enum class OnnxFailure {
  none,
  input,      ///< the file, or what is bound to it, is wrong
  unsupported ///< a valid file uses something that Hfta doesn't have
};

/// One axis of a port. `size` is ShapedType::kDynamic unless the file fixes it;
/// `symbol` is empty for a fixed axis, and PORT.NUMBER for one that the file
/// leaves open without a name.
struct OnnxAxis {
  int64_t size = ShapedType::kDynamic;
  std::string symbol;
};

/// An input without an initializer, or an output.
struct OnnxPort {
  std::string name;
  Type elementType; ///< as in the file; null if it has no tensor type
  /// False: nothing is known of the shape, not even its rank.
  bool hasShape = false;
  std::vector<OnnxAxis> shape;
};

struct OnnxImportOptions {
  /// The symbol of the `hfta.model`.
  std::string modelName = "model";
  /// The size of axis 0 of every input. Nothing: sizes in the file are kept,
  /// and a symbolic axis 0 needs an entry in `dims`.
  std::optional<int64_t> microBatch;
  /// Sizes of open axes by their `OnnxAxis::symbol`.
  llvm::StringMap<int64_t> dims;
  /// The shape of one sample (without axis 0) by input name: binds the axes
  /// that the file leaves open, and must agree with those that it fixes.
  llvm::StringMap<std::vector<int64_t>> sampleShapes;
  /// Inputs bound at compile time, by name; they are not arguments of @forward.
  llvm::StringMap<DenseElementsAttr> constants;
  /// New names of @forward's arguments (those of the data fields that are bound
  /// to them) by the file's input name. The file's own name then stays in the
  /// argument attribute `hfta.file_name`, which export uses.
  llvm::StringMap<std::string> argumentNames;
  /// Globs (`*`, `?`, `[…]`) of initializers that aren't trained, and of those
  /// that are trained in any case. A pattern without effect is an error. For
  /// all other initializers, the file's metadata `hfta.parameters` and the
  /// initializers' names and uses decide.
  std::vector<std::string> freeze, trainable;
  /// Whether parameters are drawn again from the copy's seed instead of
  /// starting with the file's values.
  bool freshInitialization = false;
  /// Whether the import is for a job: BatchNormalization and Dropout then
  /// become ops without a mode, and running statistics are updated as in
  /// PyTorch. Otherwise, the graph is executed as written.
  bool training = true;
  /// Whether the model gets a second function, forward_of_two, where its own
  /// micro-batch is one sample: one that mixes samples can't be recognized with
  /// a single one. hfta-find-mixed-samples removes it.
  bool addsForwardOfTwo = false;
};

/// A parsed and checked file. Keeps the file's tensors in memory.
class OnnxFile {
public:
  /// Reads `path`. On failure it returns nothing, reports a diagnostic and sets
  /// `failure`.
  static std::unique_ptr<OnnxFile> open(StringRef path, MLIRContext *context,
                                        OnnxFailure &failure);
  /// Reads a file from memory. `path` names it in messages, and its folder is
  /// where external data is searched.
  static std::unique_ptr<OnnxFile> parse(StringRef bytes, StringRef path,
                                         MLIRContext *context,
                                         OnnxFailure &failure);
  ~OnnxFile();

  const std::vector<OnnxPort> &getInputs() const;
  const std::vector<OnnxPort> &getOutputs() const;

  /// Appends the model to the module. On failure nothing is added, all errors
  /// and everything unsupported have been reported at once, and `failure` says
  /// which of the two it was. The arguments of @forward are the inputs in
  /// order, without the bound constants; ports carry `hfta.name`.
  FailureOr<ModelOp> import(ModuleOp module, const OnnxImportOptions &options,
                            OnnxFailure &failure) const;

private:
  struct Impl;
  explicit OnnxFile(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

/// A handler in the importer's table: used from operator set `sinceVersion` on,
/// until the next entry of that name.
struct OnnxSupportedOp {
  StringRef name;
  int64_t sinceVersion;
};

/// Returns the table, by name, then version (`--list-supported-ops`).
std::vector<OnnxSupportedOp> getSupportedOnnxOps();

/// The supported operator sets of the default domain. Files of an older set can
/// be imported if their operators have not changed since.
inline constexpr int64_t kLeastOnnxOpset = 7;
inline constexpr int64_t kGreatestOnnxOpset = 28;
inline constexpr int64_t kGreatestOnnxIrVersion = 14;

} // namespace mlir::hfta

#endif // HFTA_IMPORT_ONNX_IMPORT_H
