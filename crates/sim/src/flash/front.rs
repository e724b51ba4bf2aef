//! The front end of a drive and its link to the host: one command after another, then its data.

use teijo_engine::request::Op;

use crate::flash::params::Duplex;

/// When the front end is free, and each direction of a link that carries both at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Front {
    pub(super) free_ns: u64,
    read_link_ns: u64,
    write_link_ns: u64,
    /// Whether the last command that moved data was a read, once there was one.
    read_last: Option<bool>,
    duplex: Duplex,
}

impl Front {
    pub(super) fn new(duplex: Duplex) -> Self {
        Self {
            free_ns: 0,
            read_link_ns: 0,
            write_link_ns: 0,
            read_last: None,
            duplex,
        }
    }

    /// Takes in a command of `command_ns`, and of `turnaround_ns` besides if the last was of the
    /// other direction; returns when that is done.
    #[inline]
    pub(super) fn serve(&mut self, op: Op, at_ns: u64, command_ns: u64, turnaround_ns: u64) -> u64 {
        let is_read = op == Op::Read;
        let turns = self.read_last.replace(is_read) == Some(!is_read);
        let turnaround_ns = if turns { turnaround_ns } else { 0 };
        at_ns.max(self.free_ns) + command_ns + turnaround_ns
    }

    /// Moves the data of a command served at `served_ns`; returns when `data_ns` of link time have
    /// passed, the earliest that the last of it can be over.
    #[inline]
    pub(super) fn transfer(&mut self, op: Op, served_ns: u64, data_ns: u64) -> u64 {
        if self.duplex == Duplex::Half {
            self.free_ns = served_ns + data_ns;
            return self.free_ns;
        }
        self.free_ns = served_ns;
        let link_ns = match op {
            Op::Read => &mut self.read_link_ns,
            _ => &mut self.write_link_ns,
        };
        *link_ns = served_ns.max(*link_ns) + data_ns;
        *link_ns
    }

    /// Forgets what came before `at_ns`, when the drive is ready again.
    pub(super) fn reset(&mut self, at_ns: u64) {
        *self = Self {
            free_ns: at_ns,
            ..Self::new(self.duplex)
        };
    }

    pub(super) fn visit(&self, mut mix: impl FnMut(u64)) {
        let read_last = self.read_last.map_or(0, |is_read| 1 + u64::from(is_read));
        [
            self.free_ns,
            self.read_link_ns,
            self.write_link_ns,
            read_last,
        ]
        .into_iter()
        .for_each(&mut mix);
    }
}
