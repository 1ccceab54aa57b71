//===- SeatTraceTest.cpp - Traces of jobs and their seats -----------------===//

#include "RuntimeTest.h"
#include "hfta/json.h"

extern "C" {
#include "system/clock.h"
#include "trace/trace_seats.h"
}

#include <map>
#include <thread>

namespace {

/// The members of a JSON object. Keys of nested objects begin with the outer
/// key and a dot, such as "args.step".
using Element = std::map<std::string, std::string>;

/// Reads a value, including nested objects, and stores it under `key` in `out`.
void readValue(hfta_json_reader *reader, hfta_json_event event,
               const std::string &key, Element &out) {
  switch (event) {
  case HFTA_JSON_BEGIN_OBJECT:
    while ((event = hfta_json_next(reader)) == HFTA_JSON_KEY) {
      std::string own = key.empty() ? "" : key + ".";
      own += reader->string;
      readValue(reader, hfta_json_next(reader), own, out);
    }
    EXPECT_EQ(event, HFTA_JSON_END_OBJECT);
    break;
  case HFTA_JSON_STRING:
    out[key] = reader->string;
    break;
  case HFTA_JSON_INTEGER:
    out[key] = std::to_string(reader->integer);
    break;
  case HFTA_JSON_NUMBER:
    out[key] = std::to_string(reader->number);
    break;
  default:
    ADD_FAILURE() << "event " << event << " of '" << key << "'";
  }
}

/// Returns the elements of "traceEvents" in a file. Stores the members before
/// them in `head`.
std::vector<Element> readTrace(const std::string &path,
                               Element *head = nullptr) {
  std::string text = readFile(path);
  Element before;
  std::vector<Element> elements;
  hfta_json_reader reader;
  hfta_json_read(&reader, text.data(), text.size());
  EXPECT_EQ(hfta_json_next(&reader), HFTA_JSON_BEGIN_OBJECT);
  hfta_json_event event;
  while ((event = hfta_json_next(&reader)) == HFTA_JSON_KEY) {
    std::string key = reader.string;
    event = hfta_json_next(&reader);
    if (key != "traceEvents") {
      readValue(&reader, event, key, before);
      continue;
    }
    EXPECT_EQ(event, HFTA_JSON_BEGIN_ARRAY);
    while ((event = hfta_json_next(&reader)) == HFTA_JSON_BEGIN_OBJECT)
      readValue(&reader, event, "", elements.emplace_back());
    EXPECT_EQ(event, HFTA_JSON_END_ARRAY);
  }
  EXPECT_EQ(event, HFTA_JSON_END_OBJECT);
  EXPECT_EQ(hfta_json_next(&reader), HFTA_JSON_END) << reader.problem;
  hfta_json_read_end(&reader);
  if (head)
    *head = before;
  return elements;
}

std::vector<Element> choose(const std::vector<Element> &all,
                            const std::string &key, const std::string &value) {
  std::vector<Element> chosen;
  for (const Element &one : all)
    if (one.count(key) && one.at(key) == value)
      chosen.push_back(one);
  return chosen;
}

const char *const jobs[] = {"first", "second \"b\""};

using TracePointer =
    std::unique_ptr<hfta_seat_trace, void (*)(hfta_seat_trace *)>;

TracePointer openTrace(const std::string &path, uint32_t seats,
                       uint32_t places) {
  hfta_seat_trace *trace = nullptr;
  hfta_error error = {};
  EXPECT_EQ(hfta_seat_trace_open(path.c_str(), jobs, 2, seats, places, &trace,
                                 &error),
            HFTA_OK)
      << error.message;
  return TracePointer(trace, hfta_seat_trace_close);
}

int64_t finish(const TracePointer &trace) {
  int64_t dropped = -1;
  hfta_error error = {};
  EXPECT_EQ(hfta_seat_trace_finish(trace.get(), &dropped, &error), HFTA_OK)
      << error.message;
  return dropped;
}

TEST(SeatTrace, HasARowForEachPlaceOfASeat) {
  TemporaryFolder folder;
  std::string path = folder.path("trace.json");
  TracePointer trace = openTrace(path, 2, 2);
  EXPECT_FALSE(exists(path)); // the file gets its name when it is complete
  EXPECT_EQ(finish(trace), 0);
  Element head;
  std::vector<Element> all = readTrace(path, &head);
  EXPECT_EQ(head["displayTimeUnit"], "ms");
  EXPECT_EQ(head["otherData.jobs"], "2");
  EXPECT_EQ(head["otherData.seats"], "2");
  std::vector<Element> process = choose(all, "name", "process_name");
  ASSERT_EQ(process.size(), 1u);
  EXPECT_EQ(process[0]["args.name"], "seats");
  std::vector<std::string> rows;
  for (Element &row : choose(all, "name", "thread_name"))
    rows.push_back(row["tid"] + " " + row["args.name"]);
  EXPECT_EQ(rows, (std::vector<std::string>{"0 seat 0", "1 seat 0, ahead",
                                            "2 seat 1", "3 seat 1, ahead"}));
  for (Element &row : choose(all, "name", "thread_sort_index"))
    EXPECT_EQ(row["args.sort_index"], row["tid"]);
}

TEST(SeatTrace, TellsWhatWasDoneWhen) {
  TemporaryFolder folder;
  std::string path = folder.path("trace.json");
  double before = hfta_now();
  TracePointer trace = openTrace(path, 2, 2);
  double begin = hfta_now();
  const hfta_seat_event events[] = {
      {1, 1, 0, 0, 0, HFTA_SEAT_START, begin, begin + 0.25},
      {1, 0, 0, 50, 8, HFTA_SEAT_STEPS, begin + 0.25, begin + 1.75},
      {0, 0, 1, 0, 0, HFTA_SEAT_EVALUATE, begin + 2, begin + 2.5}};
  for (const hfta_seat_event &event : events)
    hfta_seat_trace_note(trace.get(), &event);
  EXPECT_EQ(finish(trace), 0);
  std::vector<Element> done = choose(readTrace(path), "ph", "X");
  ASSERT_EQ(done.size(), 3u);
  EXPECT_EQ(done[0]["name"], "first");
  EXPECT_EQ(done[0]["tid"], "3");
  EXPECT_EQ(done[0]["args.what"], "start");
  EXPECT_EQ(done[0].count("args.step"), 0u);
  EXPECT_EQ(done[1]["name"], "first");
  EXPECT_EQ(done[1]["tid"], "2");
  EXPECT_EQ(done[1]["args.step"], "51");
  EXPECT_EQ(done[1]["args.steps"], "8");
  EXPECT_EQ(done[1].count("args.what"), 0u);
  EXPECT_EQ(done[2]["name"], "second \"b\"");
  EXPECT_EQ(done[2]["tid"], "0");
  EXPECT_EQ(done[2]["args.what"], "evaluation");
  // Times are in microseconds since the trace was opened.
  double first = std::stod(done[0]["ts"]);
  EXPECT_GE(first, 0);
  EXPECT_LE(first, 1e6 * (begin - before) + 0.001);
  EXPECT_NEAR(std::stod(done[1]["ts"]) - first, 250000, 0.002);
  EXPECT_NEAR(std::stod(done[1]["dur"]), 1500000, 0.002);
  EXPECT_NEAR(std::stod(done[2]["ts"]) - first, 2000000, 0.002);
}

TEST(SeatTrace, TakesEventsOfSeveralThreads) {
  TemporaryFolder folder;
  std::string path = folder.path("trace.json");
  TracePointer trace = openTrace(path, 4, 1);
  std::vector<std::thread> threads;
  for (uint32_t seat = 0; seat < 4; ++seat)
    threads.emplace_back([&, seat] {
      for (int64_t i = 0; i < 700; ++i) {
        hfta_seat_event event = {seat, 0, seat % 2, i, 1, HFTA_SEAT_STEPS,
                                 0,    0};
        event.begin = hfta_now();
        event.end = hfta_now();
        hfta_seat_trace_note(trace.get(), &event);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(finish(trace), 0);
  std::vector<Element> all = readTrace(path);
  for (int seat = 0; seat < 4; ++seat) {
    std::vector<Element> own =
        choose(choose(all, "ph", "X"), "tid", std::to_string(seat));
    ASSERT_EQ(own.size(), 700u);
    // The elements of one thread are in the order in which the thread noted
    // them.
    for (size_t i = 0; i < own.size(); ++i) {
      EXPECT_EQ(own[i]["args.step"], std::to_string(i + 1));
      EXPECT_EQ(own[i]["name"], jobs[seat % 2]);
    }
  }
}

TEST(SeatTrace, CountsWhatItHasNoRoomFor) {
  TemporaryFolder folder;
  std::string path = folder.path("trace.json");
  TracePointer trace = openTrace(path, 1, 1);
  const hfta_seat_event event = {0, 0, 0, 0, 1, HFTA_SEAT_STEPS, 0, 0};
  const int64_t capacity = 1 << 16;
  for (int64_t i = 0; i < capacity + 3; ++i)
    hfta_seat_trace_note(trace.get(), &event);
  EXPECT_EQ(finish(trace), 3);
  std::vector<Element> all = readTrace(path);
  EXPECT_EQ(int64_t(choose(all, "ph", "X").size()), capacity);
  std::vector<Element> labels = choose(all, "name", "process_labels");
  ASSERT_EQ(labels.size(), 1u);
  EXPECT_EQ(labels[0]["args.labels"], "3 events were dropped");
}

TEST(SeatTrace, IsWrittenOnce) {
  TemporaryFolder folder;
  std::string path = folder.path("trace.json");
  TracePointer trace = openTrace(path, 1, 3);
  EXPECT_EQ(finish(trace), 0);
  const hfta_seat_event late = {0, 0, 0, 0, 1, HFTA_SEAT_STEPS, 0, 0};
  hfta_seat_trace_note(trace.get(), &late);
  std::string text = readFile(path);
  EXPECT_NE(text.find("\"seat 0, ahead 2\""), std::string::npos);
  EXPECT_EQ(finish(trace), 0);
  EXPECT_EQ(readFile(path), text);
  EXPECT_EQ(listFolder(folder.root), std::vector<std::string>{"trace.json"});
}

TEST(SeatTrace, LeavesNothingBehindUnlessItIsFinished) {
  TemporaryFolder folder;
  openTrace(folder.path("trace.json"), 1, 1);
  EXPECT_TRUE(listFolder(folder.root).empty());
}

TEST(SeatTrace, RefusesAPathBeforeAnythingIsTraced) {
  TemporaryFolder folder;
  std::string path = folder.path("none/trace.json");
  hfta_seat_trace *trace = nullptr;
  hfta_error error = {};
  EXPECT_EQ(hfta_seat_trace_open(path.c_str(), jobs, 2, 1, 1, &trace, &error),
            HFTA_CANNOT_WRITE);
  EXPECT_NE(std::string(error.message).find(path), std::string::npos);
  EXPECT_EQ(trace, nullptr);
}

TEST(SeatTrace, WithoutAPathThereIsNone) {
  hfta_seat_trace *trace = nullptr;
  hfta_error error = {};
  EXPECT_EQ(hfta_seat_trace_open(nullptr, jobs, 2, 1, 1, &trace, &error),
            HFTA_OK);
  EXPECT_EQ(trace, nullptr);
  const hfta_seat_event event = {0, 0, 0, 0, 1, HFTA_SEAT_STEPS, 0, 0};
  hfta_seat_trace_note(trace, &event);
  EXPECT_EQ(finish(TracePointer(trace, hfta_seat_trace_close)), 0);
}

} // namespace
