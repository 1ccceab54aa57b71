//===- TimelineSvg.cpp - Timelines as drawings ----------------------------===//

#include "Hfta/Planning/Common/Timeline.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <iterator>

using namespace mlir::hfta;
using namespace mlir::hfta::planning;

//===----------------------------------------------------------------------===//
// Kinds of bars
//===----------------------------------------------------------------------===//

namespace {
/// The style of a kind of bars. The colours are those of Okabe and Ito, which
/// people with all kinds of colour vision can distinguish. Letters have a
/// contrast of at least 4.5 : 1.
struct BarStyle {
  BarKind kind;
  const char *name;
  const char *colour;
  const char *textColour;
  int lane; ///< 0: the worker's own lane; greater: thin lanes below it
};
} // namespace

static constexpr BarStyle kStyles[] = {
    {BarKind::forward, "forward", "#0072b2", "#ffffff", 0},
    {BarKind::recompute, "recompute", "#56b4e9", "#000000", 0},
    {BarKind::backward, "backward", "#e69f00", "#000000", 0},
    {BarKind::backwardInput, "backward of inputs", "#e69f00", "#000000", 0},
    {BarKind::backwardWeight, "backward of weights", "#009e73", "#000000", 0},
    {BarKind::invert, "inverses", "#000000", "#ffffff", 0},
    {BarKind::precondition, "precondition", "#d55e00", "#000000", 0},
    {BarKind::update, "update", "#f0e442", "#000000", 0},
    {BarKind::other, "other work", "#bbbbbb", "#000000", 0},
    {BarKind::value, "values sent", "#0072b2", "#ffffff", 1},
    {BarKind::inverse, "inverses sent", "#000000", "#ffffff", 1},
    {BarKind::gradient, "gradients sent", "#e69f00", "#000000", 2},
    {BarKind::direction, "preconditioned gradients sent", "#d55e00", "#000000",
     2},
    {BarKind::sum, "sums of gradients", "#cc79a7", "#000000", 3},
    {BarKind::factorSum, "sums of factors", "#56b4e9", "#000000", 3},
    {BarKind::read, "reads from the store", "#0072b2", "#ffffff", 1},
    {BarKind::write, "writes to the store", "#d55e00", "#000000", 2},
};
static constexpr int kLanes = 4;

static const BarStyle &getStyle(BarKind kind) {
  const BarStyle &style = kStyles[static_cast<size_t>(kind)];
  assert(style.kind == kind && "in the order of the kinds");
  return style;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// Escapes a text for XML: replaces markup, and characters that XML forbids.
static std::string escape(llvm::StringRef text) {
  std::string valid = llvm::json::fixUTF8(text);
  for (char &c : valid)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      c = ' ';
  std::string escaped;
  llvm::raw_string_ostream os(escaped);
  llvm::printHTMLEscaped(valid, os);
  return escaped;
}

/// Prints a number with at most two digits after the point, without trailing
/// zeros.
static std::string format(double number) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.2f", number);
  llvm::StringRef shown = text;
  shown = shown.rtrim('0').rtrim('.');
  return (shown == "-0" ? "0" : shown).str();
}

namespace {
struct TimeUnit {
  const char *name;
  double seconds;
};
} // namespace

/// Returns the largest unit of which the time is at least one; microseconds for
/// shorter times.
static TimeUnit getUnit(double seconds) {
  static constexpr TimeUnit kUnits[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}};
  for (const TimeUnit &unit : kUnits)
    if (seconds >= unit.seconds)
      return unit;
  return kUnits[2];
}

static std::string formatTime(double seconds, const TimeUnit &unit) {
  std::string text;
  llvm::raw_string_ostream(text)
      << llvm::format("%.6g", seconds / unit.seconds) << ' ' << unit.name;
  return text;
}

//===----------------------------------------------------------------------===//
// Drawing
//===----------------------------------------------------------------------===//

// Sizes in pixels, if the drawing isn't scaled.
static constexpr double kLeast = 720, kMost = 8000; // width of the rows
static constexpr double kDigit = 6.2;               // width of a digit
static constexpr double kBar = 20;                  // height of a worker's bars
static constexpr double kLane = 4; // height of the bars below them
static constexpr double kGap = 6;  // between rows
static constexpr double kTop = 62; // title and legend
static constexpr double kMargin = 12;

namespace {
class SvgWriter {
public:
  SvgWriter(const Timeline &timeline, llvm::raw_ostream &os)
      : timeline(timeline), os(os) {
    layOut();
  }

  void write();

private:
  void layOut();
  void writeHead();
  void writeLegend();
  void writeAxis();
  void writeRows();
  void writeBar(const TimelineBar &bar);
  void put(llvm::StringRef name, llvm::StringRef value);
  void putRectangle(BarKind kind, double x, double y, double wide, double high);
  void writeText(double x, double y, llvm::StringRef text,
                 llvm::StringRef kind = "");
  double getX(double seconds) const { return left + seconds * scale; }
  double getY(size_t row) const {
    return kTop + static_cast<double>(row) * rowHeight;
  }
  double getBottom() const { return getY(timeline.rows.size()); }

  const Timeline &timeline;
  llvm::raw_ostream &os;
  double length = 0;          ///< time of the drawing, in seconds
  double left = 0, width = 0; ///< left edge and width of the rows
  double scale = 0;           ///< pixels per second
  double rowHeight = 0;
  double laneY[kLanes] = {}; ///< offset from the row's top
  bool hasKind[std::size(kStyles)] = {};
  std::vector<double> busy; ///< seconds in which each row computes
};
} // namespace

/// Makes the drawing wide enough for three quarters of the labels.
void SvgWriter::layOut() {
  // The time of each bar, divided by the number of its label's characters.
  std::vector<double> widths;
  busy.resize(timeline.rows.size(), 0);
  bool hasLane[kLanes] = {true};
  for (const TimelineBar &bar : timeline.bars) {
    const BarStyle &style = getStyle(bar.kind);
    length = std::max(length, bar.end);
    hasKind[static_cast<size_t>(bar.kind)] = true;
    hasLane[style.lane] = true;
    if (style.lane > 0)
      continue;
    busy[bar.row] += bar.end - bar.begin;
    if (!bar.label.empty())
      widths.push_back((bar.end - bar.begin) /
                       static_cast<double>(bar.label.size() + 1));
  }
  width = kLeast;
  if (!widths.empty()) {
    auto small = widths.begin() + static_cast<ptrdiff_t>(widths.size() / 4);
    std::nth_element(widths.begin(), small, widths.end());
    if (*small > 0)
      width = std::clamp(length / *small * kDigit, kLeast, kMost);
  }
  scale = length > 0 ? width / length : 0;
  size_t longest = 0;
  for (const std::string &row : timeline.rows)
    longest = std::max(longest, row.size());
  left = 2 * kMargin + static_cast<double>(std::min<size_t>(longest, 60)) * 6.5;
  double y = kBar;
  for (int lane = 1; lane < kLanes; ++lane) {
    laneY[lane] = y;
    y += hasLane[lane] ? kLane : 0;
  }
  rowHeight = y + kGap;
}

/// Writes an attribute of the current element.
void SvgWriter::put(llvm::StringRef name, llvm::StringRef value) {
  os << ' ' << name << '=' << '"' << value << '"';
}

void SvgWriter::putRectangle(BarKind kind, double x, double y, double wide,
                             double high) {
  os << "<rect";
  put("class", "k" + std::to_string(static_cast<int>(kind)));
  put("x", format(x));
  put("y", format(y));
  put("width", format(wide));
  put("height", format(high));
}

void SvgWriter::writeText(double x, double y, llvm::StringRef text,
                          llvm::StringRef kind) {
  os << "<text";
  if (!kind.empty())
    put("class", kind);
  put("x", format(x));
  put("y", format(y));
  os << '>' << escape(text) << "</text>\n";
}

void SvgWriter::writeHead() {
  std::string all = format(left + width + 60 + kMargin);
  std::string height = format(getBottom() + 40);
  os << "<svg";
  put("xmlns", "http://www.w3.org/2000/svg");
  put("role", "img");
  put("width", all);
  put("height", height);
  put("viewBox", "0 0 " + all + " " + height);
  os << ">\n<title>" << escape(timeline.title) << "</title>\n<style>\n"
     << "text { font: 11px sans-serif; fill: #000000; }\n"
     << ".title { font-size: 14px; font-weight: bold; }\n"
     << ".label { font-size: 10px; text-anchor: middle; pointer-events: none; "
        "}\n"
     << ".mark { text-anchor: middle; }\n"
     << "line { stroke: #dddddd; }\n";
  for (const BarStyle &style : kStyles)
    if (hasKind[static_cast<size_t>(style.kind)]) {
      int number = static_cast<int>(style.kind);
      os << ".k" << number << " { fill: " << style.colour << "; }\n.t" << number
         << " { fill: " << style.textColour << "; }\n";
    }
  os << "</style>\n<rect";
  put("width", "100%");
  put("height", "100%");
  put("fill", "#ffffff");
  os << "/>\n";
  writeText(kMargin, 20, timeline.title, "title");
}

void SvgWriter::writeLegend() {
  double x = kMargin;
  for (const BarStyle &style : kStyles) {
    if (!hasKind[static_cast<size_t>(style.kind)])
      continue;
    double high = style.lane == 0 ? 12 : kLane;
    putRectangle(style.kind, x, 38 - high / 2, 16, high);
    os << "/>\n";
    writeText(x + 20, 42, style.name);
    x += 36 + 6 * static_cast<double>(llvm::StringRef(style.name).size());
  }
}

/// Writes the axis, with a mark about every hundred pixels, at round times.
void SvgWriter::writeAxis() {
  if (length <= 0)
    return;
  TimeUnit unit = getUnit(length);
  double wanted = 100 / scale;
  double step = std::pow(10, std::floor(std::log10(wanted)));
  if (step * 5 <= wanted)
    step *= 5;
  else if (step * 2 <= wanted)
    step *= 2;
  double y = getBottom();
  for (int64_t i = 0; static_cast<double>(i) * step <= length; ++i) {
    double seconds = static_cast<double>(i) * step;
    os << "<line";
    put("x1", format(getX(seconds)));
    put("y1", format(kTop - 4));
    put("x2", format(getX(seconds)));
    put("y2", format(y));
    os << "/>\n";
    writeText(getX(seconds), y + 14, formatTime(seconds, unit), "mark");
  }
  writeText(left, y + 30, "length " + formatTime(length, unit));
}

/// Writes the name of each row on its left, and the share of time in which its
/// worker computes on its right.
void SvgWriter::writeRows() {
  for (auto [row, name] : llvm::enumerate(timeline.rows)) {
    double y = getY(row) + 14;
    writeText(kMargin, y, name);
    if (length > 0)
      writeText(left + width + 6, y,
                format(std::round(100 * busy[row] / length)) + " % busy");
  }
}

void SvgWriter::writeBar(const TimelineBar &bar) {
  const BarStyle &style = getStyle(bar.kind);
  double x = getX(bar.begin), wide = (bar.end - bar.begin) * scale;
  double y = getY(bar.row) + laneY[style.lane];
  double high = style.lane == 0 ? kBar : kLane;
  // Leave a thin line of background between adjacent bars of one colour.
  putRectangle(bar.kind, x, y, std::max(wide - 0.6, 0.4), high - 0.6);
  if (bar.chunk > 0)
    put("fill-opacity",
        format(std::max(0.4, 1 - 0.3 * static_cast<double>(bar.chunk))));
  TimeUnit unit = getUnit(length);
  os << "><title>"
     << escape(bar.title + ", " + formatTime(bar.begin, unit) + " to " +
               formatTime(bar.end, unit))
     << "</title></rect>\n";
  bool hasRoom = wide >= kDigit * static_cast<double>(bar.label.size());
  if (bar.label.empty() || !hasRoom || style.lane != 0)
    return;
  // Black is most readable on the paler bars of later chunks.
  std::string kind = "label";
  if (bar.chunk == 0)
    kind += " t" + std::to_string(static_cast<int>(bar.kind));
  writeText(x + wide / 2, y + 14, bar.label, kind);
}

void SvgWriter::write() {
  writeHead();
  writeLegend();
  writeAxis();
  writeRows();
  for (const TimelineBar &bar : timeline.bars)
    writeBar(bar);
  os << "</svg>\n";
}

void planning::writeSvg(const Timeline &timeline, llvm::raw_ostream &os) {
  SvgWriter(timeline, os).write();
}
