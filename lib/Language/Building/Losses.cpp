//===- Losses.cpp - One record for each loss ------------------------------===//

#include "Building/ClassLosses.h"
#include "Building/MarginLosses.h"
#include "Building/ObjectiveBuilding.h"
#include "Building/SequenceLosses.h"
#include "Hfta/Dialect/Hfta/IR/HftaGradientOps.h"

#include <cfloat>

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

using Kind = ObjectiveParameter::Kind;

static ObjectiveError checkElements(const ObjectiveArguments &,
                                    ObjectiveTypes types) {
  return checkValues(types);
}

//===----------------------------------------------------------------------===//
// Losses of classes
//===----------------------------------------------------------------------===//

static constexpr ObjectiveParameter kAxis = {kAxisArgument, Kind::integer,
                                             NumberRange::whole(-8, 7), "-1"};
static constexpr ObjectiveParameter kIgnoreIndex = {
    kIgnoreIndexArgument, Kind::integer,
    NumberRange::whole(INT32_MIN, INT32_MAX), "-100"};
static constexpr ObjectiveParameter kClassWeights = {
    kClassWeightsArgument, Kind::weights, {0, FLT_MAX}, "[1, ...]"};

static constexpr ObjectiveParameter kCrossEntropy[] = {
    kAxis,
    kIgnoreIndex,
    {kSmoothingArgument, Kind::number, NumberRange::unit(), "0"},
    kClassWeights};
static constexpr ObjectiveParameter kNll[] = {kAxis, kIgnoreIndex,
                                              kClassWeights};
static constexpr ObjectiveParameter kKl[] = {
    kAxis, {kLogTargetArgument, Kind::flag, {}, "false"}};
static constexpr ObjectiveParameter kClassFocal[] = {
    {kGammaArgument, Kind::number, {0, FLT_MAX}, "2"}, kAxis, kIgnoreIndex};
static constexpr ObjectiveParameter kDistillation[] = {
    {kTemperatureArgument, Kind::number, NumberRange::positive(), "1"}, kAxis};
static constexpr ObjectiveParameter kPolicyGradient[] = {
    {kAdvantageArgument, Kind::tensor, {}, ""}, kAxis, kIgnoreIndex};
static constexpr ObjectiveParameter kMultiMargin[] = {
    kAxis,
    {kPowerArgument, Kind::integer, NumberRange::whole(1, 2), "1"},
    kMargin,
    kIgnoreIndex,
    kClassWeights};

//===----------------------------------------------------------------------===//
// Losses of differences
//===----------------------------------------------------------------------===//

static Value buildDifference(const ObjectiveOperands &operands) {
  return operands.tensors.binary<SubOp>(operands.output, buildTarget(operands));
}

/// Draws normal numbers of variance 1/2.
static Value drawNoise(TensorBuilder &tensors, const RandomKeys &keys,
                       Value like) {
  Value u = drawUniform(tensors, keys, like);
  Value v = drawUniform(tensors, keys, like, "/angle");
  return tensors.makeNormal(u, v);
}

/// Builds squared differences. Targets are drawn from the normal distribution
/// around the output with variance 1/2, whose negative logarithm is the squared
/// difference.
static Loss buildMse(const ObjectiveOperands &operands,
                     const std::optional<RandomKeys> &keys) {
  TensorBuilder &tensors = operands.tensors;
  Value difference = buildDifference(operands);
  Loss loss = countAll(tensors, tensors.binary<MulOp>(difference, difference));
  // The target is the output plus noise. With the noise constant, the squared
  // difference has the same gradient as -2 * noise * output.
  if (keys)
    loss.drawnLosses = tensors.binary<MulOp>(
        operands.output,
        tensors.binary<MulOp>(drawNoise(tensors, *keys, operands.output), -2));
  return loss;
}

/// Builds absolute differences. Targets are drawn from the Laplace distribution
/// around the output, whose negative logarithm is the absolute difference: the
/// gradient is 1 or -1, each with the probability 1/2.
static Loss buildL1(const ObjectiveOperands &operands,
                    const std::optional<RandomKeys> &keys) {
  TensorBuilder &tensors = operands.tensors;
  Loss loss =
      countAll(tensors, tensors.unary<AbsOp>(buildDifference(operands)));
  if (!keys)
    return loss;
  Value output = operands.output;
  Value isAbove = tensors.compare(ComparePredicate::less,
                                  drawUniform(tensors, *keys, output), 0.5);
  loss.drawnLosses =
      tensors.select(isAbove, output, tensors.unary<NegOp>(output));
  return loss;
}

static constexpr ObjectiveParameter kHuber[] = {
    {"delta", Kind::number, {1e-6, FLT_MAX}, "1"}};

/// Builds d²/2 up to |d| = delta, and the tangent beyond: with m = min(|d|,
/// delta) both are m (|d| - m/2). Source: P. J. Huber, "Robust estimation of a
/// location parameter", 1964.
static Loss buildHuber(const ObjectiveOperands &operands,
                       const std::optional<RandomKeys> &) {
  TensorBuilder &tensors = operands.tensors;
  Value distance = tensors.unary<AbsOp>(buildDifference(operands));
  Value most = getNumberLike(operands, "delta", 1, distance);
  Value near = tensors.binary<MinOp>(distance, most);
  Value rest =
      tensors.binary<SubOp>(distance, tensors.binary<MulOp>(near, 0.5));
  return countAll(tensors, tensors.binary<MulOp>(near, rest));
}

static constexpr ObjectiveParameter kSmoothL1[] = {
    {"beta", Kind::number, {0, FLT_MAX}, "1"}};

/// Builds d² / (2 beta) below |d| = beta, and |d| - beta / 2 beyond, which is
/// |d| for beta = 0. The divisor isn't zero even where it isn't used, so that
/// the gradient is a number.
static Loss buildSmoothL1(const ObjectiveOperands &operands,
                          const std::optional<RandomKeys> &) {
  TensorBuilder &tensors = operands.tensors;
  Value difference = buildDifference(operands);
  Value distance = tensors.unary<AbsOp>(difference);
  Value beta = getNumberLike(operands, "beta", 1, distance);
  Value divisor = tensors.select(
      tensors.compare(ComparePredicate::greater, beta, 0.0),
      tensors.binary<MulOp>(beta, 2), tensors.splatLike(beta, 1));
  Value near = tensors.binary<DivOp>(
      tensors.binary<MulOp>(difference, difference), divisor);
  Value far = tensors.binary<SubOp>(distance, tensors.binary<MulOp>(beta, 0.5));
  return countAll(
      tensors,
      tensors.select(tensors.compare(ComparePredicate::less, distance, beta),
                     near, far));
}

//===----------------------------------------------------------------------===//
// Losses of distributions
//===----------------------------------------------------------------------===//

/// Builds e^x - t x, where x is the logarithm of the rate.
static Loss buildPoisson(const ObjectiveOperands &operands,
                         const std::optional<RandomKeys> &) {
  TensorBuilder &tensors = operands.tensors;
  Value output = operands.output;
  return countAll(tensors,
                  tensors.binary<SubOp>(
                      tensors.unary<ExpOp>(output),
                      tensors.binary<MulOp>(buildTarget(operands), output)));
}

static constexpr ObjectiveParameter kGaussian[] = {
    {"variance", Kind::tensor, {}, ""},
    {"eps", Kind::number, NumberRange::positive(), "1e-6"}};

static ObjectiveError checkGaussian(const ObjectiveArguments &arguments,
                                    ObjectiveTypes types) {
  ObjectiveError wrong = checkValues(types);
  return wrong ? wrong
               : checkTensor(arguments, "variance", types.output.getShape());
}

/// Builds (log v + d² / v) / 2, where v is the variance or, if that is smaller,
/// `eps`. As in PyTorch, the gradient with respect to a smaller variance is the
/// one at `eps`: the difference between both is a constant.
static Loss buildGaussian(const ObjectiveOperands &operands,
                          const std::optional<RandomKeys> &) {
  TensorBuilder &tensors = operands.tensors;
  Value given = getTensorLike(operands, "variance", operands.output);
  Value least = getNumberLike(operands, "eps", 1e-6, given);
  Value constant = tensors.unary<StopGradientOp>(given);
  Value variance =
      tensors.binary<AddOp>(tensors.binary<MaxOp>(constant, least),
                            tensors.binary<SubOp>(given, constant));
  Value difference = buildDifference(operands);
  Value square = tensors.binary<MulOp>(difference, difference);
  Value sum = tensors.binary<AddOp>(tensors.unary<LogOp>(variance),
                                    tensors.binary<DivOp>(square, variance));
  return countAll(tensors, tensors.binary<MulOp>(sum, 0.5));
}

//===----------------------------------------------------------------------===//
// Losses of logits
//===----------------------------------------------------------------------===//

static constexpr ObjectiveParameter kBinary[] = {
    {"pos_weight", Kind::weights, {0, FLT_MAX}, "1"}};

static ObjectiveError checkBinary(const ObjectiveArguments &arguments,
                                  ObjectiveTypes types) {
  ObjectiveError wrong = checkValues(types);
  ArrayRef<double> weights = arguments.getWeights("pos_weight");
  if (wrong || weights.size() == 1)
    return wrong;
  return checkCount(
      weights, types.output.getRank() > 1 ? types.output.getShape().back() : 1,
      "'pos_weight' is one number, or one for each element of the last axis",
      types);
}

/// Returns the weights of ones, broadcast to the output's shape; null if all
/// are 1.
static Value getPositiveWeights(const ObjectiveOperands &operands) {
  TensorBuilder &tensors = operands.tensors;
  ArrayRef<double> numbers = operands.arguments.getWeights("pos_weight");
  if (numbers.empty())
    return {};
  if (numbers.size() == 1)
    return tensors.splatLike(operands.output, numbers.front());
  RankedTensorType type = operands.getTypes().output;
  return tensors.broadcast(
      tensors.list(numbers, cast<FloatType>(type.getElementType())),
      type.getShape(), type.getRank() - 1);
}

/// Builds (1 - t) x + log(1 + e^-x), which is accurate for large x of either
/// sign. With weights p of ones, the logarithm is multiplied by 1 - t + p t.
/// Targets are drawn as ones and zeros with the logits' probabilities; with
/// weights, the drawn losses are multiplied by the root of this factor.
static Loss buildBinaryCrossEntropy(const ObjectiveOperands &operands,
                                    const std::optional<RandomKeys> &keys) {
  TensorBuilder &tensors = operands.tensors;
  Value output = operands.output, target = buildTarget(operands);
  Value positive = getPositiveWeights(operands);
  Value total;
  auto build = [&](Value of, bool isWeighted) {
    Value other = tensors.binary<SubOp>(tensors.splatLike(of, 1), of);
    Value tail = tensors.unary<SoftplusOp>(tensors.unary<NegOp>(output));
    if (isWeighted) {
      total = tensors.binary<AddOp>(other, tensors.binary<MulOp>(positive, of));
      tail = tensors.binary<MulOp>(total, tail);
    }
    return tensors.binary<AddOp>(tensors.binary<MulOp>(other, output), tail);
  };
  Loss loss = countAll(tensors, build(target, static_cast<bool>(positive)));
  if (!keys)
    return loss;
  Value isOne = tensors.compare(ComparePredicate::less,
                                drawUniform(tensors, *keys, output),
                                tensors.unary<SigmoidOp>(output));
  loss.drawnLosses =
      build(tensors.cast(isOne, getElementType(output)), /*isWeighted=*/false);
  if (total)
    loss.drawnLosses =
        tensors.binary<MulOp>(loss.drawnLosses, tensors.unary<SqrtOp>(total));
  return loss;
}

static constexpr ObjectiveParameter kFocal[] = {
    {"alpha", Kind::number, NumberRange::unit(), "0.25"},
    {kGammaArgument, Kind::number, {0, FLT_MAX}, "2"}};

/// Builds the binary cross-entropy times a (1 - q)^gamma, where q is the
/// probability of the label, and a is alpha for ones and 1 - alpha for zeros
/// (T.-Y. Lin et al., "Focal loss for dense object detection", 2017).
static Loss buildFocal(const ObjectiveOperands &operands,
                       const std::optional<RandomKeys> &) {
  TensorBuilder &tensors = operands.tensors;
  Value output = operands.output, target = buildTarget(operands);
  auto rest = [&](Value of) {
    return tensors.binary<SubOp>(tensors.splatLike(of, 1), of);
  };
  auto mix = [&](Value ofOne, Value ofZero) {
    return tensors.binary<AddOp>(tensors.binary<MulOp>(ofOne, target),
                                 tensors.binary<MulOp>(ofZero, rest(target)));
  };
  Value probability = tensors.unary<SigmoidOp>(output);
  Value opposite = tensors.unary<NegOp>(output);
  Value alpha = getNumberLike(operands, "alpha", 0.25, output);
  Value gamma = getNumberLike(operands, kGammaArgument, 2, output);
  Value miss = mix(tensors.unary<SigmoidOp>(opposite), probability);
  Value entropy =
      tensors.binary<AddOp>(tensors.binary<MulOp>(rest(target), output),
                            tensors.unary<SoftplusOp>(opposite));
  Value factor = tensors.binary<MulOp>(mix(alpha, rest(alpha)),
                                       tensors.binary<PowOp>(miss, gamma));
  return countAll(tensors, tensors.binary<MulOp>(factor, entropy));
}

//===----------------------------------------------------------------------===//
// Losses of margins and of embeddings
//===----------------------------------------------------------------------===//

static constexpr ObjectiveParameter kHinge[] = {kMargin};
static constexpr ObjectiveParameter kTriplet[] = {
    {kNegativeArgument, Kind::tensor, {}, ""},
    kMargin,
    {kSwapArgument, Kind::flag, {}, "false"}};
static constexpr ObjectiveParameter kContrastive[] = {
    {kAlikeArgument, Kind::tensor, {}, ""}, kMargin};
static constexpr ObjectiveParameter kPairs[] = {
    {kAlikeArgument, Kind::tensor, {}, ""}, kNoMargin};
static constexpr ObjectiveParameter kNtXent[] = {
    {kTemperatureArgument, Kind::number, NumberRange::positive(), "0.5"}};
static constexpr ObjectiveParameter kInfoNce[] = {
    {kTemperatureArgument, Kind::number, NumberRange::positive(), "0.07"}};

//===----------------------------------------------------------------------===//
// Losses of sequences
//===----------------------------------------------------------------------===//

static constexpr ObjectiveParameter kCtc[] = {
    {kInputLengthArgument, Kind::tensor, {}, "all steps"},
    {kLabelLengthArgument, Kind::tensor, {}, "all elements"},
    {kBlankArgument, Kind::integer, NumberRange::whole(0, INT32_MAX), "0"},
    {kZeroInfinityArgument, Kind::flag, {}, "false"},
    kAxis,
    kIgnoreIndex};

//===----------------------------------------------------------------------===//
// The table of losses
//===----------------------------------------------------------------------===//

static constexpr LossInfo kLosses[] = {
    {"cross_entropy", kCrossEntropy,
     "logits along `axis`; labels are class indices, in the shape of the "
     "output without this axis; labels equal to `ignore_index` don't count. Or "
     "labels are floats in the output's shape: probabilities of the classes",
     "class numbers, or probabilities in the output's shape",
     classifyClassesOrProbabilities, checkCrossEntropy, buildCrossEntropy},
    {"nll", kNll,
     "like `cross_entropy` with class indices, but of log-probabilities",
     "class numbers", classifyClassNumbers, checkNll, buildNll},
    {"kl", kKl,
     "Kullback-Leibler divergence of the labels from the output: labels are "
     "probabilities along `axis`, or their logarithms with `log_target = "
     "true`, outputs are log-probabilities; the sum over `axis`, as with "
     "PyTorch's `batchmean`",
     "probabilities in the output's shape", /*classify=*/nullptr, checkKl,
     buildKl},
    {"mse",
     {},
     "squared differences",
     "a label in the output's shape",
     /*classify=*/nullptr,
     checkElements,
     buildMse},
    {"l1",
     {},
     "absolute differences",
     "a label in the output's shape",
     /*classify=*/nullptr,
     checkElements,
     buildL1},
    {"huber", kHuber,
     "half the squared difference up to an absolute difference of `delta`; for "
     "larger ones `delta` times (the absolute difference - `delta` / 2)",
     "a label in the output's shape", /*classify=*/nullptr, checkElements,
     buildHuber, /*draws=*/false},
    {"smooth_l1", kSmoothL1,
     "half the squared difference / `beta` below an absolute difference of "
     "`beta`; larger ones minus `beta` / 2",
     "a label in the output's shape", /*classify=*/nullptr, checkElements,
     buildSmoothL1, /*draws=*/false},
    {"poisson",
     {},
     "negative log-likelihood of counts: outputs are logarithms of rates; "
     "without the term that only depends on the label",
     "a label in the output's shape",
     /*classify=*/nullptr,
     checkElements,
     buildPoisson,
     /*draws=*/false},
    {"gaussian", kGaussian,
     "negative log-likelihood of normal distributions with the output as mean "
     "and `variance`, which is at least `eps`; without the constant",
     "a label in the output's shape", /*classify=*/nullptr, checkGaussian,
     buildGaussian, /*draws=*/false},
    {"binary_cross_entropy", kBinary,
     "outputs are logits, labels are probabilities, both of the same shape",
     "a label in the output's shape", /*classify=*/nullptr, checkBinary,
     buildBinaryCrossEntropy},
    {"focal", kFocal,
     "`binary_cross_entropy` times (1 - q)^`gamma`, where q is the probability "
     "of the label, and times `alpha` for ones, 1 - `alpha` for zeros",
     "a label in the output's shape", /*classify=*/nullptr, checkElements,
     buildFocal, /*draws=*/false},
    {"class_focal", kClassFocal,
     "`cross_entropy` with class indices times (1 - q)^`gamma`, where q is the "
     "probability of the label's class",
     "class numbers", classifyClassNumbers, checkNll, buildClassFocal,
     /*draws=*/false},
    {"distillation", kDistillation,
     "`temperature`² times the Kullback-Leibler divergence from `teacher`, "
     "both "
     "logits along `axis` that are divided by `temperature` first; the "
     "teacher's gradient isn't followed",
     "logits in the output's shape", /*classify=*/nullptr, checkKl,
     buildDistillation, /*draws=*/false, "teacher"},
    {"soft_margin",
     {},
     "log(1 + exp(-label · output)); labels are 1 and -1",
     "a label in the output's shape",
     /*classify=*/nullptr,
     checkElements,
     buildSoftMargin,
     /*draws=*/false},
    {"margin_ranking", kPairs,
     "max(0, `margin` - label · (output - other)); the label is 1 where the "
     "output should be larger, and -1 where `other` should be",
     "scores in the output's shape", /*classify=*/nullptr, checkMarginRanking,
     buildMarginRanking, /*draws=*/false, "other"},
    {"hinge", kHinge, "max(0, `margin` - label · output); labels are 1 and -1",
     "a label in the output's shape", /*classify=*/nullptr, checkElements,
     buildHinge, /*draws=*/false},
    {"hinge_embedding", kHinge,
     "the output where the label is 1, and max(0, `margin` - output) where it "
     "is -1",
     "a label in the output's shape", /*classify=*/nullptr, checkElements,
     buildHingeEmbedding, /*draws=*/false},
    {"multi_margin", kMultiMargin,
     "sum of max(0, `margin` - output of the label's class + output)^`p` over "
     "all other classes along `axis`, divided by the number of classes; "
     "`class_weights` don't change the mean's divisor",
     "class numbers", classifyClassNumbers, checkNll, buildMultiMargin,
     /*draws=*/false},
    {"triplet", kTriplet,
     "max(0, distance to `positive` - distance to `negative` + `margin`) of "
     "vectors along the last axis; `swap`: the smaller one of the distances "
     "of output and `positive` to `negative`",
     "vectors in the output's shape", /*classify=*/nullptr, checkTriplet,
     buildTriplet, /*draws=*/false, "positive"},
    {"contrastive", kContrastive,
     "half the squared distance of the vectors `output` and `other` where "
     "`label` is 1, and half of max(0, `margin` - distance)² where it is 0",
     "vectors in the output's shape", /*classify=*/nullptr, checkContrastive,
     buildContrastive, /*draws=*/false, "other"},
    {"cosine_embedding", kPairs,
     "1 - the cosine of the vectors `output` and `other` where `label` is 1, "
     "and "
     "max(0, cosine - `margin`) where it is -1",
     "vectors in the output's shape", /*classify=*/nullptr, checkContrastive,
     buildCosineEmbedding, /*draws=*/false, "other"},
    {"nt_xent", kNtXent,
     "like `info_nce`, but a vector's own one is to be found among the others "
     "of both `output` and `other`, as in SimCLR; needs whole batches",
     "vectors of shape [batch, n]", /*classify=*/nullptr, checkInfoNce,
     buildNtXent, /*draws=*/false, "other"},
    {"info_nce", kInfoNce,
     "cross entropy by which a sample finds its own vector in `other` among "
     "those of its batch, and the reverse: the mean of both, of cosines "
     "divided by `temperature`, as in CLIP; needs whole batches",
     "vectors of shape [batch, n]", /*classify=*/nullptr, checkInfoNce,
     buildInfoNce, /*draws=*/false, "other"},
    {"policy_gradient", kPolicyGradient,
     "`cross_entropy` with class indices, the actions taken, times "
     "`advantage`, "
     "whose gradient isn't followed",
     "class numbers", classifyClassNumbers, checkPolicyGradient,
     buildPolicyGradient, /*draws=*/false},
    {"ctc", kCtc,
     "connectionist temporal classification: the negative logarithm of the sum "
     "of the probabilities of all alignments of the label to the steps of the "
     "output, divided by the label's length; outputs are logits along `axis`",
     "a list of class numbers for each sample", classifyClassNumbers, checkCtc,
     buildCtc, /*draws=*/false, "label", limitCtc},
    {"orthogonality",
     {},
     "Frobenius norm of A Aᵀ - 1, where A is the matrix that the output has "
     "for "
     "each sample; takes no label",
     "an output of shape [batch, n, m]",
     /*classify=*/nullptr,
     checkOrthogonality,
     buildOrthogonality,
     /*draws=*/false,
     ""},
};

static std::vector<LossInfo> &getTable() {
  static std::vector<LossInfo> table(std::begin(kLosses), std::end(kLosses));
  return table;
}

llvm::ArrayRef<LossInfo> mlir::hfta::getLosses() { return getTable(); }

const LossInfo *mlir::hfta::findLoss(llvm::StringRef name) {
  return findByName(getLosses(), name);
}

ScratchLoss::ScratchLoss(const LossInfo &loss) { getTable().push_back(loss); }
ScratchLoss::~ScratchLoss() { getTable().pop_back(); }
