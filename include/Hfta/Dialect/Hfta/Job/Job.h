//===- Job.h - A training job's settings on the module ----------*- C++ -*-===//
//
// A job's settings are stored as a dictionary, the module's attribute
// `hfta.job`, so that the output of every phase can be read back and compiled
// further. `Job` is the typed view of this dictionary; Job::write and Job::read
// are inverse. A setting that differs between copies is a vector with one value
// per copy. The dictionary holds the job's name and those settings that differ
// from their initial values; an unknown key is an error.
//===----------------------------------------------------------------------===//

#ifndef HFTA_DIALECT_HFTA_JOB_JOB_H
#define HFTA_DIALECT_HFTA_JOB_JOB_H

#include "Hfta/Dialect/Hfta/Job/JobMetrics.h"
#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mlir::hfta {

/// Returns the words by which a job says whether the first line of a csv file
/// is a header. A word's index is its number in the enum hfta_csv_header.
llvm::ArrayRef<llvm::StringRef> getCsvHeaderNames();

/// Returns the words by which a job says what separates the columns of a csv
/// file. A word's index is its number in the enum hfta_csv_separator.
llvm::ArrayRef<llvm::StringRef> getCsvSeparatorNames();

/// Returns the words by which a job says what is done with images of another
/// size than the field's. A word's index is its number in the enum
/// hfta_image_resize.
llvm::ArrayRef<llvm::StringRef> getImageResizeNames();

/// Returns the words for where the samples of a field come from. A word's index
/// is its number in the enum hfta_field_kind.
llvm::ArrayRef<llvm::StringRef> getFieldKindNames();

/// The files of a data field for one part of the data block. If `format` is
/// empty, there is no file.
struct DataSource {
  std::string format; ///< one of getDataFormatNames()
  std::string path;   ///< the first file, as written in the job
  /// The files whose samples follow those of the first one.
  std::vector<std::string> morePaths;
  /// For npz and safetensors: the name of the array in each file.
  std::string array;
  int32_t column = 0; ///< csv: the first column to read
  /// For csv: the columns to read instead, one for each element of a sample, by
  /// their names or by their numbers; at most one of these isn't empty.
  std::vector<std::string> columnNames;
  std::vector<int64_t> columnNumbers;
  /// For csv: whether line 1 is a header, as an index into getCsvHeaderNames().
  uint32_t header = 0;
  /// For csv: an index into getCsvSeparatorNames().
  uint32_t separator = 0;
  /// For folders of images: an index into getImageResizeNames().
  uint32_t resize = 0;
  /// For folders of images: whether files that can't be read are left out.
  bool skipDamaged = false;
  /// For folders of images: the most bytes of decoded images in memory.
  int64_t cache = 0;
  /// For tokens: the first token of the first window, and the distance from a
  /// window to the next.
  int64_t shift = 0, stride = 0;

  /// Returns the paths of all files; none without a file.
  std::vector<std::string> getPaths() const;
  /// Returns whether columns are listed.
  bool listsColumns() const {
    return !columnNames.empty() || !columnNumbers.empty();
  }
};

/// A field of the data block. Field i is argument i of the function @prepare,
/// which has the field's type.
struct DataField {
  std::string name;
  DataSource train;
  DataSource test;
  DataSource validation;
  /// The class numbers or indices that the files may hold, as three numbers:
  /// how many classes there are, the first class, and one more number that is
  /// allowed but doesn't count as a class (one of the classes if there is
  /// none). Empty if the files may hold any values.
  std::vector<int64_t> classes;
  /// How the field is augmented, in the job's words; empty if it isn't.
  std::string augmentations;
  /// Where its samples come from: an index into getFieldKindNames(). Fields
  /// that the runtime makes follow all others.
  uint32_t kind = 0;
  /// For partners: the index of the field whose values they are.
  int64_t of = 0;
};

/// A kind of optimizer.
struct OptimizerKind {
  std::string name; ///< a name in Optimizers.cpp
  /// The flags that are true, such as `nesterov`, and the optional parameters
  /// that have values, in the order of the record's parameters.
  std::vector<std::string> options;
  bool operator==(const OptimizerKind &other) const {
    return name == other.name && options == other.options;
  }
};

/// Some of the parameters, for which a job gives other numbers than for the
/// rest. Parameters list their groups in the attribute kGroupsAttrName.
struct ParameterGroup {
  /// The scale of the learning rate, a number of groups alone.
  static constexpr llvm::StringLiteral kRateScale = "lr_scale";
  /// The largest norm of the gradients of a group's members together.
  static constexpr llvm::StringLiteral kClipNorm = "clip_norm";

  std::string name;
  /// The numbers that it gives: kRateScale, and parameters of optimizers.
  std::vector<std::string> numbers;
  /// The optimizer of its parameters, an index into Job::optimizers; -1: that
  /// of the copy. It gives all numbers of this optimizer.
  int64_t optimizer = -1;
  /// Whether gradients of its members aren't clipped adaptively, though those
  /// of the job or of an earlier group are.
  bool endsAdaptiveClip = false;
  std::string members; ///< the names of kinds and the patterns of its members

  /// Returns the name of the hyper-parameter that holds a number of the group.
  std::string makeName(llvm::StringRef number) const {
    return name + "_" + number.str();
  }
};

/// A part of a step that ends with the update of some networks. A turn that
/// comes several times in a step is there several times.
struct JobTurn {
  std::string name; ///< the names of its networks
  int64_t repetition = 0, times = 1;
};

/// A hyper-parameter, with one value per copy.
struct HyperParameter {
  std::string name;
  std::vector<double> values;
};

/// Returns the names of the distributions of a search. A name's index is its
/// number in the enum hfta_distribution.
llvm::ArrayRef<llvm::StringRef> getDistributionNames();

/// A hyper-parameter that a search varies, or "seed"; hfta_search_setting
/// describes the members.
struct SearchSetting {
  std::string name;
  uint32_t distribution = 0; ///< an index into getDistributionNames()
  double low = 0, high = 0, step = 0;
  std::vector<double> choices;
  /// The texts of the choices, if they aren't numbers: `choices` then has their
  /// indices.
  std::vector<std::string> labels;
  int64_t zip = -1; ///< number of its group; -1: none
  /// Whether each of the choices needs an array of copies of its own.
  bool isPacked = false;
  double own = 0; ///< if so, the choice of this job's array

  /// Returns the text of the choice `own`.
  std::string getOwnText() const;
};

/// How a search chooses the settings of its trials.
struct SearchSampler {
  std::string kind; ///< the name of an HFTA_SAMPLER; empty: there is no search
  /// The parameters. `trials` is the number of trials for all samplers.
#define HFTA_MEMBER_Integer(member, initial) int64_t member = initial;
#define HFTA_MEMBER_Number(member, initial) double member = initial;
#define HFTA_MEMBER_Numbers(member, initial)                                   \
  std::vector<double> member = initial;
#define HFTA_SAMPLER_PARAMETER(type, member, name, initial, byDefault, range)  \
  HFTA_MEMBER_##type(member, initial)
#include "Hfta/Dialect/Hfta/Job/Settings.def"
};

/// Which trials of a search go on.
struct SearchRule {
  std::string kind = "none"; ///< the name of an HFTA_RULE
#define HFTA_RULE_PARAMETER(type, member, name, initial, byDefault, range)     \
  HFTA_MEMBER_##type(member, initial)
#include "Hfta/Dialect/Hfta/Job/Settings.def"
#undef HFTA_MEMBER_Integer
#undef HFTA_MEMBER_Number
#undef HFTA_MEMBER_Numbers
};

/// The search of a job: its copies are slots, in which trials are trained.
struct Search {
  SearchSampler sampler;
  SearchRule rule;
  std::vector<SearchSetting> settings; ///< in the order of the job
  /// The number of arrays in which trials are trained, one for each combination
  /// of the choices that need their own, and which of them this job is.
  int64_t arrays = 1, array = 0;
};

/// A schedule of the learning rate or the damping.
struct Schedule {
  std::string kind = "constant"; ///< the name of an HFTA_SCHEDULE
  /// The words that aren't defaults, and the names of parameters that are true.
  std::vector<std::string> options;
  /// For each copy, one after the other, the steps that are milestones, as many
  /// for each. Infinity if a copy has fewer of them.
  std::vector<double> milestones;
  std::vector<Schedule> parts; ///< those of a sequence or product
  /// The schedule's numbers, with one value per copy; empty if the kind doesn't
  /// use the parameter, or the runtime derives it from others.
#define HFTA_SCHEDULE_PARAMETER(member, name, initial, range)                  \
  std::vector<double> member;
#include "Hfta/Dialect/Hfta/Job/Settings.def"
};

/// A schedule of a hyper-parameter.
struct NamedSchedule {
  std::string name; ///< a hyper-parameter name
  Schedule schedule;
};

/// The names of a job's element types, such as "f32".
struct Precision {
#define HFTA_PRECISION(member, bits, text) std::string member = "f32";
#include "Hfta/Dialect/Hfta/Job/Settings.def"
  /// The type to which the operands of products are rounded, one of
  /// getFactorTypeNames(); empty if they aren't rounded.
  std::string multiply;
  /// Returns whether the type of sums is at least as wide as the compute type.
  bool accumulatesEnough() const;
  /// Returns whether `multiply` is compatible with the other types: products of
  /// rounded operands are always computed and added up in f32.
  bool multipliesInRange() const {
    return multiply.empty() || (compute == "f32" && accumulate == "f32");
  }
};

/// The order in which a stage's worker runs the tasks of its micro-batches.
enum class PipelineOrder {
  allForwardsFirst,      ///< all forwards that may be in flight, then backwards
  oneForwardOneBackward, ///< 1F1B: each backward as early as possible
  interleaved,           ///< 1F1B for stages of several chunks
  zeroBubble, ///< backwards are split; gradients of weights fill idle times
  vShape,     ///< zeroBubble for two chunks per stage, placed in a V shape
  listed      ///< the order in Job::orderRows
};

/// The value of a setting of type NameLists.
using NameLists = std::vector<std::vector<std::string>>;

/// The settings of a job. Most members are declared by Settings.def.
struct Job {
  /// The value of an integer setting that is `auto`: derived from other
  /// settings, or planned.
  static constexpr int64_t kAuto = 0;
  /// Words of the setting `order`.
  static constexpr llvm::StringLiteral kAllForwardsFirst = "all_forwards_first";
  static constexpr llvm::StringLiteral kVShape = "v_shape";
  /// Numbers of the job that an update reads, for each copy: the largest
  /// magnitude of an element of a gradient; the largest norm of a gradient's
  /// row as a share of the parameter's, and the least norm of the parameter by
  /// which this is computed; and the factor of the learning rate from one of
  /// the `layers` to the one before it. Groups may give the first three.
  static constexpr llvm::StringLiteral kClipValue = "clip_value";
  static constexpr llvm::StringLiteral kClipFactor = "clip_factor";
  static constexpr llvm::StringLiteral kClipEps = "clip_eps";
  static constexpr llvm::StringLiteral kLayerDecay = "layer_decay";
  /// The only value of `preconditioner` other than "".
  static constexpr llvm::StringLiteral kKfac = "kfac";
  /// A word of the setting `method` of K-FAC.
  static constexpr llvm::StringLiteral kEigen = "eigen";
  /// A word of the setting `fisher` of K-FAC.
  static constexpr llvm::StringLiteral kSampled = "sampled";
  /// Makes a word with the name of a file or folder in parentheses, such as
  /// file("NAME").
  static std::string makeNamed(llvm::StringRef word, llvm::StringRef name);

  std::string name;
  bool training = true; ///< false: the program can only run inference
  bool fuse = true;     ///< false: every copy has its own ops (`--no-fuse`)
  /// The kinds of optimizers, no two of them equal; empty without training.
  std::vector<OptimizerKind> optimizers;
  /// For each copy, the index of its kind in `optimizers`. Empty if all copies
  /// have the first kind.
  std::vector<int64_t> optimizerOfCopy;
  /// Groups of parameters; of several that give one number of a parameter, the
  /// last one counts.
  std::vector<ParameterGroup> groupsOfParameters;
  /// The method that transforms gradients before the optimizer uses them:
  /// kKfac, or empty for none. Its settings are the members whose names begin
  /// with `kfac`.
  std::string preconditioner;
  /// The numeric parameters of the optimizers, NaN for copies whose optimizer
  /// has no such parameter, and the numbers of groups. With K-FAC, also
  /// "damping", "decay", "factor_every", "inverse_every" and "kl_clip"; and
  /// "dropout_rate" and "label_smoothing" if the model or the loss reads them.
  std::vector<HyperParameter> hyperParameters;
  /// The kind of running average of weights, the name of a record in
  /// Averages.h; empty for none. Its numbers are hyper-parameters.
  std::string average;
  /// Schedules of hyper-parameters other than the learning rate and the
  /// damping.
  std::vector<NamedSchedule> numberSchedules;
  Precision precision;
  /// Whether values keep the element types of the model's file, regardless of
  /// `precision`. This is for a program without training that executes an ONNX
  /// graph as written.
  bool keepsTypes = false;
  /// For `recompute auto`: the stages that must recompute activations so as not
  /// to need too much memory.
  std::vector<int64_t> recomputedStages;
  /// An explicit order, which takes precedence over `order`: for each stage its
  /// actions, such as "0F0,0F1,0B0,0B1", in the syntax of planning::writeOrder.
  /// Micro-batches are numbered within those of one worker (JobOrder.h). Empty
  /// if `order` alone determines the order.
  std::vector<std::string> orderRows;
  /// The first block of each stage, if the model is cut into more blocks than
  /// stages, as for a memory budget. If empty, each part of the model between
  /// two of the `cuts` is one block.
  std::vector<int64_t> stageBlocks;
  /// With several stages: the place of each worker in the order in which
  /// workers are assigned to ranks, a permutation of 0 .. getWorkers() - 1. If
  /// empty, a worker's place is its number.
  std::vector<int64_t> workerPlaces;
  /// The turns of a step, in order; empty if all parameters are updated
  /// together. Turn t is block t of the model, and updates the variables that
  /// `hfta.turn` assigns to it.
  std::vector<JobTurn> turns;
  std::vector<DataField> data;
  std::vector<JobMetric> metrics;
  /// The number, from 1, of the metric whose values are validation scores; 0:
  /// the loss.
  int64_t scoresByMetric = 0;
  /// Whether scores of a search's trials come from outside, and if so, whether
  /// larger ones are better.
  bool scoresAreExternal = false, externalIsHigherBetter = false;
  Search search;

  // The settings that Settings.def declares and describes. A setting that may
  // differ between copies is empty, or holds one value per copy.
#define HFTA_MEMBER_Integer(member, initial) int64_t member = initial;
#define HFTA_MEMBER_Size(member, initial) int64_t member = initial;
#define HFTA_MEMBER_Flag(member, initial) bool member = initial;
#define HFTA_MEMBER_Number(member, initial) double member = initial;
#define HFTA_MEMBER_Counts(member, initial) std::vector<int64_t> member;
#define HFTA_MEMBER_Word(member, initial) std::string member = initial;
#define HFTA_MEMBER_Names(member, initial) std::vector<std::string> member;
#define HFTA_MEMBER_NameLists(member, initial) NameLists member;
#define HFTA_MEMBER_Numbers(member, initial) std::vector<double> member;
#define HFTA_MEMBER_WholeNumbers(member, initial) std::vector<int64_t> member;
#define HFTA_MEMBER_Schedule(member, initial) Schedule member;
#define HFTA_SETTING(type, member, name, initial, range, clause, usage, text,  \
                     byDefault, flag, help, traits)                            \
  HFTA_MEMBER_##type(member, initial)
#include "Hfta/Dialect/Hfta/Job/Settings.def"
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

  /// Returns the copies that have a kind of optimizer, by its index, ascending.
  /// A kind that only groups of parameters have is that of no copy.
  std::vector<int64_t> getCopiesOfOptimizer(int64_t kind) const;
  /// Returns whether some copy or group has an optimizer of this name.
  bool hasOptimizer(llvm::StringRef name) const;
  /// Returns the hyper-parameter of this name, or null.
  const HyperParameter *findHyperParameter(llvm::StringRef name) const;
  /// Returns the schedule of the hyper-parameter of this name; null if it keeps
  /// its value.
  const Schedule *getScheduleOf(llvm::StringRef name) const;
  /// Returns whether K-FAC measures output gradients for randomly drawn targets
  /// instead of the labels.
  bool drawsTargets() const {
    return !preconditioner.empty() && kfacFisher == kSampled;
  }
  /// Returns whether gradients are clipped adaptively, of all parameters or of
  /// those of some group.
  bool clipsAdaptively() const;
  /// Returns the name of the type in which K-FAC inverts factors.
  const std::string &getInversionType() const {
    return kfacInversion == "auto" ? precision.compute : kfacInversion;
  }
  int64_t getMicroBatch() const { return batch / microBatches; }
  /// Returns whether all gradients are multiplied by a number that depends on
  /// their norm. Then no parameter can be updated before the last gradient is
  /// known.
  bool awaitsNorm() const;
  /// The word of the setting `updates` for updates after all turns.
  static constexpr llvm::StringLiteral kTogether = "together";
  /// Returns whether a step has several turns. A single one is a usual step.
  bool takesTurns() const { return turns.size() > 1; }
  /// Returns whether each turn updates its networks before the next one begins.
  bool updatesInTurn() const { return updates != kTogether; }
  /// Returns the number of the model's stages. Stages run on different workers.
  /// `cuts` divide the model into `chunks` parts for each stage.
  int64_t getStageCount() const {
    return (static_cast<int64_t>(cuts.size()) + 1) / chunks;
  }
  /// Returns the stage that a block belongs to; -1 for block -1, which means no
  /// block.
  int64_t getStage(int64_t block) const;
  /// Returns the first block of a stage.
  int64_t getFirstBlock(int64_t stage) const {
    return stageBlocks.empty() ? stage : stageBlocks[stage];
  }
  /// Returns the number of a stage's workers. They share the micro-batches of a
  /// step.
  int64_t getReplicas(int64_t stage = 0) const {
    return replicas.empty() ? 1 : replicas[stage];
  }
  /// Returns the number of workers of all stages.
  int64_t getWorkers() const;
  /// Returns a stage's number of groups: partial sums of gradients and losses,
  /// which are added up at the end of a step.
  int64_t getGroups(int64_t stage = 0) const {
    return groups == kAuto ? getReplicas(stage) : groups;
  }
  /// Returns the largest number of groups of a stage.
  int64_t getMostGroups() const;
  /// Returns the order of a stage's tasks, with `auto` resolved to the default
  /// for the number of chunks.
  PipelineOrder getOrder() const;
  bool hasSearch() const { return !search.sampler.kind.empty(); }
  /// Returns whether there are validation data.
  bool hasValidation() const;
  /// Returns whether a search gives a hyper-parameter, or "seed", a value of
  /// its own in each trial.
  bool isSearched(llvm::StringRef name) const;
  /// Returns whether the job has a memory budget.
  bool hasBudget() const { return memoryDevice != 0; }
  /// Returns whether all micro-batches go through one block of the stage before
  /// the next. This is the order within a memory budget, unless the job asks
  /// for another one.
  bool goesByBlocks() const {
    return hasBudget() && allForwardsFirst && chunks == 1 && inFlight.empty();
  }
  /// Returns whether values that don't fit into the memory budget may be kept
  /// in a file.
  bool spillsToDisk() const;
  /// Returns DIR if `spill` is `disk("DIR")`, else an empty string.
  llvm::StringRef getSpillFolder() const;
  /// Returns NAME if `order` is `file("NAME")`, else an empty string.
  llvm::StringRef getOrderFile() const;
  /// Returns whether stage s of S has the parts s and 2 S - 1 - s of the model.
  bool isVShaped() const;
  /// Returns whether gradients of weights are computed by separate tasks.
  bool splitsBackward() const;
  /// Returns whether the job asks the stage to recompute forward values for its
  /// backward. With several stages, callers recompute only if the stage has
  /// several micro-batches in flight; with one, recomputation would save no
  /// memory.
  bool recomputes(int64_t stage) const;
  /// Returns for how many micro-batches a worker of the stage has activations
  /// in memory at a time. This is at most the number of the worker's own
  /// micro-batches in a step.
  int64_t getInFlight(int64_t stage = 0) const;

  /// Sets the module's attribute `hfta.job`.
  void write(ModuleOp module) const;
  /// Reads the module's attribute `hfta.job`. Fails, with an error at the
  /// module's location, if it is missing or ill-formed.
  static FailureOr<Job> read(ModuleOp module);
  /// Reads the job like `read`, and also fails, with an error, if the module
  /// has no memory plan (`hfta.segments`).
  static FailureOr<Job> readPlanned(ModuleOp module);
};

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_JOB_JOB_H
