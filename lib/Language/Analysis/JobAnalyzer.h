//===- JobAnalyzer.h - Meaning of a job file --------------------*- C++ -*-===//

#ifndef HFTA_LIB_LANGUAGE_ANALYSIS_JOBANALYZER_H
#define HFTA_LIB_LANGUAGE_ANALYSIS_JOBANALYZER_H

#include "Analysis/FieldFunctions.h"
#include "Hfta/Dialect/Hfta/Job/Job.h"
#include "Hfta/Dialect/Hfta/Job/Settings.h"
#include "Hfta/Language/FrontEnd.h"
#include "Hfta/Language/Objectives.h"
#include "Hfta/Language/Sweep.h"
#include "hfta/status.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::hfta::language {

/// A step of the arithmetic that prepares a field. It is applied to the result
/// of the previous step.
struct PrepareStep {
  enum class Kind {
    add,
    subtract,
    subtractFrom, ///< number - value
    multiply,
    divide,
    divideInto, ///< number / value
    negate,
    normalize, ///< (value - numbers) / deviations
    call       ///< a function of fields
  };
  Kind kind = Kind::add;
  std::vector<Number> numbers;
  std::vector<Number> deviations;
  llvm::SMRange range;
  FieldCall call;

  bool equals(const PrepareStep &other) const;
  /// Returns whether it is an augmentation.
  bool isRandom() const {
    return kind == Kind::call && call.function->isRandom;
  }
};

struct FieldInfo {
  std::string name;
  llvm::SMRange range;
  DataSource train;
  DataSource test;
  DataSource validation;
  std::string typeFile;       ///< the file that says the type, if one does
  std::string element;        ///< "u8", "f32", …: the type in the file
  std::vector<int64_t> shape; ///< shape of one sample in the file
  std::vector<int64_t> preparedShape; ///< its shape after all steps
  std::vector<PrepareStep> steps;     ///< those of training data

  bool isFloat() const;
  /// Returns whether the prepared value is certainly a float, whatever input
  /// the field is bound to.
  bool isPreparedAsFloat() const;
  const FieldCall *findMixture() const;
  /// Returns whether training samples are augmented.
  bool isAugmented() const {
    return llvm::any_of(
        steps, [](const PrepareStep &step) { return step.isRandom(); });
  }
};

/// Prints a field's type, such as "u8[28, 28]".
std::string printFieldType(const FieldInfo &field);

struct NamedRange {
  std::string name;
  llvm::SMRange range;
};

/// Returns the names without their ranges.
std::vector<std::string> getNames(llvm::ArrayRef<NamedRange> ranges);

/// A tensor that a loss takes.
struct OperandInfo {
  enum class Kind {
    name,   ///< a field, or the model, which stands for its only output
    output, ///< an output of the model
    number  ///< one number for all elements
  };
  Kind kind = Kind::name;
  NamedRange named; ///< the field or output
  double number = 0;
};

/// A loss or metric: `kind(model.output, field, ...)`. Without arguments
/// (`implicit`), it compares the model's only output with the only field that
/// isn't bound to the model and that no other argument names.
struct ObjectiveInfo {
  std::string name;
  llvm::SMRange range;
  bool implicit = false;
  NamedRange output; ///< has an empty name if the model's only output is meant
  OperandInfo label;
  /// Arguments that are tensors, each with its name.
  llvm::SmallVector<std::pair<llvm::StringRef, OperandInfo>> tensors;
  NamedRange weights; ///< a field of weights; an empty name: none
  /// Whether each copy draws how often each sample counts.
  bool bootstraps = false;
  /// Other arguments, except for numbers of copies.
  ObjectiveArguments arguments;
  /// The arguments that are numbers of copies.
  struct OfCopies {
    llvm::StringRef argument;
    std::string hyperParameter; ///< its name in the job
  };
  llvm::SmallVector<OfCopies> numbers;
  /// The beginning of these hyper-parameters' names.
  std::string prefix;
};

/// A term of the loss: `weight * kind(model.output, field, ...)`.
struct LossTermInfo {
  ObjectiveInfo loss;
  std::string name;   ///< its kind, with a number if earlier terms have it too
  std::string weight; ///< the hyper-parameter that is its weight; empty: 1
  int64_t turn = 0;   ///< index in Job::turns, if there are any
  /// The part of a batch that the term is of, one of JobInfo::times.
  int64_t part = 0;
};

/// A network that turns call. The clauses are those of its declaration.
struct NetworkInfo {
  const ast::ModelDeclaration *declaration;
  NamedRange file; ///< the ONNX file; an empty name: there is none
  bool freshInitialization = false;
  std::vector<NamedRange> freeze, trainable; ///< patterns of parameter names
  /// Patterns of names of batch normalizations and dropouts.
  std::vector<NamedRange> evaluationMode, trainingMode;
  llvm::StringMap<int64_t> dims;
  llvm::StringMap<llvm::SMRange> dimRanges;
};

/// Networks that are updated together.
struct TurnInfo {
  std::string name; ///< the names of its networks
  llvm::SMRange range;
  std::vector<NamedRange> networks;
  int64_t times = 1; ///< how often it comes in a step
  /// The tensors that its loss takes: calls of networks, and what is computed
  /// from them.
  std::vector<const ast::Expression *> values;
};

/// A tensor of random numbers, drawn anew for each sample.
struct DrawInfo {
  NamedRange named;
  bool isNormal = true;       ///< standard normal, else uniform in [0, 1)
  std::vector<int64_t> shape; ///< that of one sample
};

/// A setting that a search varies: a number that it draws from a range, or a
/// choice that needs an array of its own. Lists and choices of numbers of
/// copies are in the sweep.
struct SearchedRange {
  SearchSetting setting;
  llvm::SMRange range;
  SweepPosition position;
};

/// Which parameters a group of Job::groupsOfParameters has, by kinds and by
/// patterns of names.
struct GroupInfo {
  std::vector<NamedRange> kinds, patterns;
  llvm::SMRange range; ///< that of its clause
};

/// The contents of a job, checked as far as that is possible without shapes.
struct JobInfo {
  /// The model that is trained. With turns it is `whole`.
  const ast::ModelDeclaration *model = nullptr;
  const ast::TrainDeclaration *train = nullptr;
  /// Turns and what they use; empty in a job that trains one model.
  std::vector<TurnInfo> turns;
  std::vector<NetworkInfo> networks; ///< in the order of their first calls
  std::vector<DrawInfo> draws;
  NamedRange served; ///< the network of `run` and `export`
  /// How often the turn comes in a step that comes most often. It has this many
  /// parts of each batch.
  int64_t times = 1;
  /// A model that consists of the turns' networks. Its declaration has only a
  /// name.
  std::unique_ptr<ast::ModelDeclaration> whole;
  Job job;
  Sweep sweep;
  std::vector<FieldInfo> fields;
  /// Returns whether training samples of some field are augmented.
  bool isAugmented() const {
    return llvm::any_of(
        fields, [](const FieldInfo &field) { return field.isAugmented(); });
  }

  /// Returns whether copies draw how often each sample counts in the loss.
  bool bootstraps() const {
    return llvm::any_of(
        terms, [](const LossTermInfo &term) { return term.loss.bootstraps; });
  }

  /// Source ranges of the entries of Job::numberSchedules.
  std::vector<llvm::SMRange> scheduledRanges;
  std::vector<SearchedRange> searchedRanges;
  /// The names of lists in the sweep that are written as choice(...).
  llvm::StringSet<> choices;
  /// Source ranges of the entries of Job::search.settings.
  std::vector<llvm::SMRange> searchedTexts;
  llvm::SMRange trialsRange; ///< the argument `trials`; invalid: not given
  llvm::SMRange ruleRange;   ///< the rule of a search; invalid: none
  /// The score in the clause `objective`, "loss" or a metric's name; an invalid
  /// range if there is no such clause.
  NamedRange score;
  llvm::SMRange externalRange; ///< external(...) in `objective`; invalid: none
  llvm::SMRange foldsRange;    ///< the argument `folds`; invalid: not given
  /// The part `validation` of the data block; invalid: there is none.
  llvm::SMRange validationRange;
  /// Notes about a job that has no errors, each with the place that it is
  /// about.
  std::vector<NamedRange> notes;

  /// The fields in the order of the model's inputs, if the job lists them.
  /// Otherwise fields are bound by name if all names agree, and by position if
  /// not.
  std::optional<std::vector<NamedRange>> boundFields;
  llvm::SMRange modelRange; ///< range of the model clause
  /// The arguments `name = value` of the model clause, which set
  /// hyper-parameters of the model.
  std::vector<const ast::Argument *> modelSettings;
  llvm::SMRange batchRange;
  std::vector<LossTermInfo> terms;    ///< terms of the loss
  std::vector<ObjectiveInfo> metrics; ///< those of Job::metrics
  /// Returns the number of samples of a micro-batch with which a network is
  /// called.
  int64_t getNetworkBatch() const { return job.getMicroBatch() / times; }
  /// Whether the loss has several terms, or one that is weighted.
  bool isSumOfTerms() const {
    return terms.size() > 1 || (!terms.empty() && !terms[0].weight.empty());
  }

  /// The distinct ONNX files, and for each copy the index of the file that it
  /// starts from.
  std::vector<NamedRange> files;
  std::vector<int64_t> fileOfCopy;

  bool freshInitialization = false;
  std::vector<GroupInfo> groups;
  std::vector<NamedRange> freeze, trainable; ///< patterns of parameter names
  /// Patterns of names of batch normalizations and dropouts.
  std::vector<NamedRange> evaluationMode, trainingMode;
  /// Source ranges of the clause `layer_decay` and of the entries of
  /// Job::layers.
  llvm::SMRange layerDecayRange;
  llvm::SmallVector<llvm::SMRange> layerRanges;
  /// Source ranges of the entries of Job::kfacExclude.
  llvm::SmallVector<llvm::SMRange> excludeRanges;
  /// Source range of the last argument that sets how often factors are measured
  /// or inverted.
  llvm::SMRange periodRange;
  llvm::SMRange placementRange; ///< source range of Job::kfacPlacement
  llvm::StringMap<int64_t> dims;
  llvm::StringMap<llvm::SMRange> dimRanges;

  PipelineRequest pipeline;

  /// Names of the hyper-parameters that the model declares, in order.
  std::vector<std::string> modelHyperParameters;
  /// Their ranges.
  llvm::StringMap<NumberRange> modelNumbers;
  /// The names of layers that have parameters or draw random numbers, by their
  /// calls.
  llvm::DenseMap<const ast::CallExpression *, std::string> layerNames;
  /// The names of the hyper-parameters for the rates of dropout layers, if the
  /// rate is a number or a list, by the layers' calls.
  llvm::DenseMap<const ast::CallExpression *, std::string> dropoutRates;

  /// The csv files, by path, whose first line is taken for a sample rather than
  /// a header, because it consists of numbers.
  std::vector<NamedRange> guessedHeaders;
  llvm::SMRange drawRange; ///< source range of Job::draw
  /// The number of errors about formats of data files that aren't supported.
  unsigned unsupportedFiles = 0;
};

/// Reports those errors in a file's declarations that don't depend on a job:
/// duplicate names, and a file without train block.
void checkDeclarations(const ast::JobFile &file, JobDiagnostics &diagnostics);

/// Analyzes one train block.
class JobAnalyzer {
public:
  JobAnalyzer(const ast::JobFile &file, const FrontEndOptions &options,
              JobDiagnostics &diagnostics, JobInfo &info)
      : file(file), options(options), diagnostics(diagnostics), info(info),
        constants(diagnostics) {}

  /// Analyzes the train block. Errors go to the diagnostics.
  void analyze(const ast::Positioned<ast::TrainDeclaration> &train);
  /// Analyzes a train block from which only the planning of a pipeline is
  /// needed.
  void analyzePlanning();

private:
  using Clause = ast::Clause;

  // JobAnalyzer.cpp: the train block as a whole, and its copies.
  void analyzeClauses();
  void analyzeClausesCalled(llvm::function_ref<bool(llvm::StringRef)> isMeant);
  void analyzeClause(const Clause &clause);
  void checkClauseCount(const Clause &clause);
  const ast::Expression *getOnlyValue(const Clause &clause);
  void checkRequired();
  void makeCopies();
  void assignFiles();
  void fillJob();
  void fillSettings();

  // AnalyzeOptimizers.cpp: the optimizer of each copy.
  std::optional<OptimizerKind> readOptimizer(const ast::Expression &value,
                                             llvm::StringRef prefix = "");
  int64_t addOptimizer(const OptimizerKind &kind);
  llvm::SmallVector<ParameterInfo> getNumbersOfOptimizers() const;
  void readGroupOptimizer(const ast::Expression &value, ParameterGroup &group);
  void nameGroup(ParameterGroup &group) const;
  void readOptimizers(const ast::ListExpression &list);
  void fillOptimizers();
  std::optional<NumberRange> findOptimizerNumber(llvm::StringRef name) const;
  void readSelectors(llvm::ArrayRef<const ast::Expression *> selectors,
                     GroupInfo &group, std::string &name);

  // AnalyzeUpdates.cpp: what changes updates beside the optimizer.
  static llvm::ArrayRef<ParameterInfo> getNumbersOfGroups();
  /// Returns the range of a number of a group that is no optimizer's; nothing
  /// if none is called so.
  static std::optional<NumberRange> findGroupNumber(llvm::StringRef name);
  /// Returns the range of a number of the job that updates read and that is no
  /// optimizer's; nothing if no clause gives one of this name.
  std::optional<NumberRange> findUpdateNumber(llvm::StringRef name) const;
  bool readAdaptiveClip(const ast::Expression &value, llvm::StringRef prefix);
  void readGroupClip(const ast::Expression &value, ParameterGroup &group);
  void checkAverage();
  void fillUpdates();

  // AnalyzePipeline.cpp: stages and the order of their work.
  void checkPipeline();
  bool checkChunks(const Clause &pipeline);
  bool takeChunks(const Clause &pipeline);
  bool checkCuts(const Clause &pipeline);
  void analyzePlan(const BoundArguments &arguments,
                   const ast::Expression &plan);
  std::string getPath(llvm::StringRef name, llvm::SMRange range);
  bool isPlanned() const;
  bool checkPlanning();
  void readOrder(const Clause &pipeline);
  void notePipeline(const Clause &clause);
  void checkOrder(const Clause &pipeline);
  void checkParts(const Clause *parts);
  bool checkStages(const Clause &pipeline);
  bool checkWorkers(int64_t stage, const Clause *pipeline, const Clause *parts);

  // AnalyzePreconditioner.cpp: the preconditioner, which changes gradients
  // before the optimizer uses them.
  void checkPreconditioner();
  void checkPlacement();
  void checkShare(double share, int64_t stage);
  void fillPreconditioner();
  bool isTakenByPreconditioner(llvm::StringRef name) const;

  // AnalyzeSearch.cpp: trials, and which of them go on.
  bool searches() const { return info.train->find("search") != nullptr; }
  void readSearchParameters(const CallView &call, const SearchKindInfo &kind,
                            llvm::function_ref<SearchRef(llvm::StringRef)> find,
                            bool areRequired);
  void readFactors(const ast::Expression &value,
                   const SearchParameterInfo &parameter,
                   std::vector<double> &factors);
  void checkSearchClauses();
  void makeTrials();
  void collectSearched();
  void checkSearched();
  bool isChangedAtRunTime(llvm::StringRef name) const;
  void checkSearchedPreconditioner();
  void countTrials();
  bool drawSlots(int64_t slots, std::vector<std::vector<double>> &drawn);
  void makeSlots();
  void reportSearch(const hfta_error &error);
  void noteSearch();

  // Distributions.cpp: numbers that a search varies.
  void addDistribution(llvm::StringRef name, const ast::CallExpression &call,
                       const NumberRange &allowed, const void *group,
                       llvm::StringRef prefix);
  void addChoices(llvm::StringRef name, const ast::CallExpression &call,
                  const NumberRange &allowed, const void *group,
                  llvm::StringRef prefix);
  void addRange(llvm::StringRef name, const ast::CallExpression &call,
                const NumberRange &allowed, llvm::StringRef prefix);
  std::optional<double> readBound(llvm::StringRef name,
                                  const ast::Expression &value,
                                  const NumberRange &allowed, bool isWhole);
  bool checkDistribution(llvm::StringRef name, const ast::CallExpression &call);
  bool checkNumber(llvm::StringRef name, const ast::Expression &value,
                   const Number &number, const NumberRange &allowed);

  // AnalyzeValidation.cpp: what copies or trials are compared by.
  void checkScores();
  void checkScoreName();
  bool readExternalScore(const ast::Expression &value);
  void checkExternalScores();

  // AnalyzeSettings.cpp: clauses that have records in Settings.def.
  void analyzeSetting(const Clause &clause, const SettingInfo &setting);
  void readCounts(const SettingInfo &setting, const ast::Expression &value);
  void readReal(const SettingInfo &setting, const ast::Expression &value,
                double &place);
  std::string readFileName(const ast::CallExpression &call,
                           llvm::StringRef what = "file");
  std::string readNamed(const SettingInfo &setting,
                        const ast::CallExpression &call);
  std::string readCall(const SettingInfo &setting,
                       const ast::CallExpression &call);
  void readNames(const SettingInfo &setting, const ast::Expression &value);
  void readNameLists(const SettingInfo &setting, const ast::Expression &value);
  void readText(const SettingInfo &setting, const ast::Expression &value);
  bool readOfCopies(const SettingInfo &setting, const ast::Expression &value);
  std::optional<BoundArguments>
  readSettings(const Clause &clause, llvm::ArrayRef<ParameterSpec> before);
  std::optional<BoundArguments>
  readSettings(llvm::StringRef keyword, const CallView &call,
               llvm::ArrayRef<ParameterSpec> before);
  void readSetting(const SettingInfo &setting, const ast::Expression &value);
  std::optional<BoundArguments>
  readParameters(const CallView &call, llvm::ArrayRef<ParameterInfo> parameters,
                 std::vector<std::string> &flags, llvm::StringRef prefix = "");
  void readParameter(const BoundArguments &arguments,
                     const ParameterInfo &parameter,
                     std::vector<std::string> &flags,
                     llvm::StringRef prefix = "");
  void readWord(const ast::Expression &value, const ParameterInfo &parameter,
                std::vector<std::string> &words);
  void readBetas(const BoundArguments &arguments, const ParameterInfo &first,
                 const ParameterInfo &second);
  void addNumbers(llvm::StringRef name, const ast::Expression &value,
                  const NumberRange &allowed, const void *group = nullptr,
                  llvm::StringRef prefix = "");
  bool isLossNumber(llvm::StringRef name) const;
  bool isTaken(llvm::StringRef name) const;

  // AnalyzeSchedules.cpp: numbers that change from step to step.
  void readSchedule(const ast::Expression &value, llvm::StringRef prefix,
                    Schedule &schedule);
  void readParts(const ast::Expression &value, llvm::StringRef prefix,
                 Schedule &schedule);
  void checkSequence(const ast::Expression &parts,
                     const ast::Expression &milestones);
  void readMilestones(const BoundArguments::Bound &bound,
                      const ParameterInfo &parameter, llvm::StringRef prefix);
  std::optional<std::vector<Number>> readSteps(const ast::ListExpression &list,
                                               const ParameterInfo &parameter);
  size_t countMilestones(llvm::StringRef prefix) const;
  void fillMilestones(Schedule &schedule, llvm::StringRef prefix);
  std::optional<NumberRange> findScheduled(llvm::StringRef name) const;
  void checkScheduledNames();
  void checkPlateaus();
  void checkScheduledValues();
  void fillSchedule(Schedule &schedule, llvm::StringRef prefix);

  // AnalyzeTraining.cpp: other clauses of a train block.
#define HFTA_CLAUSE(handler, ...) void analyze##handler(const Clause &clause);
#include "Hfta/Dialect/Hfta/Job/Settings.def"
  void checkLossScale();
  void checkFactors(const BoundArguments &arguments, const Clause &clause,
                    llvm::StringRef multiply);
  void analyzePatterns(const Clause &clause, std::vector<NamedRange> &patterns);

  // AnalyzeTurns.cpp: networks that take turns.
  bool hasTurns() const { return info.train->find("turn") != nullptr; }
  void beginTurns();
  void collectNetworks(const ast::Expression &expression);
  void addNetwork(const ast::ModelDeclaration &declaration);
  void analyzeNetworks();
  void dealPatterns(std::vector<NamedRange> patterns,
                    std::vector<NamedRange> NetworkInfo::*list);
  void analyzeTurnLoss(const Clause &clause, TurnInfo &turn);
  void analyzeTurnOptimizer(const Clause &clause, const TurnInfo &turn);
  void readTurn(const Clause &clause, TurnInfo &turn);
  void repeatTerms(const TurnInfo &turn, llvm::ArrayRef<LossTermInfo> terms);
  void finishTurns();
  void refuseUpdates();
  bool isValueOfTurn(const ast::Expression &expression) const;
  NamedRange addValueOfTurn(const ast::Expression &expression);

  // AnalyzeObjectives.cpp: the loss and the metric.
  /// A term of the loss, and its weight or null.
  struct TermExpressions {
    const ast::Expression *loss, *weight;
  };
  void analyzeOutput(const ast::Expression &expression, NamedRange &output);
  bool readOperand(const ast::Expression &expression, bool takesNumber,
                   OperandInfo &operand);
  void readElementWeights(const ast::Expression &expression,
                          ObjectiveInfo &objective);
  void analyzeTarget(const CallView &call, llvm::StringRef labelName,
                     bool takesNumber, const BoundArguments &arguments,
                     ObjectiveInfo &objective);
  void analyzeMetric(const ast::Expression &value);
  void nameMetric(const MetricInfo &metric);
  void collectTerms(const ast::Expression &expression,
                    std::vector<TermExpressions> &found);
  void analyzeTerm(const TermExpressions &expressions,
                   std::vector<LossTermInfo> &terms);
  std::vector<LossTermInfo> readTerms(const Clause &clause);
  std::optional<BoundArguments>
  bindObjective(const CallView &call, llvm::StringRef labelName,
                llvm::ArrayRef<ObjectiveParameter> parameters,
                llvm::ArrayRef<llvm::StringRef> others,
                ObjectiveInfo &objective);
  void readArgument(const BoundArguments::Bound &bound,
                    const ObjectiveParameter &parameter,
                    ObjectiveInfo &objective);
  std::vector<double> readWeights(const ast::Expression &value,
                                  const ObjectiveParameter &parameter);

  // AnalyzeData.cpp: the fields of a data block.
  void analyzeFields(const ast::DataDeclaration &data);
  void analyzeField(const ast::DataDeclaration &data,
                    const ast::Binding &field);
  const ast::Binding *findField(const std::vector<ast::Binding> &fields,
                                llvm::StringRef name) const;
  bool analyzePreparation(const ast::Expression &expression, DataSource &source,
                          llvm::SMRange &sourceRange,
                          std::vector<PrepareStep> &steps);
  bool analyzeNormalize(const ast::CallExpression &call, DataSource &source,
                        llvm::SMRange &sourceRange,
                        std::vector<PrepareStep> &steps);
  bool applyType(const ast::TypeSpec &type, FieldInfo &field);
  bool applyHeader(const FieldInfo &found, llvm::StringRef path,
                   llvm::SMRange range, FieldInfo &field);
  void analyzeOtherPart(llvm::StringRef name, const ast::DataPart &part,
                        const ast::Binding &train, FieldInfo &field,
                        DataSource &source, llvm::SMRange &range, bool &ok);

  // AnalyzeFieldFunctions.cpp: functions of fields.
  bool analyzeFieldFunction(const FieldFunction &function,
                            const ast::CallExpression &call, DataSource &source,
                            llvm::SMRange &sourceRange,
                            std::vector<PrepareStep> &steps);
  bool readFieldArguments(const BoundArguments &arguments, FieldCall &call);
  bool checkOneMixture(const FieldFunction &function, llvm::SMRange range,
                       llvm::ArrayRef<PrepareStep> steps);
  void checkMixtures();
  bool refuseAugmentations(llvm::StringRef part,
                           llvm::ArrayRef<PrepareStep> steps);
  bool findPreparedShape(FieldInfo &field);

  // AnalyzeSources.cpp: the files of fields.
  bool analyzeSource(const ast::Expression &expression, DataSource &source,
                     llvm::SMRange &range);
  bool analyzePaths(const ast::Expression &expression, DataSource &source);
  bool analyzeBarePaths(const ast::Expression &expression, DataSource &source);
  bool analyzeColumns(const ast::Expression &expression, DataSource &source);
  bool analyzeCsv(const BoundArguments &arguments, DataSource &source);
  bool analyzeFolder(const BoundArguments &arguments, DataSource &source);
  bool analyzeWord(const BoundArguments &arguments, llvm::StringRef name,
                   llvm::ArrayRef<llvm::StringRef> words, uint32_t &index);
  bool checkImageType(const DataSource &source, llvm::SMRange range,
                      const FieldInfo &field);
  bool requireType(const DataSource &source, llvm::StringRef path,
                   llvm::SMRange range, const FieldInfo &field);
  bool probe(const DataSource &source, llvm::SMRange range, FieldInfo &field);
  bool probeFile(const DataSource &source, llvm::StringRef name,
                 llvm::SMRange range, FieldInfo &field);
  bool probeCsv(const DataSource &source, const std::string &path,
                llvm::SMRange range);
  bool refuseFile(llvm::SMRange range, const hfta_error &error);
  bool checkColumns(const DataSource &source, llvm::SMRange range,
                    const FieldInfo &field);
  void compareCsvFiles();

  // AnalyzeModel.cpp: the model's files and hyper-parameters.
  void analyzeModelOptions(const ast::ModelDeclaration &model);
  void analyzeFiles(const ast::ModelDeclaration &model);
  void analyzeHyperParameters(const ast::ModelDeclaration &model);
  void addDropoutRates(const ast::ModelDeclaration &model);
  unsigned getModelClausePosition() const;
  void addModelSetting(llvm::StringRef name,
                       const ast::Expression &defaultValue, bool isRate);

  const ast::JobFile &file;
  const FrontEndOptions &options;
  JobDiagnostics &diagnostics;
  JobInfo &info;
  ConstantReader constants;
  /// The position in the source of the clause being read. Hyper-parameters with
  /// lists are ordered by it.
  unsigned clausePosition = 0;
  unsigned trainPosition = 0;
  unsigned modelPosition = 0;
  /// The turn whose clauses are being read; null outside of turns.
  TurnInfo *turn = nullptr;
};

/// Returns the name of a tensor that the loss of a turn takes, in one of the
/// turn's repetitions.
std::string getValueOfTurn(size_t turn, int64_t repetition,
                           llvm::StringRef number);

/// Returns whether a job with turns can't have the clause, as its turns have
/// one each, or none.
bool isOfTurns(llvm::StringRef clause);

/// Reports unknown names and functions in a model's body, and names its layers
/// in `info`, unless that is null.
void checkModelNames(const ast::ModelDeclaration &model, JobInfo *info,
                     JobDiagnostics &diagnostics);

/// Returns the name of an output in a `return` statement.
std::string getOutputName(const ast::Argument &output);

/// Appends the calls in an expression to `calls`, in the order of evaluation.
void collectCalls(const ast::Expression &expression,
                  std::vector<const ast::CallExpression *> &calls);

} // namespace mlir::hfta::language

#endif // HFTA_LIB_LANGUAGE_ANALYSIS_JOBANALYZER_H
