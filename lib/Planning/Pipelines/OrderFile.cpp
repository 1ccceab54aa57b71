//===- OrderFile.cpp - Reads orders from tables of actions ----------------===//

#include "Hfta/Planning/Pipelines/Order.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir::hfta;
using namespace mlir::hfta::planning;

namespace {
/// Reads the rows of a table and remembers the column of each action, for
/// messages.
class OrderReader {
public:
  OrderReader(llvm::StringRef file, const PipelineShape &shape) : file(file) {
    order.shape = shape;
  }

  llvm::Error read(llvm::StringRef text);
  llvm::Error verify();
  Order take() { return std::move(order); }

private:
  llvm::Error readRow(llvm::StringRef row);
  void choosePlacement();
  bool hasPositions() const;
  size_t getColumn(const OrderProblem &problem) const;
  llvm::Error fail(size_t row, size_t column,
                   const llvm::Twine &message) const {
    return llvm::createStringError(file + ":" + llvm::Twine(row) + ":" +
                                   llvm::Twine(column) + ": " + message);
  }

  llvm::StringRef file;
  Order order;
  std::vector<ActionList> rows;             ///< one for each row of the file
  std::vector<std::vector<size_t>> columns; ///< column of each action, from 1
};
} // namespace

static std::optional<ActionKind> getKind(char letter) {
  switch (letter) {
  case 'F':
    return ActionKind::forward;
  case 'R':
    return ActionKind::recompute;
  case 'B':
    return ActionKind::backward;
  case 'I':
    return ActionKind::backwardInput;
  case 'W':
    return ActionKind::backwardWeight;
  default:
    return std::nullopt;
  }
}

/// Parses a text that consists of one action, such as "3F0".
static std::optional<Action> parseAction(llvm::StringRef text) {
  Action action;
  llvm::StringRef digits = text.take_while(llvm::isDigit);
  text = text.drop_front(digits.size());
  std::optional<ActionKind> kind =
      text.empty() ? std::nullopt : getKind(text.front());
  if (!kind || digits.getAsInteger(10, action.stage))
    return std::nullopt;
  text = text.drop_front();
  if (!llvm::all_of(text, llvm::isDigit) ||
      text.getAsInteger(10, action.microBatch))
    return std::nullopt;
  action.kind = *kind;
  return action;
}

/// Quotes a text for a message; shortens it, and replaces unprintable
/// characters.
static std::string quote(llvm::StringRef text) {
  static constexpr size_t kMostCharacters = 24;
  std::string shown;
  for (char c : text.take_front(kMostCharacters))
    shown += llvm::isPrint(c) ? c : '?';
  return "'" + shown + (text.size() > kMostCharacters ? "...'" : "'");
}

llvm::Error OrderReader::readRow(llvm::StringRef row) {
  ActionList list;
  std::vector<size_t> starts;
  for (llvm::StringRef rest = row; !rest.empty();) {
    llvm::StringRef field = rest.take_until([](char c) { return c == ','; });
    llvm::StringRef text = field.trim();
    if (!text.empty()) {
      size_t column = text.data() - row.data() + 1;
      std::optional<Action> action = parseAction(text);
      if (!action)
        return fail(rows.size() + 1, column,
                    "expected an action such as 0F0, 0B0, 0I0 or 0W0, got " +
                        quote(text));
      list.push_back(*action);
      starts.push_back(column);
    }
    rest = rest.drop_front(std::min(rest.size(), field.size() + 1));
  }
  rows.push_back(std::move(list));
  columns.push_back(std::move(starts));
  return llvm::Error::success();
}

llvm::Error OrderReader::read(llvm::StringRef text) {
  for (text = text.rtrim(); !text.empty();) {
    auto [row, rest] = text.split('\n');
    if (llvm::Error error = readRow(row))
      return error;
    text = rest;
  }
  choosePlacement();
  return llvm::Error::success();
}

/// Chooses the placement of chunks. With two chunks, the pipeline is V-shaped
/// if the first worker has the last stage.
void OrderReader::choosePlacement() {
  PipelineShape &shape = order.shape;
  int64_t last = shape.getStages() - 1;
  if (shape.chunks != 2 || rows.empty())
    return;
  bool isV = llvm::any_of(
      rows.front(), [&](const Action &action) { return action.stage == last; });
  shape.placement = isV ? ChunkPlacement::v : ChunkPlacement::loop;
}

/// Returns whether there is a row for each position rather than each worker.
bool OrderReader::hasPositions() const {
  return static_cast<int64_t>(columns.size()) != order.shape.getWorkers();
}

/// Returns the column, in its row, of the action that has a problem.
size_t OrderReader::getColumn(const OrderProblem &problem) const {
  if (problem.index < 0)
    return 1;
  if (!hasPositions())
    return columns[problem.worker][problem.index];
  // The worker leaves out the row's actions on micro-batches that it doesn't
  // have, so the action's index in the row may be greater than in the worker's
  // list.
  const PipelineShape &shape = order.shape;
  int64_t position = shape.getPositionOfWorker(problem.worker);
  int64_t own = shape.getMicroBatches(problem.worker).size();
  int64_t left = problem.index;
  for (auto [index, action] : llvm::enumerate(rows[position]))
    if (action.microBatch < own && left-- == 0)
      return columns[position][index];
  return 1;
}

llvm::Error OrderReader::verify() {
  const PipelineShape &shape = order.shape;
  int64_t workers = shape.getWorkers(), count = rows.size();
  if (count != workers && count != shape.getPositions())
    return fail(std::max<int64_t>(1, std::min(count, workers + 1)), 1,
                "expected a row for each of " + llvm::Twine(workers) +
                    " workers, got " + llvm::Twine(count));
  if (!hasPositions()) {
    order.workers = rows;
  } else {
    for (auto [row, list] : llvm::enumerate(rows)) {
      int64_t places = shape.getMicroBatches(shape.getFirstWorker(row)).size();
      for (auto [index, action] : llvm::enumerate(list))
        if (action.microBatch >= places)
          return fail(row + 1, columns[row][index],
                      "expected a micro-batch below " + llvm::Twine(places) +
                          " of the position's own in " + nameAction(action));
    }
    order.workers = getWorkerLists(shape, rows);
  }
  std::optional<OrderProblem> problem = verifyOrder(order);
  if (!problem)
    return llvm::Error::success();
  int64_t row = hasPositions() ? shape.getPositionOfWorker(problem->worker)
                               : problem->worker;
  return fail(row + 1, getColumn(*problem), problem->message);
}

llvm::Expected<Order> planning::readOrder(llvm::StringRef text,
                                          llvm::StringRef file,
                                          const PipelineShape &shape) {
  OrderReader reader(file, shape);
  if (llvm::Error error = reader.read(text))
    return error;
  if (llvm::Error error = reader.verify())
    return error;
  return reader.take();
}

static std::string nameList(const ActionList &list) {
  return llvm::join(llvm::map_range(list, nameAction), ",");
}

std::string planning::writeOrder(const Order &order) {
  std::string text;
  for (const ActionList &list : order.workers)
    text += nameList(list) + "\n";
  return text;
}

std::vector<std::string> planning::namePositionLists(const Order &order) {
  std::vector<std::string> rows;
  for (const ActionList &list : getPositionLists(order))
    rows.push_back(nameList(list));
  return rows;
}
