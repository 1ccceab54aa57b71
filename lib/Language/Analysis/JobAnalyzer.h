//===- JobAnalyzer.h - Meaning of a job file --------------------*- C++ -*-===//

#ifndef HFTA_LIB_LANGUAGE_ANALYSIS_JOBANALYZER_H
#define HFTA_LIB_LANGUAGE_ANALYSIS_JOBANALYZER_H

#include "Analysis/Arguments.h"
#include "Hfta/Dialect/Hfta/IR/Job.h"
#include "Hfta/Dialect/Hfta/IR/Settings.h"
#include "Hfta/Language/FrontEnd.h"
#include "Hfta/Language/Objectives.h"
#include "Hfta/Language/Sweep.h"
#include "hfta/status.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::hfta::language {

/// One step of a field's arithmetic, applied to the value so far.
struct PrepareStep {
  enum class Kind {
    add,
    subtract,
    subtractFrom, ///< number - value
    multiply,
    divide,
    divideInto, ///< number / value
    negate,
    normalize ///< (value - numbers) / deviations
  };
  Kind kind = Kind::add;
  std::vector<Number> numbers;
  std::vector<Number> deviations;
  llvm::SMRange range;

  bool equals(const PrepareStep &other) const;
};

struct FieldInfo {
  std::string name;
  llvm::SMRange range;
  DataSource train;
  DataSource test;
  std::string element;        ///< "u8", "f32", …: the type in the file
  std::vector<int64_t> shape; ///< shape of one sample
  std::vector<PrepareStep> steps;

  bool isFloat() const;
  /// Returns whether the prepared value is a float whatever it is bound to.
  bool isPreparedAsFloat() const;
};

struct NamedRange {
  std::string name;
  llvm::SMRange range;
};

/// A loss or metric: `kind(model.output, field, ...)`. Without arguments
/// (`implicit`), it compares the model's only output with the only field that
/// isn't bound to the model.
struct ObjectiveInfo {
  std::string name;
  LossKind kind = LossKind::crossEntropy; ///< used for a loss
  llvm::SMRange range;
  bool implicit = false;
  NamedRange output; ///< empty name: the only output
  NamedRange field;
  std::optional<int64_t> axis;
  std::optional<int64_t> ignoreIndex;
  bool smoothing = false; ///< whether the sweep has "label_smoothing"
  llvm::SMRange axisRange;
};

/// The contents of a job, checked as far as that is possible without shapes.
struct JobInfo {
  const ast::ModelDeclaration *model = nullptr;
  const ast::TrainDeclaration *train = nullptr;
  Job job;
  Sweep sweep;
  std::vector<FieldInfo> fields;

  /// The fields in the order of the model's inputs. Nothing: fields are bound
  /// by name if all names agree, by position otherwise.
  std::optional<std::vector<NamedRange>> boundFields;
  llvm::SMRange modelRange; ///< range of the model clause
  /// `name = value` in the model clause: hyper-parameters of the model.
  std::vector<const ast::Argument *> modelSettings;
  llvm::SMRange batchRange;
  ObjectiveInfo loss;
  std::optional<ObjectiveInfo> metric;

  /// The ONNX files, each once, and for each copy the one that it starts from.
  std::vector<NamedRange> files;
  std::vector<int64_t> fileOfCopy;

  bool freshInitialization = false;
  std::vector<NamedRange> freeze, trainable; ///< patterns
  /// Ranges of Job::kfacExclude.
  llvm::SmallVector<llvm::SMRange> excludeRanges;
  /// The range of the last argument that sets how often factors are measured or
  /// inverted.
  llvm::SMRange periodRange;
  llvm::SMRange placementRange; ///< range of Job::kfacPlacement
  llvm::StringMap<int64_t> dims;
  llvm::StringMap<llvm::SMRange> dimRanges;

  PipelineRequest pipeline;

  /// Hyper-parameters of the model itself, in order.
  std::vector<std::string> modelHyperParameters;
  /// Names of layers with parameters or randomness, by call.
  llvm::DenseMap<const ast::CallExpression *, std::string> layerNames;
  /// Hyper-parameters of dropout layers whose rate is a number or a list.
  llvm::DenseMap<const ast::CallExpression *, std::string> dropoutRates;

  /// The csv files, by path, whose first line is taken as a sample because it
  /// has numbers.
  std::vector<NamedRange> guessedHeaders;
  /// The number of errors about data files whose form isn't supported.
  unsigned unsupportedFiles = 0;
  LossWeights lossWeights;
};

/// One record per loss.
struct LossInfo {
  llvm::StringLiteral name;
  LossKind kind;
  llvm::ArrayRef<ParameterSpec> parameters;
  llvm::StringLiteral usage; ///< usage of parameters after output and label
  llvm::StringLiteral text;
};

llvm::ArrayRef<LossInfo> getLosses();

/// Reports errors in a file's declarations that don't depend on a job: names
/// that are used twice, and no train block.
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
  /// Analyzes a train block that only says how a pipeline is planned.
  void analyzePlanning();

private:
  using Clause = ast::Clause;

  // JobAnalyzer.cpp: the train block and copies.
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
  void fillSchedule(const SettingInfo &setting);

  // AnalyzePipeline.cpp: stages.
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

  // AnalyzePreconditioner.cpp: the preconditioner between gradients and
  // optimizer.
  void checkPreconditioner();
  void checkPlacement();
  void checkShare(double share, int64_t stage);
  void fillPreconditioner();
  bool isTakenByPreconditioner(llvm::StringRef name) const;

  // AnalyzeSettings.cpp: settings, by their records.
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
  void readSchedule(const SettingInfo &setting, const ast::Expression &value);
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
  void readBetas(const BoundArguments &arguments, const ParameterInfo &first,
                 const ParameterInfo &second);
  void addNumbers(llvm::StringRef name, const ast::Expression &value,
                  const NumberRange &allowed, const void *group = nullptr,
                  llvm::StringRef prefix = "");
  bool isTaken(llvm::StringRef name) const;

  // AnalyzeTraining.cpp: clauses of a train block.
#define HFTA_CLAUSE(handler, ...) void analyze##handler(const Clause &clause);
#include "Hfta/Dialect/Hfta/IR/Settings.def"
  void checkLossScale();
  void checkFactors(const BoundArguments &arguments, const Clause &clause,
                    llvm::StringRef multiply);
  void analyzePatterns(const Clause &clause, std::vector<NamedRange> &patterns);
  bool analyzeOutput(const ast::Expression &expression, NamedRange &output);
  bool analyzeTarget(const CallView &call, const BoundArguments &arguments,
                     ObjectiveInfo &objective);
  void analyzeLossNumbers(const BoundArguments &arguments);
  std::vector<double> readWeights(const BoundArguments &arguments,
                                  llvm::StringRef name);

  // AnalyzeData.cpp: fields.
  void analyzeFields(const ast::DataDeclaration &data);
  void analyzeField(const ast::DataDeclaration &data,
                    const ast::Binding &field);
  const ast::Binding *findField(const std::vector<ast::Binding> &fields,
                                llvm::StringRef name) const;
  bool analyzeSource(const ast::Expression &expression, DataSource &source,
                     llvm::SMRange &range);
  bool analyzePreparation(const ast::Expression &expression, DataSource &source,
                          llvm::SMRange &sourceRange,
                          std::vector<PrepareStep> &steps);
  bool analyzeNormalize(const ast::CallExpression &call, DataSource &source,
                        llvm::SMRange &sourceRange,
                        std::vector<PrepareStep> &steps);
  bool applyType(const ast::TypeSpec &type, FieldInfo &field);
  bool requireType(const DataSource &source, llvm::StringRef path,
                   llvm::SMRange range, const FieldInfo &field);
  bool applyHeader(const FieldInfo &found, llvm::StringRef path,
                   llvm::SMRange range, FieldInfo &field);
  bool probe(const DataSource &source, llvm::SMRange range, FieldInfo &field);
  bool probeCsv(const DataSource &source, const std::string &path,
                llvm::SMRange range);
  bool refuseFile(llvm::SMRange range, const hfta_error &error);
  void compareHeaders(const FieldInfo &field);

  // AnalyzeModel.cpp: models.
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
  /// The position of the clause that is being read, for the order of lists.
  unsigned clausePosition = 0;
  unsigned trainPosition = 0;
  unsigned modelPosition = 0;
};

/// Reports names and calls in a model's body that don't exist, and names its
/// layers.
void checkModelNames(const ast::ModelDeclaration &model, JobInfo *info,
                     JobDiagnostics &diagnostics);

/// Returns the name that `return` gives to an output.
std::string getOutputName(const ast::Argument &output);

/// Collects the calls of an expression in the order of evaluation.
void collectCalls(const ast::Expression &expression,
                  std::vector<const ast::CallExpression *> &calls);

} // namespace mlir::hfta::language

#endif // HFTA_LIB_LANGUAGE_ANALYSIS_JOBANALYZER_H
