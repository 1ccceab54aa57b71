//===- trace_impl.h - Shared by the parts of a trace --------------*- C -*-===//

#ifndef HFTA_SRC_TRACE_TRACE_IMPL_H
#define HFTA_SRC_TRACE_TRACE_IMPL_H

#include "instance/instance_impl.h"
#include "trace/trace.h"
#include "trace/trace_elements.h"

/// A recorded activity. Members that its kind doesn't have are -1, 0 or NULL.
typedef struct hfta_trace_event {
  hfta_activity_kind kind;
  uint32_t worker; ///< the worker's index in the rank's instance
  uint32_t queue;
  double begin, end; ///< in seconds of this rank's hfta_now
  int64_t number;    ///< see hfta_activity
  int64_t micro_batch;
  int64_t first_copy, copy_count; ///< RUN for some of the copies: the first
                                  ///< one, and their number; else -1
  const hfta_post *post;
  const void *to;
  uint64_t bytes;
} hfta_trace_event;

/// The events of one rank, and all that is needed to write them.
typedef struct hfta_trace_part {
  const hfta_instance *instance;
  const hfta_trace_event *events;
  int64_t count;
  int64_t dropped;
  double zero; ///< the begin of the trace in seconds of this rank's hfta_now
} hfta_trace_part;

/// Writes the file's head, which precedes the first part.
hfta_status hfta_trace_write_head(const hfta_trace_part *part,
                                  const hfta_trace_sink *sink,
                                  hfta_error *error);

/// Writes the names of a rank's process and rows, then its events, as pieces of
/// bounded size. Adds no separator before or after the part.
hfta_status hfta_trace_write_part(const hfta_trace_part *part,
                                  const hfta_trace_sink *sink,
                                  hfta_error *error);

#endif // HFTA_SRC_TRACE_TRACE_IMPL_H
