//===- Job.h - A training job's settings on the module ----------*- C++ -*-===//
//
// The settings are kept as a dictionary, the module's `hfta.job` attribute, so
// that every phase's output can be read back and continued. This is the typed
// view of it; Job::write and Job::read are inverse. An array with one value per
// copy has `copies` entries. The dictionary has the job's name and the settings
// that differ from their initial values; an unknown key is an error.
//===----------------------------------------------------------------------===//

#ifndef HFTA_DIALECT_HFTA_IR_JOB_H
#define HFTA_DIALECT_HFTA_IR_JOB_H

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mlir::hfta {

/// Returns the words that say whether the first line of a csv file is a header,
/// by hfta_csv_header.
llvm::ArrayRef<llvm::StringRef> getCsvHeaderNames();

/// One file of a data field; an empty format means that there is none.
struct DataSource {
  std::string format; ///< "idx", "npy", "csv" or "raw"
  std::string path;   ///< as written
  int32_t column = 0; ///< csv: first column
  uint32_t header =
      0; ///< csv: whether line 1 is a header, by getCsvHeaderNames
};

/// A field of the data block. Its type is that of the argument of @prepare with
/// the same index.
struct DataField {
  std::string name;
  DataSource train;
  DataSource test;
  /// The class numbers or indices that the files may hold: how many there are,
  /// the first, and one more that doesn't count as a class (any of the classes
  /// if there is none). Empty: the files may hold anything.
  std::vector<int64_t> classes;
};

/// A hyper-parameter, with one value per copy.
struct HyperParameter {
  std::string name;
  std::vector<double> values;
};

struct Schedule {
  std::string kind = "constant"; ///< one of Settings.def
  /// The values, one per copy; empty where the kind doesn't use them. `warmup`
  /// and `stepSize` are in steps; `minimum` is a fraction of the rate.
#define HFTA_SCHEDULE_PARAMETER(member, name, initial, neutral, range)         \
  std::vector<double> member;
#include "Hfta/Dialect/Hfta/IR/Settings.def"
};

/// The element types of a job, by name.
struct Precision {
#define HFTA_PRECISION(member, bits, text) std::string member = "f32";
#include "Hfta/Dialect/Hfta/IR/Settings.def"
  /// The type that the operands of products are rounded to, one of
  /// getFactorTypeNames(); empty: they are multiplied as they are.
  std::string multiply;
  /// Whether sums are added up in a type no narrower than the compute type.
  bool accumulatesEnough() const;
  /// Whether `multiply` is possible with the other types: products of rounded
  /// operands are computed and added up in f32.
  bool multipliesInRange() const {
    return multiply.empty() || (compute == "f32" && accumulate == "f32");
  }
};

/// The order in which a stage's worker runs the tasks of its micro-batches.
enum class PipelineOrder {
  allForwardsFirst, ///< as many forwards as may be in flight, then backwards
  oneForwardOneBackward, ///< backwards as early as they can be
  interleaved,           ///< likewise, for stages of several chunks
  zeroBubble, ///< gradients of weights fill the gaps between other tasks
  vShape,     ///< likewise, for two chunks: down the stages and back up
  listed      ///< as listed in Job::orderRows
};

struct Job {
  /// The value of a setting that is derived from others.
  static constexpr int64_t kAuto = 0;
  /// A value of `order`.
  static constexpr llvm::StringLiteral kAllForwardsFirst = "all_forwards_first";
  static constexpr llvm::StringLiteral kVShape = "v_shape";
  static constexpr llvm::StringLiteral kKfac = "kfac";
  /// A value of `method`.
  static constexpr llvm::StringLiteral kEigen = "eigen";
  /// A value of `fisher`.
  static constexpr llvm::StringLiteral kSampled = "sampled";
  /// Makes a word with the name of a file or folder: file("NAME").
  static std::string makeNamed(llvm::StringRef word, llvm::StringRef name);

  std::string name;
  bool training = true;  ///< false: inference only
  bool fuse = true;      ///< false: every copy compiled alone in one binary
  std::string optimizer; ///< one of Optimizers.cpp; empty without training
  std::vector<std::string> optimizerFlags; ///< those that are true
  /// The transformation of gradients before the optimizer uses them: kKfac, or
  /// empty for none. Its settings are the members `kfac...`.
  std::string preconditioner;
  /// The optimizer's parameters, with kfac also "damping", "decay",
  /// "factor_every", "inverse_every" and "kl_clip", and "dropout_rate",
  /// "label_smoothing" where the model reads such a variable.
  std::vector<HyperParameter> hyperParameters;
  Precision precision;
  /// Whether values keep the types that their file gives them, whatever
  /// `precision` says: for an inference binary that executes a graph as
  /// written.
  bool keepsTypes = false;
  /// With `recompute auto`: the stages that would need too much memory if they
  /// didn't recompute.
  std::vector<int64_t> recomputedStages;
  /// The actions of each stage in their order, whatever `order` is:
  /// "0F0,0F1,0B0,0B1" in the syntax of planning::writeOrder, numbered by the
  /// worker's own micro-batches (JobOrder.h). Empty: `order` alone says it.
  std::vector<std::string> orderRows;
  /// Each stage's first block, where the model is cut into more blocks than
  /// there are stages, as for a memory budget. Empty: each part between two of
  /// `cuts` is one block.
  std::vector<int64_t> stageBlocks;
  /// For each worker of several stages, its place in the order in which workers
  /// are assigned to ranks, a permutation of 0 .. getWorkers() - 1. Empty: the
  /// worker's number.
  std::vector<int64_t> workerPlaces;
  std::vector<DataField> data;
  std::string metric; ///< "accuracy" or empty

  // The settings of Settings.def, where their meanings stand. A setting that
  // each copy has for itself holds one value per copy, or is empty.
#define HFTA_MEMBER_Integer(member, initial) int64_t member = initial;
#define HFTA_MEMBER_Size(member, initial) int64_t member = initial;
#define HFTA_MEMBER_Flag(member, initial) bool member = initial;
#define HFTA_MEMBER_Number(member, initial) double member = initial;
#define HFTA_MEMBER_Counts(member, initial) std::vector<int64_t> member;
#define HFTA_MEMBER_Word(member, initial) std::string member = initial;
#define HFTA_MEMBER_Names(member, initial) std::vector<std::string> member;
#define HFTA_MEMBER_NameLists(member, initial)                                 \
  std::vector<std::vector<std::string>> member;
#define HFTA_MEMBER_Numbers(member, initial) std::vector<double> member;
#define HFTA_MEMBER_WholeNumbers(member, initial) std::vector<int64_t> member;
#define HFTA_MEMBER_Schedule(member, initial) Schedule member;
#define HFTA_SETTING(type, member, name, initial, range, clause, usage, text,  \
                     byDefault, flag, help, traits)                            \
  HFTA_MEMBER_##type(member, initial)
#include "Hfta/Dialect/Hfta/IR/Settings.def"
#undef HFTA_MEMBER_Integer
#undef HFTA_MEMBER_Size
#undef HFTA_MEMBER_Flag
#undef HFTA_MEMBER_Number
#undef HFTA_MEMBER_Counts
#undef HFTA_MEMBER_Word
#undef HFTA_MEMBER_Names
#undef HFTA_MEMBER_NameLists
#undef HFTA_MEMBER_Numbers
#undef HFTA_MEMBER_WholeNumbers
#undef HFTA_MEMBER_Schedule

  const HyperParameter *findHyperParameter(llvm::StringRef name) const;
  /// Whether kfac measures output gradients for targets that are drawn at
  /// random.
  bool drawsTargets() const {
    return !preconditioner.empty() && kfacFisher == kSampled;
  }
  /// Returns the name of the type in which kfac inverts factors.
  const std::string &getInversionType() const {
    return kfacInversion == "auto" ? precision.compute : kfacInversion;
  }
  int64_t getMicroBatch() const { return batch / microBatches; }
  /// Whether a step multiplies all gradients by a number that follows from
  /// their norm, so that no parameter changes before the last gradient is
  /// known.
  bool awaitsNorm() const { return !clipNorm.empty() || !lossScale.empty(); }
  /// Returns the number of the model's stages, each on workers of its own.
  /// `cuts` leave `chunks` parts of the model for each stage.
  int64_t getStageCount() const {
    return (static_cast<int64_t>(cuts.size()) + 1) / chunks;
  }
  /// Returns the stage that a block belongs to; -1 is no block, and no stage's.
  int64_t getStage(int64_t block) const;
  /// Returns the first block of a stage.
  int64_t getFirstBlock(int64_t stage) const {
    return stageBlocks.empty() ? stage : stageBlocks[stage];
  }
  /// Returns the number of a stage's workers, which share a step's
  /// micro-batches.
  int64_t getReplicas(int64_t stage = 0) const {
    return replicas.empty() ? 1 : replicas[stage];
  }
  /// Returns the number of workers of all stages.
  int64_t getWorkers() const;
  /// Returns the number of groups of a stage: the partial sums of gradients and
  /// losses that it forms before they are added up to one.
  int64_t getGroups(int64_t stage = 0) const {
    return groups == kAuto ? getReplicas(stage) : groups;
  }
  /// Returns the number of groups of the stage with the most.
  int64_t getMostGroups() const;
  PipelineOrder getOrder() const;
  /// Whether there is a memory budget, for which the program is planned.
  bool hasBudget() const { return memoryDevice != 0; }
  /// Whether all micro-batches of a step go through a stage's blocks one after
  /// the other. This is the order for a memory budget, unless the job asks for
  /// another.
  bool goesByBlocks() const {
    return hasBudget() && allForwardsFirst && chunks == 1 && inFlight.empty();
  }
  /// Whether values that don't fit into the budget may lie in a file.
  bool spillsToDisk() const;
  /// Returns the folder that `disk("DIR")` names; empty: none.
  llvm::StringRef getSpillFolder() const;
  /// Returns the file with the pipeline's order, as the job names it; empty:
  /// none.
  llvm::StringRef getOrderFile() const;
  /// Whether stage s of S has the model's parts s and 2 S - 1 - s.
  bool isVShaped() const;
  /// Whether gradients of weights are computed by tasks of their own.
  bool splitsBackward() const;
  /// Whether the stage recomputes forward values for its backward, where it has
  /// several micro-batches in flight; with one, it would need as much memory.
  bool recomputes(int64_t stage) const;
  /// Returns how many micro-batches a worker of the stage has activations in
  /// memory for at a time: at most as many as are its own in a step.
  int64_t getInFlight(int64_t stage = 0) const;

  /// Sets the module's `hfta.job`.
  void write(ModuleOp module) const;
  /// Reads the module's `hfta.job`; diagnoses a missing or ill-formed one at
  /// the module's location.
  static FailureOr<Job> read(ModuleOp module);
  /// Reads the job, as read does, and diagnoses a module whose memory isn't
  /// planned.
  static FailureOr<Job> readPlanned(ModuleOp module);
};

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_IR_JOB_H
