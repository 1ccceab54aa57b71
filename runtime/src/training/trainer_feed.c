//===- trainer_feed.c - Batches and rates of steps ------------------------===//

#include "training/trainer_impl.h"

hfta_status hfta_trainer_start_feed(hfta_trainer *self, hfta_feeding *feeding,
                                    int64_t first) {
  if (feeding->feed)
    return HFTA_OK;
  feeding->fed_steps = first;
  return hfta_feed_start_training(
      &self->train, hfta_instance_reads(feeding->instance), first,
      self->total_steps, hfta_trace_observer(self->trace), &feeding->feed,
      hfta_instance_error(feeding->instance));
}

void hfta_trainer_stop_feed(hfta_feeding *feeding) {
  hfta_instance_offer(feeding->instance, NULL);
  hfta_feed_stop(feeding->feed);
  feeding->feed = NULL;
}

hfta_status hfta_trainer_take_batch(hfta_trainer *self, hfta_feeding *feeding,
                                    int64_t step, const void *const **inputs) {
  int64_t valid;
  if (feeding->feed && feeding->fed_steps != step - 1)
    hfta_trainer_stop_feed(feeding);
  hfta_status status = hfta_trainer_start_feed(self, feeding, step - 1);
  if (status == HFTA_OK)
    status = hfta_feed_next(feeding->feed, inputs, &valid,
                            hfta_instance_error(feeding->instance));
  feeding->fed_steps = step;
  return status;
}

hfta_status hfta_trainer_take_rates(hfta_trainer *self,
                                    hfta_instance *instance) {
  hfta_status status = HFTA_OK;
  for (int64_t copy = 0; copy < self->program->copies && status == HFTA_OK;
       ++copy)
    status = hfta_instance_learning_rate(instance, copy, &self->rates[copy]);
  hfta_trainer_take_dampings(self);
  return status;
}
