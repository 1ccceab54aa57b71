//===- TurnCalls.cpp - Calls of networks that take turns ------------------===//
//
// A network is built by itself at its first call. Each call clones its ops into
// the model of all networks.
//===----------------------------------------------------------------------===//

#include "Building/ObjectiveBuilding.h"
#include "Building/TurnsBuilder.h"
#include "Hfta/Dialect/Hfta/IR/HftaGradientOps.h"
#include "Hfta/Dialect/Hfta/IR/Modes.h"
#include "Hfta/Dialect/Hfta/IR/Training.h"
#include "Hfta/Dialect/Hfta/IR/Turns.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

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
/// numbers of its own. With `isAveraged`, averages are in the places of trained
/// weights, and running statistics aren't updated.
SmallVector<Value> TurnsBuilder::inlineNetwork(const Network &network,
                                               ValueRange arguments,
                                               int64_t call, OpBuilder &at,
                                               IntegerAttr ofTurn,
                                               bool isAveraged) {
  ModelOp model = network.model;
  func::FuncOp function = network.forward;
  IRMapping mapping;
  mapping.map(function.getArguments(), arguments);
  auto rename = [&](auto access) {
    access.setVariable(symbols[{network.info, access.getVariable().str()}]);
    if (ofTurn)
      access->setAttr(HftaDialect::kBlockAttrName, ofTurn);
  };
  for (Operation &op : function.getBody().front().without_terminator()) {
    if (isAveraged && isa<WriteOp>(op))
      continue;
    Operation *clone = at.clone(op, mapping);
    if (auto read = dyn_cast<ReadOp>(clone)) {
      auto variable =
          model.lookupSymbol<VariableOp>(cast<ReadOp>(op).getVariable());
      rename(read);
      if (isAveraged && variable.getTrained())
        mapping.map(op.getResult(0),
                    AveragedOp::create(at, op.getLoc(), read).getResult());
    } else if (auto write = dyn_cast<WriteOp>(clone))
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

/// Checks what `average(...)` takes, a call of a network; null stands for
/// anything else.
bool TurnsBuilder::checkAveraged(const ast::CallExpression &average,
                                 const ast::CallExpression *call) {
  auto isNamed = [&](llvm::StringRef name) {
    return call && call->callee.name == name;
  };
  auto isCalled = [&](const NetworkInfo &network) {
    return isNamed(network.declaration->name.name);
  };
  auto isTrained = [&](const TurnInfo &candidate) {
    return llvm::any_of(candidate.networks, [&](const NamedRange &network) {
      return isNamed(network.name);
    });
  };
  if (llvm::none_of(info.networks, isCalled))
    body->fail(average.getRange(), "'average' takes a call of a network",
               "for example: average(net(image))");
  else if (llvm::none_of(info.turns, isTrained))
    body->fail(call->getRange(),
               "no turn trains the network '" + call->callee.name +
                   "', so its weights have no average",
               "call it without 'average'");
  else if (info.job.average.empty())
    body->fail(average.getRange(),
               "'average(...)' needs a clause 'average', which says how the "
               "weights are averaged",
               "for example: average ema(decay = 0.99)");
  else
    return true;
  return false;
}

/// Builds `average(net(x))`: the call with the running averages of the
/// network's weights, as a constant.
Value TurnsBuilder::callAveraged(const ast::CallExpression &average) {
  const ast::CallExpression *call = nullptr;
  const ast::Identifier *output = nullptr;
  if (average.arguments.size() == 1 && !average.arguments.front().name) {
    const ast::Expression *inner = average.arguments.front().value.get();
    if (auto *member = llvm::dyn_cast<ast::MemberExpression>(inner)) {
      call = member->call.get();
      output = &member->member;
    } else {
      call = llvm::dyn_cast<ast::CallExpression>(inner);
    }
  }
  if (!checkAveraged(average, call))
    return nullptr;
  Value value = callNetwork(*call, output, /*isAveraged=*/true);
  if (!value)
    return nullptr;
  return body->getTensors().create<StopGradientOp>(value);
}

/// Builds a call, unless its outputs are known from an equal call.
Value TurnsBuilder::callNetwork(const ast::CallExpression &call,
                                const ast::Identifier *output,
                                bool isAveraged) {
  auto isCalled = [&](const NetworkInfo &network) {
    return network.declaration->name.name == call.callee.name;
  };
  if (call.callee.name == "average" && llvm::none_of(info.networks, isCalled)) {
    if (output)
      return body->fail(output->range, "'average(...)' is one tensor",
                        "choose the output inside, as in average(net(x)." +
                            output->name + ")");
    return callAveraged(call);
  }
  std::optional<SmallVector<Value>> arguments = evaluateArguments(call);
  Network *network = arguments ? findNetwork(call, *arguments) : nullptr;
  if (!network)
    return nullptr;
  auto known = llvm::find_if(made, [&](const Made &other) {
    return other.network == network && other.isAveraged == isAveraged &&
           other.updates == network->updates && other.arguments == *arguments;
  });
  if (known == made.end()) {
    body->setRange(call.getRange());
    SmallVector<Value> adapted;
    for (auto [value, type] :
         llvm::zip_equal(*arguments, network->forward.getArgumentTypes()))
      adapted.push_back(adapt(value, cast<RankedTensorType>(type)));
    SmallVector<Value> outputs =
        inlineNetwork(*network, adapted, network->calls++, builder,
                      builder.getI64IntegerAttr(turn), isAveraged);
    made.push_back(
        {network, *arguments, isAveraged, network->updates, outputs});
    known = std::prev(made.end());
  }
  return selectOutput(*network, known->outputs, call, output);
}
