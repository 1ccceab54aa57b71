//===- Import.h - ONNX files to hfta.model ----------------------*- C++ -*-===//
//
// An ONNX file is opened once (`OnnxFile`). The caller looks at its ports
// (inputs and outputs), binds data to them, and then imports it as an
// `hfta.model` with variables and the function @forward. Whatever a file
// contains, the importer reports errors instead of crashing. Diagnostics go to
// the context; their location is the name of the node (a NameLoc) in the file.
//===----------------------------------------------------------------------===//

#ifndef HFTA_IMPORT_ONNX_IMPORT_H
#define HFTA_IMPORT_ONNX_IMPORT_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/Job/Job.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mlir::hfta {

/// Unit attribute of a constant of an imported model whose shape or elements
/// may depend on the batch size. hfta-describe-model removes it.
inline constexpr llvm::StringLiteral kFollowsBatchAttrName =
    "hfta.follows_batch";

/// The reason why an import failed, from which the driver derives its exit
/// code.
enum class OnnxFailure {
  none,
  input,      ///< the file, or what is bound to it, is wrong
  unsupported ///< a valid file uses something that Hfta doesn't have
};

/// One axis of a port. If the file fixes its size, `symbol` is empty; otherwise
/// `size` is ShapedType::kDynamic, and `symbol` is the axis' name in the file,
/// or PORT.NUMBER if it has none.
struct OnnxAxis {
  int64_t size = ShapedType::kDynamic;
  std::string symbol;
};

/// A port of the graph: an output, or an input without an initializer.
struct OnnxPort {
  std::string name;
  Type elementType; ///< as in the file; null if it has no tensor type
  /// Whether the file states a shape; if not, even the rank is unknown.
  bool hasShape = false;
  std::vector<OnnxAxis> shape;
  /// The operator of the node that computes an output's numbers, which others
  /// after it may have reshaped or cast; empty for an input.
  std::string op;
};

struct OnnxImportOptions {
  /// The symbol of the new `hfta.model`.
  std::string modelName = "model";
  /// The size of axis 0 of every input. If it is nothing, sizes in the file are
  /// kept, and a symbolic axis 0 needs an entry in `dims`.
  std::optional<int64_t> microBatch;
  /// Sizes of axes that the file leaves open, by `OnnxAxis::symbol`.
  llvm::StringMap<int64_t> dims;
  /// The shape of one sample (all axes but axis 0), by the input's name. It
  /// gives sizes to the axes that the file leaves open, and must agree with
  /// those that the file fixes.
  llvm::StringMap<std::vector<int64_t>> sampleShapes;
  /// Inputs that are bound to constants, by name. They aren't arguments of
  /// @forward.
  llvm::StringMap<DenseElementsAttr> constants;
  /// New names of @forward's arguments, by the input's name in the file: the
  /// names of the data fields that are bound to the inputs. The name in the
  /// file is kept in the argument attribute `hfta.file_name`, for export.
  llvm::StringMap<std::string> argumentNames;
  /// Globs (`*`, `?`, `[…]`) of initializers that aren't trained, and of those
  /// that are trained in any case. A pattern without effect is an error. For
  /// other initializers, the file's metadata `hfta.parameters` decides, or else
  /// the initializer's name and uses.
  std::vector<std::string> freeze, trainable;
  /// Globs of batch normalizations and dropouts that are in evaluation mode, or
  /// in training mode, in a training, by the names of the nodes or of
  /// normalizations' operands. A pattern without effect is an error. For other
  /// nodes the file decides.
  std::vector<std::string> evaluationMode, trainingMode;
  /// Whether initial parameters are drawn from the copy's seed rather than
  /// taken from the file.
  bool freshInitialization = false;
  /// Whether the import is for a job. Then BatchNormalization and Dropout
  /// become ops whose mode is chosen later, and running statistics are updated
  /// as in PyTorch. If false, the graph is executed as written.
  bool training = true;
  /// Whether to add a second function, forward_of_two, if the model's
  /// micro-batch is one sample: whether a model mixes samples can't be
  /// recognized in a batch of one. hfta-find-mixed-samples removes the
  /// function.
  bool addsForwardOfTwo = false;
};

/// A parsed and checked ONNX file, with its tensors in memory.
class OnnxFile {
public:
  /// Reads the file `path`. On failure, reports a diagnostic, sets `failure`
  /// and returns null.
  static std::unique_ptr<OnnxFile> open(StringRef path, MLIRContext *context,
                                        OnnxFailure &failure);
  /// Reads a file from memory, like `open`. `path` is its name in messages, and
  /// external data is searched in the folder of `path`.
  static std::unique_ptr<OnnxFile> parse(StringRef bytes, StringRef path,
                                         MLIRContext *context,
                                         OnnxFailure &failure);
  ~OnnxFile();

  const std::vector<OnnxPort> &getInputs() const;
  const std::vector<OnnxPort> &getOutputs() const;

  /// Appends the model to the module. The arguments of @forward are the inputs
  /// in order, except those that are bound to constants; ports have the
  /// attribute `hfta.name`. On failure, all errors and all unsupported features
  /// have been reported, nothing is added, and `failure` says which of the two
  /// it was.
  FailureOr<ModelOp> import(ModuleOp module, const OnnxImportOptions &options,
                            OnnxFailure &failure) const;

private:
  struct Impl;
  explicit OnnxFile(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

/// An operator that can be imported, as defined by operator set `sinceVersion`
/// and later ones, up to the next entry of the same name.
struct OnnxSupportedOp {
  StringRef name;
  int64_t sinceVersion;
};

/// Returns all supported operators, sorted by name and version
/// (`--list-supported-ops`).
std::vector<OnnxSupportedOp> getSupportedOnnxOps();

/// The supported operator sets of the default domain. A file of an older set
/// can be imported if its operators haven't changed since.
inline constexpr int64_t kLeastOnnxOpset = 7;
inline constexpr int64_t kGreatestOnnxOpset = 28;
inline constexpr int64_t kGreatestOnnxIrVersion = 14;

} // namespace mlir::hfta

#endif // HFTA_IMPORT_ONNX_IMPORT_H
