// The table by which programs that include heapgauge/heapgauge.h find the agent.
#include "include/heapgauge/heapgauge.h"

#pragma weak heapgauge_name_thread
#pragma weak heapgauge_push_label
#pragma weak heapgauge_pop_label
#pragma weak heapgauge_pool
#pragma weak heapgauge_pool_allocated
#pragma weak heapgauge_pool_freed

extern const heapgauge_api heapgauge_api_v1 = {
    .version = 1,
    .bytes = sizeof(heapgauge_api),
    .available = heapgauge_available,
    .error = heapgauge_error,
    .start = heapgauge_start,
    .stop = heapgauge_stop,
    .set_active = heapgauge_set_active,
    .is_active = heapgauge_is_active,
    .set_interval = heapgauge_set_interval,
    .interval = heapgauge_interval,
    .reset = heapgauge_reset,
    .dump = heapgauge_dump,
    .dump_data = heapgauge_dump_data,
    .free_data = heapgauge_free_data,
    .gauge_path = heapgauge_gauge_path,
    .take_snapshot = heapgauge_take_snapshot,
    .diff = heapgauge_diff,
    .release_snapshot = heapgauge_release_snapshot,
    .name_thread = heapgauge_name_thread,
    .push_label = heapgauge_push_label,
    .pop_label = heapgauge_pop_label,
    .pool = heapgauge_pool,
    .pool_allocated = heapgauge_pool_allocated,
    .pool_freed = heapgauge_pool_freed,
    .serve = heapgauge_serve,
    .handle = heapgauge_handle,
    .free_response = heapgauge_free_response,
};
