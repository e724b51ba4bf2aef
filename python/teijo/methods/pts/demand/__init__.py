"""PTS DIRTH and the composite workload (ECW, CBW): one flow over threads and queue depths."""
