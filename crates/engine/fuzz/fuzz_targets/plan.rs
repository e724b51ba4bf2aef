//! The workload compiler against any plan: what the check lets through must run within its range
//! and on its grid, in its order, and every I/O must be booked once.
#![no_main]

use libfuzzer_sys::fuzz_target;
use teijo_engine_fuzz::{rehearsal, sketch::AnyPlan};

fuzz_target!(|any: AnyPlan| rehearsal::run(&any.plan, any.seed));
