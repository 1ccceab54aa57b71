//===- TurnsBuilder.cpp - A model of networks that take turns -------------===//

#include "Building/TurnsBuilder.h"
#include "Building/ObjectiveBuilding.h"
#include "Hfta/Dialect/Hfta/IR/Expression.h"
#include "Hfta/Dialect/Hfta/IR/Modes.h"
#include "Hfta/Dialect/Hfta/IR/Turns.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

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
