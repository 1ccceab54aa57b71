//===- Job.h - A training job's settings on the module ----------*- C++ -*-===//
//
// The settings travel as a dictionary, the module's `hfta.job` attribute, so
// that every phase's output can be read back and continued. This is the typed
// view of it; Job::write and Job::read are inverse. Arrays that hold a value a
// copy have `copies` entries.
//===----------------------------------------------------------------------===//

#ifndef HFTA_DIALECT_HFTA_IR_JOB_H
#define HFTA_DIALECT_HFTA_IR_JOB_H

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mlir::hfta {

/// One file of a data field; an empty format means that there is none.
struct DataSource {
  std::string format; ///< "idx", "npy", "csv" or "raw"
  std::string path;   ///< as written
  int64_t column = 0; ///< csv: first column
};

/// A field of the data block. Its type is that of the argument of @prepare
/// with the same number.
struct DataField {
  std::string name;
  DataSource train;
  DataSource test;
  /// Of the class numbers or indices that the files may hold: how many there
  /// are, the first, and one more that doesn't count (one of these if there is
  /// none). Empty: the files may hold anything.
  std::vector<int64_t> classes;
};

/// A hyper-parameter: one value a copy.
struct HyperParameter {
  std::string name;
  std::vector<double> values;
};

struct Schedule {
  std::string kind = "constant"; ///< "constant", "step" or "cosine"
  /// One value a copy; empty where the kind has no use for it. `warmup` and
  /// `stepSize` in steps; `minimum` as a share of the rate.
  std::vector<double> warmup, stepSize, gamma, minimum;
};

struct Precision {
  std::string parameters = "f32"; ///< stored parameters
  std::string compute = "f32";
  std::string accumulate = "f32";
  std::string gradients = "f32";
  std::string state = "f32"; ///< optimizer state and statistics
};

struct Job {
  std::string name;
  int64_t copies = 1;
  int64_t batch = 1;        ///< samples a step
  int64_t microBatches = 1; ///< a step
  int64_t epochs = 0;       ///< 0: not given
  int64_t steps = 0;        ///< 0: not given
  bool training = true;     ///< false: inference only
  bool fuse = true;         ///< false: every copy compiled alone in one binary
  bool allForwardsFirst = false; ///< task order with several micro-batches
  bool shuffle = true;
  int64_t orderSeed = 0;
  std::string optimizer; ///< "sgd", "adam", "adamw"; empty without training
  bool nesterov = false; ///< of sgd
  /// "lr", "weight_decay", "momentum", "beta1", "beta2", "eps", also
  /// "dropout_rate", "label_smoothing" where the model reads such a variable.
  std::vector<HyperParameter> hyperParameters;
  std::vector<double> clipNorm; ///< one a copy; empty: no clipping
  std::vector<int64_t> seeds;   ///< one a copy
  Schedule schedule;
  Precision precision;
  std::vector<DataField> data;
  std::string metric; ///< "accuracy" or empty

  const HyperParameter *findHyperParameter(llvm::StringRef name) const;
  int64_t getMicroBatch() const { return batch / microBatches; }

  /// Sets the module's `hfta.job`.
  void write(ModuleOp module) const;
  /// Reads the module's `hfta.job`; diagnoses a missing or ill-formed one at
  /// the module's location.
  static FailureOr<Job> read(ModuleOp module);
};

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_IR_JOB_H
