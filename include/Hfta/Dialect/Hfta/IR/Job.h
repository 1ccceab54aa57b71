//===- Job.h - A training job's settings on the module ----------*- C++ -*-===//
//
// The settings travel as a dictionary, the module's `hfta.job` attribute, so
// that every phase's output can be read back and continued. This is the typed
// view of it; Job::write and Job::read are inverse. Arrays that hold a value a
// copy have `copies` entries. A setting that the dictionary lacks has its
// initial value; what it has besides is an error.
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
  std::string kind = "constant"; ///< one of Settings.def
  /// One value a copy; empty where the kind has no use for it. `warmup` and
  /// `stepSize` in steps; `minimum` as a share of the rate.
#define HFTA_SCHEDULE_PARAMETER(member, name, initial, neutral, range)         \
  std::vector<double> member;
#include "Hfta/Dialect/Hfta/IR/Settings.def"
};

/// Element types by name.
struct Precision {
#define HFTA_PRECISION(member, bits, text) std::string member = "f32";
#include "Hfta/Dialect/Hfta/IR/Settings.def"
  /// One of getFactorTypeNames(): what the operands of products are rounded to;
  /// empty: they are multiplied as they are.
  std::string multiply;
  /// Whether sums are added up in no narrower type than what is computed in.
  bool accumulatesEnough() const;
  /// Whether products can be multiplied so: what is rounded first is multiplied
  /// and added up in f32.
  bool multipliesInRange() const {
    return multiply.empty() || (compute == "f32" && accumulate == "f32");
  }
};

/// In which order a stage's worker goes through its micro-batches.
enum class PipelineOrder {
  allForwardsFirst, ///< as many forwards as may be in flight, then backwards
  oneForwardOneBackward, ///< backwards as early as they can be
  interleaved,           ///< the same, of stages of several chunks
  zeroBubble, ///< gradients of weights where there is nothing else to do
  vShape,     ///< the same, of two chunks, there and back again
  listed      ///< as Job::orderRows say
};

struct Job {
  /// A setting that is to follow from others.
  static constexpr int64_t kAuto = 0;
  /// A word of `order`.
  static constexpr llvm::StringLiteral kAllForwardsFirst = "all_forwards_first";
  static constexpr llvm::StringLiteral kVShape = "v_shape";
  static constexpr llvm::StringLiteral kKfac = "kfac";
  /// A word of `method`.
  static constexpr llvm::StringLiteral kEigen = "eigen";
  /// A word of `fisher`.
  static constexpr llvm::StringLiteral kSampled = "sampled";
  /// A word with the name of a file or folder: file("NAME").
  static std::string makeNamed(llvm::StringRef word, llvm::StringRef name);

  std::string name;
  bool training = true;  ///< false: inference only
  bool fuse = true;      ///< false: every copy compiled alone in one binary
  std::string optimizer; ///< one of Optimizers.cpp; empty without training
  std::vector<std::string> optimizerFlags; ///< those that are true
  /// What gradients go through before the optimizer: kKfac, or empty for
  /// nothing. What it is told are the members `kfac...`.
  std::string preconditioner;
  /// The optimizer's parameters, with kfac also "damping", "decay",
  /// "factor_every", "inverse_every" and "kl_clip", and "dropout_rate",
  /// "label_smoothing" where the model reads such a variable.
  std::vector<HyperParameter> hyperParameters;
  Precision precision;
  /// Values keep the types that their file gives them, whatever `precision`
  /// says: an inference binary that executes a graph as written.
  bool keepsTypes = false;
  /// `recompute auto`: the stages whose memory would be too small otherwise.
  std::vector<int64_t> recomputedStages;
  /// What each stage does, action by action, whatever `order` is called:
  /// "0F0,0F1,0B0,0B1" as planning::writeOrder has it, in places of a worker's
  /// own micro-batches (JobOrder.h). Empty: what `order` names.
  std::vector<std::string> orderRows;
  /// Each stage's first block, where the model is cut into more blocks than
  /// there are stages, as within a budget of memory. Empty: each part that
  /// `cuts` leave is one block.
  std::vector<int64_t> stageBlocks;
  /// Of each worker of several stages, the place among all that are dealt to
  /// ranks, 0 .. getWorkers() - 1 in some order. Empty: its number.
  std::vector<int64_t> workerPlaces;
  std::vector<DataField> data;
  std::string metric; ///< "accuracy" or empty

  // The settings of Settings.def, where their meanings stand. What each copy
  // has for itself is one value a copy, or empty.
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
  /// Whether kfac measures output gradients of targets that are drawn.
  bool drawsTargets() const {
    return !preconditioner.empty() && kfacFisher == kSampled;
  }
  /// The type that kfac inverts factors in, by name.
  const std::string &getInversionType() const {
    return kfacInversion == "auto" ? precision.compute : kfacInversion;
  }
  int64_t getMicroBatch() const { return batch / microBatches; }
  /// Whether a step multiplies all gradients with what follows from their norm,
  /// so that no parameter changes before the last gradient is there.
  bool awaitsNorm() const { return !clipNorm.empty() || !lossScale.empty(); }
  /// Stages of the model, each on workers of its own: `cuts` leave as many
  /// parts of it for each as it has `chunks`.
  int64_t getStageCount() const {
    return (static_cast<int64_t>(cuts.size()) + 1) / chunks;
  }
  /// Which of them a block belongs to; -1 is no block, and no stage's.
  int64_t getStage(int64_t block) const;
  /// The first block of a stage.
  int64_t getFirstBlock(int64_t stage) const {
    return stageBlocks.empty() ? stage : stageBlocks[stage];
  }
  /// Workers of a stage, which share a step's micro-batches.
  int64_t getReplicas(int64_t stage = 0) const {
    return replicas.empty() ? 1 : replicas[stage];
  }
  /// Workers of all stages.
  int64_t getWorkers() const;
  /// Sums that a stage adds gradients and losses up in before they become one.
  int64_t getGroups(int64_t stage = 0) const {
    return groups == kAuto ? getReplicas(stage) : groups;
  }
  /// Of the stage that has most.
  int64_t getMostGroups() const;
  PipelineOrder getOrder() const;
  /// Whether memory has a budget that the program is planned for.
  bool hasBudget() const { return memoryDevice != 0; }
  /// Whether all micro-batches of a step go through a stage's blocks one after
  /// the other, as a budget has it: where no other order is asked for.
  bool goesByBlocks() const {
    return hasBudget() && allForwardsFirst && chunks == 1 && inFlight.empty();
  }
  /// Whether what doesn't fit into it may lie in a file.
  bool spillsToDisk() const;
  /// The folder that `disk("DIR")` names; empty: none.
  llvm::StringRef getSpillFolder() const;
  /// The file that the order is from, as the job names it; empty: none.
  llvm::StringRef getOrderFile() const;
  /// Whether stage s of S has the model's parts s and 2 S - 1 - s.
  bool isVShaped() const;
  /// Whether gradients of weights have tasks of their own.
  bool splitsBackward() const;
  /// Whether the stage computes what backward needs of forward again, where it
  /// has several micro-batches in flight: of one it would keep as much.
  bool recomputes(int64_t stage) const;
  /// Micro-batches of which a worker of the stage has activations in memory at
  /// a time: at most those that are its own in a step.
  int64_t getInFlight(int64_t stage = 0) const;

  /// Sets the module's `hfta.job`.
  void write(ModuleOp module) const;
  /// Reads the module's `hfta.job`; diagnoses a missing or ill-formed one at
  /// the module's location.
  static FailureOr<Job> read(ModuleOp module);
  /// The same where memory must have been planned, which is diagnosed too.
  static FailureOr<Job> readPlanned(ModuleOp module);
};

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_IR_JOB_H
