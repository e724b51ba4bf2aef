//! Work on files in a session: on the operating system that the device is, or on one with all its
//! defaults before it.

use teijo_engine::error::EngineError;
use teijo_engine::files::crew::{Done, Look};
use teijo_engine::files::plan::{LargePlan, SmallPlan};
use teijo_engine::watch::Verdict;

use super::SimSession;
use crate::compose::Node;
use crate::device::Device;
use crate::files::params::OsParams;
use crate::files::work::Stock;
use crate::files::Os;

impl SimSession<Node> {
    /// Makes calls on large files.
    pub fn run_large(
        &mut self,
        plan: &LargePlan,
        drop_caches: bool,
        observe: &mut dyn FnMut(&Look) -> Verdict,
    ) -> Result<Done, EngineError> {
        self.on_files(|os, stock, now_ns| os.run_large(stock, plan, drop_caches, now_ns, observe))
    }

    /// Creates small files, or goes over those that are there.
    pub fn run_small(
        &mut self,
        plan: &SmallPlan,
        observe: &mut dyn FnMut(&Look) -> Verdict,
    ) -> Result<Done, EngineError> {
        self.on_files(|os, stock, now_ns| os.run_small(stock, plan, now_ns, observe))
    }

    fn on_files(
        &mut self,
        work: impl FnOnce(&mut Os<Node>, &mut Stock, u64) -> Result<(u64, Done), EngineError>,
    ) -> Result<Done, EngineError> {
        self.finish();
        let now_ns = self.now_ns();
        let mut device = self.device.take().expect("the device is back between laps");
        if !matches!(*device, Node::Os(_)) {
            let params = OsParams::default();
            if Os::<Node>::layout_on(&params, device.capacity_bytes()).is_err() {
                self.device = Some(device);
                let reason = "a file system needs a device of 8 MiB";
                return Err(EngineError::PlanRefused { reason });
            }
            let stripe_bytes = device.stripe_bytes();
            let os = Os::new(params, *device, stripe_bytes);
            device = Box::new(Node::Os(Box::new(os.expect("it has room for one"))));
        }
        let done = match &mut *device {
            Node::Os(os) => work(os, &mut self.stock, now_ns),
            Node::Ssd(_)
            | Node::Disk(_)
            | Node::Array(_)
            | Node::Faulty(_)
            | Node::Cache(_)
            | Node::SsdCache(_)
            | Node::Tier(_) => unreachable!("it has an operating system"),
        };
        self.device = Some(device);
        // What the last step said of its contents is of its files alone.
        self.told_q16 = u32::MAX;
        let (ended_ns, done) = done?;
        self.clock.advance(ended_ns);
        Ok(done)
    }
}
