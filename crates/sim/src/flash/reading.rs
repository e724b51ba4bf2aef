//! Reads: which flash pages one needs, what of it was read ahead, and when its data has come.

use teijo_engine::request::Op;

use super::ssd::Ssd;

/// What of a read has come from flash.
#[derive(Clone, Copy, Default)]
pub(super) struct Fetched {
    /// When the last of it is in the controller; `None`: nothing of it was ever written.
    pub(super) data_ns: Option<u64>,
    /// Flash pages that it waited for.
    pub(super) pages: u64,
    /// How long what is needed of the first of them takes to come, once it is read.
    pub(super) lead_ns: u64,
    /// The last of them, and when what is needed of it is in the controller.
    page: Option<(u32, u64)>,
}

impl Ssd {
    pub(super) fn read(&mut self, offset_bytes: u64, length_bytes: u32, at_ns: u64) -> u64 {
        let length = u64::from(length_bytes);
        let mut ready = self.admit(Op::Read, self.times.read_command, at_ns);
        let first = (offset_bytes >> self.unit_shift) as u32;
        let last = ((offset_bytes + length - 1) >> self.unit_shift) as u32;
        let bus_ns = self.times.bus_unit * u64::from(last - first + 1);
        let transfer_ns = self.link_ns(length).max(bus_ns);
        let sent_ns = self.front.transfer(Op::Read, ready, transfer_ns);
        if self.map_cache.is_some() {
            ready = self.look_up(first, last, ready, false);
        }
        let fetched = match self.goes_on(offset_bytes, length) {
            Some(stream) => self.fetch_in_sequence(stream, offset_bytes, length, ready),
            None if self.is_plain => self.fetch_plainly(offset_bytes, offset_bytes + length, ready),
            None => self.fetch(offset_bytes, length, ready),
        };
        self.counters.read_bytes += length;
        let units_ns = self.times.unit * u64::from(last - first)
            + self.times.read_unit * fetched.pages.saturating_sub(1);
        let moved = match fetched.data_ns {
            // Never written: the controller answers without the flash.
            None => sent_ns,
            Some(data_ns) if first == last => (data_ns + transfer_ns).max(sent_ns),
            // The transfer follows the first page and cannot end before the last one.
            Some(data_ns) => {
                let one_ns = self.link_ns(1 << self.unit_shift).max(self.times.bus_unit);
                let first_ns = if fetched.pages > 0 {
                    self.times.read + fetched.lead_ns
                } else {
                    0
                };
                (data_ns + one_ns).max(sent_ns + first_ns)
            }
        };
        moved + units_ns + self.times.ack
    }

    /// Reads what a command asks for from flash.
    #[inline]
    fn fetch(&mut self, offset_bytes: u64, length_bytes: u64, ready_ns: u64) -> Fetched {
        let end_bytes = offset_bytes + length_bytes;
        let first = (offset_bytes >> self.unit_shift) as u32;
        let last = ((end_bytes - 1) >> self.unit_shift) as u32;
        let mut fetched = Fetched::default();
        for unit in first..=last {
            self.fetch_unit(&mut fetched, unit, offset_bytes, end_bytes, ready_ns);
        }
        fetched
    }

    /// Reads what lies in `unit` of a read from `start_bytes` to `end_bytes`; neighbours in one
    /// flash page are read at once.
    #[inline]
    fn fetch_unit(
        &mut self,
        fetched: &mut Fetched,
        unit: u32,
        start_bytes: u64,
        end_bytes: u64,
        ready_ns: u64,
    ) {
        let Some((die, page)) = self.ftl.place_of(unit) else {
            self.count_unwritten(unit, start_bytes, end_bytes - start_bytes);
            return;
        };
        let transfer_ns = self.transfer_ns(unit, start_bytes, end_bytes);
        let page_ns = match fetched.page {
            Some((known, page_ns)) if known == page => page_ns,
            _ => {
                fetched.pages += 1;
                if fetched.pages == 1 {
                    fetched.lead_ns = transfer_ns;
                }
                self.read_page(die, ready_ns)
            }
        };
        let there_ns = page_ns + transfer_ns;
        fetched.page = Some((page, there_ns));
        fetched.data_ns = fetched.data_ns.max(Some(there_ns));
    }

    /// How long the codewords of `unit` that a read from `start_bytes` to `end_bytes` needs are on
    /// their way.
    #[inline]
    pub(super) fn transfer_ns(&self, unit: u32, start_bytes: u64, end_bytes: u64) -> u64 {
        if self.times.transfer == 0 {
            return 0;
        }
        let unit_bytes = u64::from(unit) << self.unit_shift;
        let stop_bytes = unit_bytes + (1 << self.unit_shift);
        if start_bytes <= unit_bytes && end_bytes >= stop_bytes {
            return self.times.unit_transfer;
        }
        let from_bytes = start_bytes.max(unit_bytes) - unit_bytes;
        let to_bytes = end_bytes.min(stop_bytes) - unit_bytes;
        let codewords = self.params.codewords(from_bytes as u32, to_bytes as u32);
        u64::from(codewords) * self.times.transfer
    }

    /// The sequence that a read goes on with, of a drive that reads ahead; where there is none, one
    /// may begin.
    #[inline]
    pub(super) fn goes_on(&mut self, offset_bytes: u64, length_bytes: u64) -> Option<usize> {
        let ahead = self.read_ahead.as_mut()?;
        let stream = ahead.stream_at(offset_bytes);
        if stream.is_none() {
            let end_bytes = offset_bytes + length_bytes;
            ahead.begin(end_bytes, (end_bytes >> self.unit_shift) as u32);
        }
        stream
    }

    /// Takes of a sequence what is there already, and reads on behind the command.
    pub(super) fn fetch_in_sequence(
        &mut self,
        stream: usize,
        offset_bytes: u64,
        length_bytes: u64,
        ready_ns: u64,
    ) -> Fetched {
        let Some(mut ahead) = self.read_ahead.take() else {
            return self.fetch(offset_bytes, length_bytes, ready_ns);
        };
        let end_bytes = offset_bytes + length_bytes;
        let mut fetched = Fetched::default();
        let first = (offset_bytes >> self.unit_shift) as u32;
        let last = ((end_bytes - 1) >> self.unit_shift) as u32;
        for unit in first..=last {
            match ahead.arrival_ns(stream, unit) {
                Some(there_ns) => fetched.data_ns = fetched.data_ns.max(Some(there_ns)),
                None => self.fetch_unit(&mut fetched, unit, offset_bytes, end_bytes, ready_ns),
            }
        }
        ahead.go_on(stream, end_bytes, (end_bytes >> self.unit_shift) as u32);
        let mut behind = Fetched {
            page: *ahead.page(stream),
            ..Fetched::default()
        };
        for unit in ahead.due(stream, self.geometry.units) {
            behind.data_ns = None;
            let start_bytes = u64::from(unit) << self.unit_shift;
            let stop_bytes = start_bytes + (1 << self.unit_shift);
            if self.ftl.place_of(unit).is_some() {
                self.fetch_unit(&mut behind, unit, start_bytes, stop_bytes, ready_ns);
            }
            ahead.push(stream, behind.data_ns);
        }
        *ahead.page(stream) = behind.page;
        self.read_ahead = Some(ahead);
        fetched
    }

    /// Counts what of a read lies in `unit`, which holds nothing.
    #[cold]
    fn count_unwritten(&mut self, unit: u32, offset_bytes: u64, length_bytes: u64) {
        let start_bytes = u64::from(unit) << self.unit_shift;
        let end_bytes = start_bytes + (1 << self.unit_shift);
        self.counters.unwritten_bytes +=
            end_bytes.min(offset_bytes + length_bytes) - start_bytes.max(offset_bytes);
    }

    /// Reads one page of `die` for the host; a busy die is suspended after `read_wait`.
    #[inline]
    pub(super) fn read_page(&mut self, die: u32, ready_ns: u64) -> u64 {
        self.work_while_idle(die, ready_ns);
        let mut page_ns = self.jittered(die, self.times.read);
        let mut readings = 1;
        if self.upkeep.is_some() {
            self.refresh(die, ready_ns);
            readings = self.readings();
            page_ns += (readings - 1) * self.slow.of(die, self.times.read);
        }
        let done_ns = self.dies.read(die, ready_ns, page_ns, self.waits);
        self.counters.page_reads += readings;
        done_ns
    }
}
