//===- TurnsBuilder.cpp - A model of networks that take turns -------------===//
//
// The job's model consists of the networks that its turns call. Its @forward
// makes the calls of all turns in their order, and returns the tensors that the
// losses take. Reads and writes of a network's variables are marked with the
// turn, as a block, because a variable has another value in each.
//===----------------------------------------------------------------------===//

#include "Building/JobBuilder.h"
#include "Building/ObjectiveBuilding.h"
#include "Hfta/Dialect/Hfta/IR/Expression.h"
#include "Hfta/Dialect/Hfta/IR/Modes.h"
#include "Hfta/Dialect/Hfta/IR/Training.h"
#include "Hfta/Dialect/Hfta/IR/Turns.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

#include <list>
#include <map>

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

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
    int64_t updates;
    SmallVector<Value> outputs;
  };

  void declareFields();
  void drawNumbers();
  void divideBatch();
  void buildTurn(size_t number, int64_t repetition);
  Value callNetwork(const ast::CallExpression &call,
                    const ast::Identifier *output);
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
                                   IntegerAttr turn);
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

//===----------------------------------------------------------------------===//
// Fields and random numbers
//===----------------------------------------------------------------------===//

static void collectNames(const ast::Expression &expression,
                         llvm::StringSet<> &names) {
  if (auto *name = dyn_cast<ast::NameExpression>(&expression)) {
    names.insert(name->name);
  } else if (auto *call = dyn_cast<ast::CallExpression>(&expression)) {
    for (const ast::Argument &argument : call->arguments)
      collectNames(*argument.value, names);
  } else if (auto *member = dyn_cast<ast::MemberExpression>(&expression)) {
    if (member->call)
      collectNames(*member->call, names);
  } else if (auto *negation = dyn_cast<ast::NegationExpression>(&expression)) {
    collectNames(*negation->operand, names);
  } else if (auto *binary = dyn_cast<ast::BinaryExpression>(&expression)) {
    collectNames(*binary->lhs, names);
    collectNames(*binary->rhs, names);
  }
}

/// Begins @forward, whose arguments are the fields that the turns use.
void TurnsBuilder::declareFields() {
  llvm::StringSet<> names;
  for (const TurnInfo &taken : info.turns)
    for (const ast::Expression *value : taken.values)
      collectNames(*value, names);
  SmallVector<Type> types;
  SmallVector<StringRef> fields;
  for (const FieldInfo &field : info.fields) {
    if (!names.contains(field.name))
      continue;
    SmallVector<int64_t> shape = {info.job.getMicroBatch()};
    shape.append(field.preparedShape.begin(), field.preparedShape.end());
    types.push_back(RankedTensorType::get(shape, field.isPreparedAsFloat()
                                                     ? Type(job.floatType)
                                                     : builder.getI64Type()));
    fields.push_back(field.name);
  }
  Location loc =
      job.diagnostics.getLocation(job.context, info.train->name.range);
  builder.setInsertionPointToEnd(&whole.getBody().front());
  forward = func::FuncOp::create(builder, loc, "forward",
                                 builder.getFunctionType(types, {}));
  builder.setInsertionPointToStart(forward.addEntryBlock());
  inputs.resize(info.times);
  for (auto [index, name] : llvm::enumerate(fields)) {
    forward.setArgAttr(index, HftaDialect::kNameAttrName,
                       builder.getStringAttr(name));
    inputs.front()[name] = forward.getArgument(index);
  }
}

/// Draws the random numbers of a step, by the position of each sample.
/// Evaluations draw those of step 0, so that the losses of a training's
/// evaluations differ by the weights alone.
void TurnsBuilder::drawNumbers() {
  for (const DrawInfo &draw : info.draws) {
    body->setScope(draw.named.name);
    body->setRange(draw.named.range);
    TensorBuilder &tensors = body->getTensors();
    Value step = body->readScalar(Purpose::step);
    Value keys[] = {body->readScalar(Purpose::seed),
                    tensors.create<ByModeOp>(step, tensors.splatLike(step, 0)),
                    body->readScalar(Purpose::first_sample)};
    SmallVector<int64_t> shape = {info.job.getMicroBatch()};
    shape.append(draw.shape.begin(), draw.shape.end());
    if (!body->checkSize(shape, draw.named.range))
      continue;
    auto drawUniform = [&](StringRef suffix) {
      std::string stream = ("draw/" + draw.named.name + suffix).str();
      return Expression(
          builder, tensors.getLoc(),
          tensors.create<RandomUniformOp>(keys[0], keys[1], keys[2], shape,
                                          names::hash(stream),
                                          /*per_sample=*/true, job.floatType));
    };
    Expression uniform = drawUniform("");
    inputs.front()[draw.named.name] =
        draw.isNormal ? makeNormal(uniform, drawUniform("/angle")) : uniform;
  }
}

/// Divides fields and random numbers among the repetitions of turns.
void TurnsBuilder::divideBatch() {
  if (info.times == 1)
    return;
  llvm::StringMap<Value> all = std::move(inputs.front());
  inputs.assign(info.times, {});
  for (auto [part, values] : llvm::enumerate(inputs))
    for (const auto &entry : all)
      values[entry.getKey()] = job.cutBatch(
          entry.getValue(), static_cast<int64_t>(part), body->getTensors());
}

//===----------------------------------------------------------------------===//
// Networks
//===----------------------------------------------------------------------===//

/// Returns a value in an element type and in a shape that differs in axes of
/// length 1 alone.
Value TurnsBuilder::adapt(Value value, RankedTensorType type) {
  TensorBuilder &tensors = body->getTensors();
  return tensors.reshape(tensors.cast(value, type.getElementType()),
                         type.getShape());
}

bool TurnsBuilder::checkCount(size_t inputs, const ast::CallExpression &call) {
  if (inputs == call.arguments.size())
    return true;
  body->fail(call.getRange(), "network '" + call.callee.name + "' has " +
                                  Twine(inputs) +
                                  (inputs == 1 ? " input" : " inputs") +
                                  ", got " + Twine(call.arguments.size()));
  return false;
}

/// Returns the shape, without the batch axis, that an input gets from an
/// argument; nothing after an error.
std::optional<SmallVector<int64_t>>
TurnsBuilder::fit(const Port &port, Value argument,
                  const ast::CallExpression &call, size_t index) {
  llvm::SMRange range = call.arguments[index].getRange();
  if (!isa_and_present<FloatType>(port.elementType) &&
      isa<FloatType>(getElementType(argument))) {
    body->fail(range,
               "input '" + port.name +
                   "' takes whole numbers, but the argument holds floats",
               "declare the input as f32");
    return std::nullopt;
  }
  return job.fitShape(port, "argument " + Twine(index + 1),
                      getShape(argument).drop_front(), range);
}

bool TurnsBuilder::buildOfLanguage(Network &network,
                                   const ast::CallExpression &call,
                                   ValueRange arguments) {
  const ast::ModelDeclaration &declaration = *network.info->declaration;
  unsigned errors = job.diagnostics.getErrorCount();
  std::vector<Port> ports = job.getLanguagePorts(declaration);
  if (job.diagnostics.getErrorCount() != errors || !job.refuseScalars(ports) ||
      !checkCount(ports.size(), call))
    return false;
  std::vector<InputBinding> bindings;
  for (auto [index, port] : llvm::enumerate(ports)) {
    std::optional<SmallVector<int64_t>> shape =
        fit(port, arguments[index], call, index);
    if (!shape)
      return false;
    shape->insert(shape->begin(), info.getNetworkBatch());
    bindings.push_back({port.name, port.name,
                        RankedTensorType::get(*shape, port.elementType)});
  }
  OpBuilder atEnd = OpBuilder::atBlockEnd(module.getBody());
  network.model = ModelOp::create(
      atEnd, job.diagnostics.getLocation(job.context, declaration.name.range),
      declaration.name.name, job.getCopies(0));
  return job.buildBody(network.model, declaration, bindings);
}

bool TurnsBuilder::importNetwork(Network &network,
                                 const ast::CallExpression &call,
                                 ValueRange arguments) {
  std::unique_ptr<OnnxFile> file = job.openFile(network.info->file);
  if (!file)
    return false;
  std::vector<Port> ports = getPorts(*file, job.options.constants);
  if (!job.refuseScalars(ports) || !checkCount(ports.size(), call))
    return false;
  OnnxImportOptions options;
  options.modelName = network.info->declaration->name.name;
  options.constants = job.options.constants;
  options.microBatch = info.getNetworkBatch();
  options.freeze = getNames(info.freeze);
  options.trainable = getNames(info.trainable);
  options.evaluationMode = getNames(info.evaluationMode);
  options.trainingMode = getNames(info.trainingMode);
  options.freshInitialization = network.info->freshInitialization;
  for (auto [index, port] : llvm::enumerate(ports)) {
    std::optional<SmallVector<int64_t>> shape =
        fit(port, arguments[index], call, index);
    if (!shape)
      return false;
    options.sampleShapes[port.name] =
        std::vector<int64_t>(shape->begin(), shape->end());
  }
  options.dims = job.sizes;
  FailureOr<ModelOp> model = job.import(module, *file, options);
  if (failed(model))
    return false;
  network.model = *model;
  network.model.setCopies(job.getCopies(0));
  return true;
}

/// Builds a network by itself, with inputs of the arguments' types, and
/// declares its variables in the whole.
bool TurnsBuilder::buildNetwork(Network &network,
                                const ast::CallExpression &call,
                                ValueRange arguments) {
  job.sizes.clear();
  for (const auto &dim : network.info->dims)
    job.sizes[dim.getKey()] = dim.getValue();
  info.freeze = network.info->freeze;
  info.trainable = network.info->trainable;
  info.evaluationMode = network.info->evaluationMode;
  info.trainingMode = network.info->trainingMode;
  bool ok = network.info->declaration->onnx
                ? importNetwork(network, call, arguments)
                : buildOfLanguage(network, call, arguments);
  if (!ok)
    return false;
  network.forward = network.model.lookupSymbol<func::FuncOp>("forward");
  return adoptVariables(network);
}

/// Declares the variables of a network in the whole. The names of its tensors
/// get the network's name in front. Run-time scalars are common to all
/// networks.
bool TurnsBuilder::adoptVariables(Network &network) {
  const std::string &name = network.info->declaration->name.name;
  auto isTrainedIn = [&](const TurnInfo &candidate) {
    return llvm::any_of(candidate.networks, [&](const NamedRange &one) {
      return one.name == name;
    });
  };
  auto owner = llvm::find_if(info.turns, isTrainedIn);
  for (ModalNode &node : getModalNodes(network.model)) {
    modal.push_back(node);
    modal.back().name = name + "." + node.name;
  }
  OpBuilder atVariables(forward);
  for (VariableOp variable : network.model.getBody().getOps<VariableOp>()) {
    std::string &symbol = symbols[{network.info, variable.getSymName().str()}];
    if (variable.getRole() == Role::scalar) {
      symbol = VariableDeclarer(whole)
                   .getScalar(variable.getLoc(), variable.getPurposeAttr(),
                              variable.getTensorType().getElementType())
                   .getSymName()
                   .str();
      continue;
    }
    auto own = cast<VariableOp>(atVariables.clone(*variable));
    std::string known = name + "." + variable.getOwnName();
    symbol = names::getModelSymbol(known);
    own.setSymName(symbol);
    if (symbol == known)
      own.removeKnownAsAttr();
    else
      own.setKnownAs(known);
    if (name != info.served.name)
      setUnserved(own);
    if (!own.getTrained())
      continue;
    if (owner != info.turns.end())
      setTurn(own, owner->name);
    else
      setTrainingRule(own, TrainingRule::resting);
  }
  return true;
}

/// Returns the network of a call, which is built at its first call; null after
/// an error.
TurnsBuilder::Network *
TurnsBuilder::findNetwork(const ast::CallExpression &call,
                          ValueRange arguments) {
  auto isCalled = [&](const auto &known) {
    return known.declaration->name.name == call.callee.name;
  };
  auto known = llvm::find_if(networks, [&](const Network &network) {
    return isCalled(*network.info);
  });
  if (known == networks.end()) {
    auto declared = llvm::find_if(info.networks, isCalled);
    if (declared == info.networks.end()) {
      std::vector<StringRef> names = getBuiltinNames();
      for (const NetworkInfo &network : info.networks)
        names.push_back(network.declaration->name.name);
      body->fail(call.callee.range,
                 "unknown network or function '" + call.callee.name + "'",
                 suggest(call.callee.name, names, "networks are"));
      return nullptr;
    }
    known = networks.emplace(networks.end(), Network{&*declared, {}, {}});
    if (!buildNetwork(*known, call, arguments))
      return nullptr;
  }
  if (!known->forward || !checkCount(known->forward.getNumArguments(), call))
    return nullptr;
  for (auto [index, argument] : llvm::enumerate(arguments)) {
    if (areAlike(getShape(argument),
                 getShape(known->forward.getArgument(index))))
      continue;
    body->fail(call.getRange(),
               "network '" + call.callee.name +
                   "' is called with tensors of other shapes than before",
               "all its calls take samples of the same shape");
    return nullptr;
  }
  return &*known;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Clones a network's ops, and returns its outputs. Each call draws random
/// numbers of its own.
SmallVector<Value> TurnsBuilder::inlineNetwork(const Network &network,
                                               ValueRange arguments,
                                               int64_t call, OpBuilder &at,
                                               IntegerAttr ofTurn) {
  func::FuncOp function = network.forward;
  IRMapping mapping;
  mapping.map(function.getArguments(), arguments);
  auto rename = [&](auto access) {
    access.setVariable(symbols[{network.info, access.getVariable().str()}]);
    if (ofTurn)
      access->setAttr(HftaDialect::kBlockAttrName, ofTurn);
  };
  for (Operation &op : function.getBody().front().without_terminator()) {
    Operation *clone = at.clone(op, mapping);
    if (auto read = dyn_cast<ReadOp>(clone))
      rename(read);
    else if (auto write = dyn_cast<WriteOp>(clone))
      rename(write);
    else if (auto random = dyn_cast<RandomUniformOp>(clone))
      random.setStream(names::hash(network.info->declaration->name.name + "/" +
                                   std::to_string(call) + "/" +
                                   std::to_string(random.getStream())));
  }
  SmallVector<Value> outputs;
  for (Value output : function.getBody().front().getTerminator()->getOperands())
    outputs.push_back(mapping.lookup(output));
  return outputs;
}

std::optional<SmallVector<Value>>
TurnsBuilder::evaluateArguments(const ast::CallExpression &call) {
  SmallVector<Value> arguments;
  for (const ast::Argument &argument : call.arguments) {
    if (argument.name) {
      body->fail(argument.getRange(),
                 "a network's inputs are given by position",
                 "its hyper-parameters have values in its declaration");
      return std::nullopt;
    }
    Value value = body->evaluateTensor(*argument.value, "an input");
    if (!value)
      return std::nullopt;
    if (getShape(value).empty() ||
        getShape(value).front() != info.getNetworkBatch()) {
      body->fail(argument.getRange(),
                 "an input of shape " + printShape(getShape(value)) +
                     " doesn't have the batch on axis 0",
                 "it has one row for each sample");
      return std::nullopt;
    }
    arguments.push_back(value);
  }
  return arguments;
}

Value TurnsBuilder::selectOutput(const Network &network,
                                 ArrayRef<Value> outputs,
                                 const ast::CallExpression &call,
                                 const ast::Identifier *output) {
  SmallVector<StringRef> names;
  func::FuncOp function = network.forward;
  for (unsigned index = 0; index < function.getNumResults(); ++index) {
    auto name = function.getResultAttrOfType<StringAttr>(
        index, HftaDialect::kNameAttrName);
    names.push_back(name ? name.getValue() : StringRef());
  }
  std::string who = "network '" + call.callee.name + "'";
  if (!output && outputs.size() == 1)
    return outputs.front();
  if (!output)
    return body->fail(call.getRange(),
                      who + " has " + Twine(outputs.size()) + " outputs",
                      "choose one: " + call.callee.name + "(...)." +
                          (names.empty() ? "output" : names.front()));
  auto *found = llvm::find(names, output->name);
  if (found != names.end())
    return outputs[found - names.begin()];
  return body->fail(output->range,
                    who + " has no output '" + output->name + "'",
                    suggest(output->name, names, "outputs are"));
}

/// Builds a call, unless its outputs are known from an equal call.
Value TurnsBuilder::callNetwork(const ast::CallExpression &call,
                                const ast::Identifier *output) {
  std::optional<SmallVector<Value>> arguments = evaluateArguments(call);
  Network *network = arguments ? findNetwork(call, *arguments) : nullptr;
  if (!network)
    return nullptr;
  auto known = llvm::find_if(made, [&](const Made &other) {
    return other.network == network && other.updates == network->updates &&
           other.arguments == *arguments;
  });
  if (known == made.end()) {
    body->setRange(call.getRange());
    SmallVector<Value> adapted;
    for (auto [value, type] :
         llvm::zip_equal(*arguments, network->forward.getArgumentTypes()))
      adapted.push_back(adapt(value, cast<RankedTensorType>(type)));
    SmallVector<Value> outputs =
        inlineNetwork(*network, adapted, network->calls++, builder,
                      builder.getI64IntegerAttr(turn));
    made.push_back({network, *arguments, network->updates, outputs});
    known = std::prev(made.end());
  }
  return selectOutput(*network, known->outputs, call, output);
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

/// Builds the tensors that the loss of a turn takes, and returns them from
/// @forward.
void TurnsBuilder::buildTurn(size_t number, int64_t repetition) {
  const TurnInfo &built = info.turns[number];
  body->setScope(built.name);
  // All turns end with the last part of the batch, so that turns that come once
  // share what is computed from it.
  for (const auto &entry : inputs[info.times - built.times + repetition])
    body->define(entry.getKey(), entry.getValue());
  for (auto [index, expression] : llvm::enumerate(built.values)) {
    body->setRange(expression->getRange());
    Value value = body->evaluateTensor(*expression, "a tensor of the loss");
    if (!value)
      continue;
    if (getShape(value).empty() ||
        getShape(value).front() != info.getNetworkBatch())
      body->fail(expression->getRange(),
                 "a tensor of shape " + printShape(getShape(value)) +
                     " doesn't have the batch on axis 0",
                 "it has one row for each sample");
    results.push_back(value);
    resultNames.push_back(builder.getDictionaryAttr(
        builder.getNamedAttr(HftaDialect::kNameAttrName,
                             builder.getStringAttr(getValueOfTurn(
                                 number, repetition, std::to_string(index))))));
  }
  if (info.job.updatesInTurn())
    for (Network &network : networks)
      for (const NamedRange &updated : built.networks)
        network.updates += updated.name == network.info->declaration->name.name;
  ++turn;
}

/// Builds the function of inference: the network that the job serves.
void TurnsBuilder::buildServed() {
  auto network = llvm::find_if(networks, [&](const Network &other) {
    return other.info->declaration->name.name == info.served.name;
  });
  builder.setInsertionPointToEnd(&whole.getBody().front());
  func::FuncOp function = network->forward;
  auto served = func::FuncOp::create(builder, function.getLoc(), kServedName,
                                     function.getFunctionType());
  if (ArrayAttr attributes = function.getArgAttrsAttr())
    served.setArgAttrsAttr(attributes);
  if (ArrayAttr attributes = function.getResAttrsAttr())
    served.setResAttrsAttr(attributes);
  builder.setInsertionPointToStart(served.addEntryBlock());
  SmallVector<Value> outputs =
      inlineNetwork(*network, served.getArguments(), /*call=*/0, builder,
                    /*ofTurn=*/{});
  func::ReturnOp::create(builder, function.getLoc(), outputs);
}

/// Reports turns whose networks have no trained parameters.
bool TurnsBuilder::checkTrained() {
  bool ok = true;
  for (const TurnInfo &taken : info.turns)
    for (const NamedRange &named : taken.networks) {
      auto network = llvm::find_if(networks, [&](const Network &other) {
        return other.info->declaration->name.name == named.name;
      });
      bool isTrained =
          network != networks.end() &&
          llvm::any_of(
              network->model.getBody().getOps<VariableOp>(),
              [](VariableOp variable) { return variable.getTrained(); });
      if (isTrained)
        continue;
      ok = false;
      job.diagnostics.error(
          named.range, "network '" + named.name + "' has no trained parameters",
          "leave it out of the turn");
    }
  return ok;
}

bool TurnsBuilder::build() {
  builder.setInsertionPointToEnd(module.getBody());
  whole = ModelOp::create(
      builder, job.diagnostics.getLocation(job.context, info.train->name.range),
      info.model->name.name, job.getCopies(0));
  whole.getBody().emplaceBlock();
  unsigned errors = job.diagnostics.getErrorCount();
  declareFields();
  body.emplace(builder, whole, info, *info.model, job.diagnostics);
  body->callNetwork = [&](const ast::CallExpression &call,
                          const ast::Identifier *output) {
    return callNetwork(call, output);
  };
  body->setRange(info.train->name.range);
  drawNumbers();
  divideBatch();
  for (size_t number = 0; number < info.turns.size(); ++number)
    for (int64_t repetition = 0; repetition < info.turns[number].times;
         ++repetition)
      buildTurn(number, repetition);
  if (job.failure != FrontEndFailure::none ||
      job.diagnostics.getErrorCount() != errors || !checkTrained())
    return false;
  func::ReturnOp::create(builder, forward.getLoc(), results);
  forward.setType(builder.getFunctionType(forward.getArgumentTypes(),
                                          ValueRange(results).getTypes()));
  forward.setResAttrsAttr(builder.getArrayAttr(resultNames));
  buildServed();
  setModalNodes(whole, modal);
  for (Network &network : networks)
    network.model.erase();
  return true;
}

bool JobBuilder::buildTurns(ModuleOp module) {
  return TurnsBuilder(*this, module).build();
}
