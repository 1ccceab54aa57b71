//===- JobOptions.cpp - Command-line flags as parts of a job --------------===//

#include "Hfta/Language/Parser.h"
#include "Syntax/ParserImpl.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

/// Copies `text` into a new buffer of the SourceMgr, called `name`, so that
/// messages can quote it. Returns the copy.
static llvm::StringRef addBuffer(llvm::StringRef text, llvm::StringRef name,
                                 JobDiagnostics &diagnostics) {
  std::unique_ptr<llvm::MemoryBuffer> buffer =
      llvm::MemoryBuffer::getMemBufferCopy(text, name);
  llvm::StringRef stored = buffer->getBuffer();
  diagnostics.getSources().AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  return stored;
}

static llvm::SMRange rangeOf(llvm::StringRef text) {
  return {llvm::SMLoc::getFromPointer(text.begin()),
          llvm::SMLoc::getFromPointer(text.end())};
}

/// Returns the name that messages and locations use for a flag's text.
static std::string getBufferName(llvm::StringRef flag) {
  return ("--" + flag).str();
}

//===----------------------------------------------------------------------===//
// A job without a job file
//===----------------------------------------------------------------------===//

std::string hfta::makeJobName(llvm::StringRef text) {
  std::string name;
  for (char c : text)
    name += llvm::isAlnum(c) ? c : '_';
  if (name.empty() || llvm::isDigit(name.front()))
    name.insert(0, "model_");
  return name;
}

std::string hfta::quoteText(llvm::StringRef text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

/// Adds a job for the models in `models`. Everything else about it comes from
/// flags and defaults.
static void addModels(ast::JobFile &file, llvm::ArrayRef<std::string> models,
                      JobDiagnostics &diagnostics) {
  std::string name = makeJobName(llvm::sys::path::stem(models.front()));
  std::string text = "model " + name + " = onnx(";
  llvm::interleave(
      models, [&](const std::string &path) { text += quoteText(path); },
      [&] { text += ", "; });
  text += ")\ntrain " + name + " {\n  model " + name + "\n}\n";
  Parser(addBuffer(text, "command line", diagnostics), diagnostics)
      .parseFile(file);
  file.name = "command line";
}

//===----------------------------------------------------------------------===//
// Flags
//===----------------------------------------------------------------------===//

/// Splits a text at commas that are outside of strings and brackets.
static llvm::SmallVector<llvm::StringRef> splitFields(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> parts;
  size_t begin = 0;
  int nesting = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        inString = false;
    } else if (c == '"') {
      inString = true;
    } else if (c == '(' || c == '[') {
      ++nesting;
    } else if (c == ')' || c == ']') {
      --nesting;
    } else if (c == ',' && nesting <= 0) {
      parts.push_back(text.slice(begin, i));
      begin = i + 1;
    }
  }
  parts.push_back(text.substr(std::min(begin, text.size())));
  return parts;
}

/// Returns whether a field's value is an expression, as in a job file, rather
/// than the bare name of a file.
static bool isExpression(llvm::StringRef value) {
  if (value.starts_with("\"") || value.starts_with("(") ||
      value.starts_with("[") || value.starts_with("-"))
    return true;
  llvm::StringRef rest =
      value.drop_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
  return rest.size() != value.size() && rest.starts_with("(");
}

/// Removes a field's name from the beginning of `part` and stores it in `name`.
/// Inputs of ONNX models may have any name. A name that could be mistaken for a
/// type or a value must be quoted.
static bool takeFieldName(llvm::StringRef &part, ast::Identifier &name,
                          JobDiagnostics &diagnostics) {
  llvm::StringRef text = part.ltrim();
  size_t end =
      text.starts_with("\"") ? text.find('"', 1) + 1 : text.find_first_of(":=");
  name = {text.take_front(end).trim().trim('"').str(),
          rangeOf(text.take_front(end).trim())};
  if (end == 0 || name.name.empty()) {
    diagnostics.error(rangeOf(text), "expected a field's name",
                      "for example image=train-images.npy");
    return false;
  }
  part = text.substr(end);
  return true;
}

/// Parses `name[: type] = file` or `name[: type] = expression`.
static bool parseFlagField(llvm::StringRef part, ast::Binding &field,
                           JobDiagnostics &diagnostics) {
  llvm::StringRef rest = part;
  if (part.contains('=') && !takeFieldName(rest, field.name, diagnostics))
    return false;
  size_t equal = rest.find('=');
  if (equal == llvm::StringRef::npos) {
    llvm::StringRef place = part.trim().empty() ? part : part.trim();
    diagnostics.error(rangeOf(place), "expected 'field=file'",
                      "for example image=train-images.npy,label=labels.npy");
    return false;
  }
  llvm::StringRef value = rest.substr(equal + 1).trim();
  if (isExpression(value)) {
    Parser parser(rest, diagnostics);
    return parser.parseFieldRest(field, /*needsValue=*/true) &&
           parser.expectEnd();
  }
  Parser parser(rest.take_front(equal), diagnostics);
  if (!parser.parseFieldRest(field, /*needsValue=*/false) ||
      !parser.expectEnd())
    return false;
  if (value.empty()) {
    diagnostics.error(rangeOf(rest.substr(equal, 1)),
                      "expected a file after '='",
                      "for example " + field.name.name + "=images.npy");
    return false;
  }
  auto path = std::make_unique<ast::StringExpression>(rangeOf(value));
  path->value = value.str();
  field.value = std::move(path);
  return true;
}

static ast::ExpressionPtr makeName(llvm::StringRef name, llvm::SMRange range) {
  auto expression = std::make_unique<ast::NameExpression>(range);
  expression->name = name.str();
  return expression;
}

/// Returns the train block's clause with this keyword, and adds it if there is
/// none.
static ast::Clause &getClause(ast::TrainDeclaration &train,
                              llvm::StringRef keyword, llvm::SMRange range) {
  for (ast::Clause &clause : train.clauses)
    if (clause.keyword.name == keyword)
      return clause;
  train.clauses.push_back({{keyword.str(), range}, {}, range, {}});
  return train.clauses.back();
}

/// Returns the data block that the train block uses, and adds it if there is
/// none.
static ast::DataDeclaration &getData(ast::JobFile &file, llvm::SMRange range) {
  ast::TrainDeclaration &train = file.trains.front().declaration;
  ast::Clause &clause = getClause(train, "data", range);
  std::string name = "data";
  if (clause.arguments.empty() || clause.arguments.front().name) {
    ast::Argument argument;
    argument.value = makeName(name, range);
    clause.arguments.insert(clause.arguments.begin(), std::move(argument));
  } else if (auto *used = llvm::dyn_cast<ast::NameExpression>(
                 clause.arguments.front().value.get())) {
    name = used->name;
  }
  for (ast::Positioned<ast::DataDeclaration> &data : file.data)
    if (data.declaration.name.name == name)
      return data.declaration;
  file.data.push_back({{}, 0});
  file.data.back().declaration.name = {name, range};
  return file.data.back().declaration;
}

static void addDataFlag(ast::JobFile &file, llvm::StringRef partName,
                        llvm::StringRef text, JobDiagnostics &diagnostics) {
  llvm::SMRange range = rangeOf(text);
  ast::DataPart &part = *getData(file, range).findPart(partName);
  part.range = range;
  part.fields.clear();
  for (llvm::StringRef piece : splitFields(text)) {
    ast::Binding field;
    if (parseFlagField(piece, field, diagnostics))
      part.fields.push_back(std::move(field));
  }
}

/// Adds a flag's setting as a named argument of the clause to which it belongs.
static void addArgument(ast::JobFile &file, const SettingInfo &info,
                        llvm::StringRef text, JobDiagnostics &diagnostics) {
  llvm::StringRef name = info.getArgument();
  llvm::SMRange range = rangeOf(text);
  Parser parser(text, diagnostics);
  ast::Argument setting;
  setting.name = {name.str(), range};
  setting.value = parser.parseExpression();
  if (!setting.value || !parser.expectEnd())
    return;
  if (info.clause == "data")
    getData(file, range);
  ast::Clause &clause =
      getClause(file.trains.front().declaration, info.clause, range);
  for (ast::Argument &argument : clause.arguments) {
    if (argument.name.name == name) {
      argument = std::move(setting);
      return;
    }
  }
  clause.arguments.push_back(std::move(setting));
}

/// Parses `axis=size`, where the axis may have any name.
static bool parseFlagDim(llvm::StringRef part, ast::Argument &argument,
                         JobDiagnostics &diagnostics) {
  size_t equal = part.rfind('=');
  llvm::StringRef name = part.take_front(equal).trim();
  if (equal == llvm::StringRef::npos || name.empty()) {
    diagnostics.error(rangeOf(part), "expected 'axis=size'",
                      "for example tokens=128");
    return false;
  }
  argument.name = {name.trim('"').str(), rangeOf(name)};
  Parser parser(part.substr(equal + 1), diagnostics);
  argument.value = parser.parseExpression();
  return argument.value && parser.expectEnd();
}

static bool parseFlagClause(llvm::StringRef text, ast::Clause &clause,
                            JobDiagnostics &diagnostics) {
  if (clause.keyword.name != "dim")
    return Parser(text, diagnostics).parseClauseArguments(clause, true);
  bool ok = true;
  for (llvm::StringRef part : splitFields(text)) {
    ast::Argument argument;
    if (parseFlagDim(part, argument, diagnostics))
      clause.arguments.push_back(std::move(argument));
    else
      ok = false;
  }
  return ok;
}

/// Returns the keyword that a flag sets, such as "micro_batches" for
/// "micro-batches".
static std::string getKeyword(const JobFlag &flag) {
  std::string keyword = flag.name;
  llvm::replace(keyword, '-', '_');
  return keyword;
}

static void addFlag(ast::JobFile &file, const JobFlag &flag,
                    JobDiagnostics &diagnostics) {
  llvm::StringRef text =
      addBuffer(flag.value, getBufferName(flag.name), diagnostics);
  llvm::StringRef part = flag.name;
  if (part.consume_back("-data"))
    return addDataFlag(file, part, text, diagnostics);
  std::string keyword = getKeyword(flag);
  const SettingInfo *setting = findSetting(keyword);
  if (setting && !setting->isClause() && !file.inference)
    return addArgument(file, *setting, text, diagnostics);
  ast::Clause clause;
  clause.range = rangeOf(text);
  clause.keyword = {keyword, clause.range};
  if (!parseFlagClause(text, clause, diagnostics))
    return;
  ast::TrainDeclaration &train = file.trains.front().declaration;
  if (isKeyword(keyword, setting_traits::Repeatable))
    train.clauses.push_back(std::move(clause));
  else
    getClause(train, keyword, clause.range) = std::move(clause);
}

/// Returns whether a flag also makes sense for a job without training.
static bool isForInference(const JobFlag &flag) {
  const KeywordInfo *keyword = findByName(getKeywords(), getKeyword(flag));
  return keyword && keyword->traits & setting_traits::WithoutTraining;
}

void mlir::hfta::addJobOptions(ast::JobFile &file, const JobOptions &options,
                               JobDiagnostics &diagnostics) {
  if (!options.models.empty()) {
    addModels(file, options.models, diagnostics);
    file.inference = llvm::all_of(options.flags, isForInference);
  }
  if (file.trains.empty() || diagnostics.hasErrors())
    return;
  for (const JobFlag &flag : options.flags)
    addFlag(file, flag, diagnostics);
}
