//===- Latency.cpp - The time of a batch in a pipeline --------------------===//

#include "Hfta/Planning/Pipelines/Latency.h"

#include <algorithm>
#include <limits>
#include <vector>

using namespace mlir::hfta::planning;
using llvm::ArrayRef;
using llvm::SmallVector;

SmallVector<int64_t, 8> mlir::hfta::planning::getInFlight(
    InFlightPolicy policy, ArrayRef<Station> stations, const Workload &workload,
    ArrayRef<int64_t> most) {
  int64_t stages = (stations.size() + 1) / 2;
  SmallVector<int64_t, 8> inFlight(stages);
  // The micro-batches in flight from this stage to the last one: one for each
  // lane.
  int64_t behind = 0;
  for (int64_t i = stages - 1; i >= 0; --i) {
    int64_t lanes = stations[2 * i].lanes;
    if (policy == InFlightPolicy::withLinks && i + 1 < stages)
      behind += stations[2 * i + 1].lanes;
    behind += lanes;
    int64_t rounds = stations[2 * i].getRounds(workload.microBatches);
    inFlight[i] =
        policy == InFlightPolicy::all ? rounds : (behind + lanes - 1) / lanes;
    inFlight[i] = std::min({inFlight[i], rounds, most[i]});
  }
  return inFlight;
}

//===----------------------------------------------------------------------===//
// The recursion
//===----------------------------------------------------------------------===//

namespace {

/// Computes when the forwards and backwards of all stations end, each as soon
/// as the times of its predecessors are known.
class Recursion {
public:
  Recursion(ArrayRef<Station> stations, ArrayRef<int64_t> inFlight,
            int64_t microBatches, Duplex duplex);

  double run();

private:
  struct State {
    /// The most micro-batches in flight, over all lanes. A link admits one less
    /// than the stage before it, or all if that stage admits all.
    int64_t window;
    /// Whether forwards and backwards exclude each other: not on links of full
    /// duplex.
    bool takesTurns;
    // The seconds at which forwards and backwards end, by micro-batch.
    std::vector<double> forward, backward;
    int64_t forwards = 0, backwards = 0; // the numbers that are done
  };

  void setWindows(ArrayRef<int64_t> inFlight, Duplex duplex);
  bool advanceForward(int64_t x);
  bool advanceBackward(int64_t x);
  int64_t getLastForward(int64_t x, int64_t i) const;

  ArrayRef<Station> stations;
  int64_t microBatches;
  std::vector<State> states;
};

} // namespace

Recursion::Recursion(ArrayRef<Station> stations, ArrayRef<int64_t> inFlight,
                     int64_t microBatches, Duplex duplex)
    : stations(stations), microBatches(microBatches), states(stations.size()) {
  for (State &state : states) {
    state.forward.resize(microBatches);
    state.backward.resize(microBatches);
  }
  setWindows(inFlight, duplex);
}

/// Sets the windows. If a station admitted more micro-batches than the station
/// before it releases, it would wait for micro-batches that wait for its own
/// backwards: a deadlock.
void Recursion::setWindows(ArrayRef<int64_t> inFlight, Duplex duplex) {
  int64_t before = microBatches;
  for (size_t x = 0; x < stations.size(); ++x) {
    State &state = states[x];
    int64_t lanes = stations[x].lanes;
    state.takesTurns = !stations[x].isLink || duplex == Duplex::half;
    if (!stations[x].isLink) {
      // Round up, as lanes without work don't wait.
      int64_t most = (before + lanes - 1) / lanes;
      state.window = std::max<int64_t>(1, std::min(inFlight[x / 2], most));
      if (state.window * lanes >= microBatches)
        before = microBatches;
      else
        before = state.window * lanes;
      state.window *= lanes;
      continue;
    }
    state.window =
        before == microBatches ? before : std::max<int64_t>(1, before - 1);
    if (state.takesTurns)
      before = state.window;
  }
}

/// Returns the last forward that comes before backward `i` on a station: in the
/// same lane, as many rounds later as the window allows.
int64_t Recursion::getLastForward(int64_t x, int64_t i) const {
  int64_t lanes = stations[x].isLink ? 1 : stations[x].lanes;
  int64_t rounds =
      std::min(states[x].window / lanes - 1, (microBatches - 1 - i) / lanes);
  return i + rounds * lanes;
}

bool Recursion::advanceForward(int64_t x) {
  State &state = states[x];
  const Station &station = stations[x];
  bool advanced = false;
  for (; state.forwards < microBatches; ++state.forwards) {
    int64_t i = state.forwards;
    double start = 0;
    if (x > 0) {
      if (states[x - 1].forwards <= i)
        break;
      start = states[x - 1].forward[i];
    }
    int64_t returned = i - state.window;
    if (state.takesTurns && returned >= 0) {
      if (state.backwards <= returned)
        break;
      start = std::max(start, state.backward[returned]);
    }
    if (i >= station.lanes)
      start = std::max(start, state.forward[i - station.lanes]);
    state.forward[i] = start + station.forward;
    advanced = true;
  }
  return advanced;
}

bool Recursion::advanceBackward(int64_t x) {
  State &state = states[x];
  const Station &station = stations[x];
  bool advanced = false;
  for (; state.backwards < microBatches; ++state.backwards) {
    int64_t i = state.backwards;
    int64_t last = state.takesTurns ? getLastForward(x, i) : i;
    if (state.forwards <= last)
      break;
    double start = state.forward[last];
    if (x + 1 < static_cast<int64_t>(states.size())) {
      if (states[x + 1].backwards <= i)
        break;
      start = std::max(start, states[x + 1].backward[i]);
    }
    if (i >= station.lanes)
      start = std::max(start, state.backward[i - station.lanes]);
    state.backward[i] = start + station.backward;
    advanced = true;
  }
  return advanced;
}

double Recursion::run() {
  int64_t count = states.size();
  bool advanced = true;
  while (advanced && states[0].backwards < microBatches) {
    advanced = false;
    for (int64_t x = 0; x < count; ++x)
      advanced |= advanceForward(x);
    for (int64_t x = count - 1; x >= 0; --x)
      advanced |= advanceBackward(x);
  }
  if (states[0].backwards < microBatches)
    return std::numeric_limits<double>::infinity();
  double latency = 0;
  for (int64_t x = 0; x < count; ++x) {
    // Replicas end at different times, so look at all micro-batches.
    double end =
        *std::max_element(states[x].backward.begin(), states[x].backward.end());
    latency = std::max(latency, end + stations[x].getEnd());
  }
  return latency;
}

double mlir::hfta::planning::getLatency(ArrayRef<Station> stations,
                                        ArrayRef<int64_t> inFlight,
                                        const Workload &workload,
                                        Duplex duplex) {
  // Extrapolate beyond some number of micro-batches, from which on each takes
  // as long as the one before.
  constexpr int64_t kMost = 4096;
  int64_t microBatches = workload.microBatches;
  if (microBatches <= kMost)
    return Recursion(stations, inFlight, microBatches, duplex).run();
  double most = Recursion(stations, inFlight, kMost, duplex).run();
  double half = Recursion(stations, inFlight, kMost / 2, duplex).run();
  return most + (most - half) / (kMost - kMost / 2) * (microBatches - kMost);
}

//===----------------------------------------------------------------------===//
// The estimate
//===----------------------------------------------------------------------===//

/// Returns the seconds between the first and the last micro-batch of a station
/// that is never idle.
static double getSteadyTime(const Station &station, const Workload &workload,
                            Duplex duplex) {
  double each = station.isLink && duplex == Duplex::full
                    ? std::max(station.forward, station.backward)
                    : station.forward + station.backward;
  return (station.getRounds(workload.microBatches) - 1) * each;
}

LatencyEstimate
mlir::hfta::planning::estimateLatency(ArrayRef<Station> stations,
                                      const Workload &workload, Duplex duplex) {
  int64_t count = stations.size();
  int64_t pivot = count - 1;
  double steady = getSteadyTime(stations[pivot], workload, duplex);
  // Forward and backward of all stations between the current one and the pivot,
  // which is the busiest.
  double between = 0;
  for (int64_t x = count - 2; x >= 0; --x) {
    double time = getSteadyTime(stations[x], workload, duplex);
    if (time > steady + between) {
      pivot = x;
      steady = time;
      between = 0;
    } else {
      between += stations[x].forward + stations[x].backward;
    }
  }
  double start = 0, end = -std::numeric_limits<double>::infinity();
  double behind = 0;
  for (int64_t x = 0; x <= pivot; ++x)
    start += stations[x].forward;
  for (int64_t x = pivot; x >= 0; --x) {
    behind += stations[x].backward;
    end = std::max(end, stations[x].getEnd() + behind);
  }
  double since = 0;
  for (int64_t x = pivot + 1; x < count; ++x) {
    end = std::max(end, stations[x].getEnd() - since);
    since += stations[x].backward;
  }
  return {start + steady + end, pivot};
}
