//===- trace_impl.h - Shared by the parts of a trace --------------*- C -*-===//

#ifndef HFTA_SRC_TRACE_TRACE_IMPL_H
#define HFTA_SRC_TRACE_TRACE_IMPL_H

#include "schedule/instance_impl.h"
#include "trace/trace.h"
#include "trace/trace_elements.h"

/// A recorded activity. Numbers that its kind doesn't have are -1.
typedef struct hfta_trace_event {
  hfta_activity_kind kind;
  uint32_t worker; ///< number among the rank's workers
  uint32_t queue;
  double begin, end; ///< in seconds of this rank's clock
  int64_t number;    ///< as in hfta_activity
  int64_t micro_batch;
  int64_t first_copy, copy_count; ///< the copies of a RUN; -1: not for copies
  const hfta_post *post;
  const void *to;
  uint64_t bytes;
} hfta_trace_event;

/// One rank's events.
typedef struct hfta_trace_part {
  const hfta_instance *instance;
  const hfta_trace_event *events;
  int64_t count;
  int64_t dropped;
  double zero; ///< the trace's begin by this rank's clock
} hfta_trace_part;

/// Writes the text before the first part.
hfta_status hfta_trace_write_head(const hfta_trace_part *part,
                                  const hfta_trace_sink *sink,
                                  hfta_error *error);

/// Writes the names of a rank's rows and all its events, in pieces of bounded
/// size.
hfta_status hfta_trace_write_part(const hfta_trace_part *part,
                                  const hfta_trace_sink *sink,
                                  hfta_error *error);

#endif // HFTA_SRC_TRACE_TRACE_IMPL_H
