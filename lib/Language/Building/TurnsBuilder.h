//===- TurnsBuilder.h - A model of networks that take turns -----*- C++ -*-===//
//
// The job's model consists of the networks that its turns call. Its @forward
// makes the calls of all turns in their order, and returns the tensors that the
// losses take. Reads and writes of a network's variables are marked with the
// turn, as a block, because a variable has another value in each.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_LANGUAGE_BUILDING_TURNSBUILDER_H
#define HFTA_LIB_LANGUAGE_BUILDING_TURNSBUILDER_H

#include "Building/JobBuilder.h"

#include <list>
#include <map>

namespace mlir::hfta::language {

class TurnsBuilder {
public:
  TurnsBuilder(JobBuilder &job, ModuleOp module)
      : job(job), info(job.info), module(module), builder(job.context) {}

  bool build();

private:
  /// A network, once its inputs have types.
  struct Network {
    const NetworkInfo *info;
    ModelOp model; ///< the network by itself; erased in the end
    func::FuncOp forward;
    int64_t calls = 0; ///< how many calls have been built
    /// How many turns have updated the network's parameters before the calls
    /// that are being built.
    int64_t updates = 0;
  };
  /// The outputs of a call, which hold as long as no turn updates the network.
  struct Made {
    Network *network;
    SmallVector<Value> arguments;
    bool isAveraged; ///< whether the call takes averages of the weights
    int64_t updates;
    SmallVector<Value> outputs;
  };

  void declareFields();
  void drawNumbers();
  void divideBatch();
  void buildTurn(size_t number, int64_t repetition);
  Value callNetwork(const ast::CallExpression &call,
                    const ast::Identifier *output, bool isAveraged = false);
  Value callAveraged(const ast::CallExpression &average);
  bool checkAveraged(const ast::CallExpression &average,
                     const ast::CallExpression *call);
  std::optional<SmallVector<Value>>
  evaluateArguments(const ast::CallExpression &call);
  Network *findNetwork(const ast::CallExpression &call, ValueRange arguments);
  bool buildNetwork(Network &network, const ast::CallExpression &call,
                    ValueRange arguments);
  bool buildOfLanguage(Network &network, const ast::CallExpression &call,
                       ValueRange arguments);
  bool importNetwork(Network &network, const ast::CallExpression &call,
                     ValueRange arguments);
  bool checkCount(size_t inputs, const ast::CallExpression &call);
  std::optional<SmallVector<int64_t>> fit(const Port &port, Value argument,
                                          const ast::CallExpression &call,
                                          size_t index);
  bool adoptVariables(Network &network);
  Value adapt(Value value, RankedTensorType type);
  SmallVector<Value> inlineNetwork(const Network &network, ValueRange arguments,
                                   int64_t call, OpBuilder &at,
                                   IntegerAttr turn, bool isAveraged = false);
  Value selectOutput(const Network &network, ArrayRef<Value> outputs,
                     const ast::CallExpression &call,
                     const ast::Identifier *output);
  void buildServed();
  bool checkTrained();

  JobBuilder &job;
  JobInfo &info;
  ModuleOp module;
  OpBuilder builder;
  ModelOp whole;
  func::FuncOp forward;
  std::optional<BodyBuilder> body;
  std::list<Network> networks; ///< pointers to them stay valid
  std::vector<Made> made;
  /// For each part of a batch that a repetition has: the fields and the random
  /// numbers, by name.
  std::vector<llvm::StringMap<Value>> inputs;
  /// The symbols that variables of networks have in the whole.
  std::map<std::pair<const NetworkInfo *, std::string>, std::string> symbols;
  int64_t turn = 0; ///< the one that is being built, an index into Job::turns
  SmallVector<ModalNode> modal; ///< nodes of all networks that have a mode
  SmallVector<Value> results;
  SmallVector<Attribute> resultNames;
};

} // namespace mlir::hfta::language

#endif // HFTA_LIB_LANGUAGE_BUILDING_TURNSBUILDER_H
