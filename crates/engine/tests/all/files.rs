//! Work on files, call by call: a file system in memory counts every call with its size, holds the
//! bytes, and fails where it is told to. And the same on a real folder.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use teijo_engine::files::books::{Books, Ledger};
use teijo_engine::files::calls::{Calls, Mapped, Move, Opening, Tried};
use teijo_engine::files::large::LargeWorker;
use teijo_engine::files::plan::{
    Content, LargePlan, Links, NameStyle, Operation, Order, SmallOperation, SmallPlan, Style,
};
use teijo_engine::files::small::{SmallWorker, Stock};
use teijo_engine::files::turns::{Tickets, Turns};

/// One call: its name, what it moved or where it went.
type Call = (&'static str, u64);

#[derive(Default)]
struct World {
    files: BTreeMap<(u32, CString), Arc<Mutex<Vec<u8>>>>,
    calls: Vec<Call>,
    /// Where reads and writes began.
    places: [Vec<u64>; 2],
    /// Writes that fail, by their number, and their errno.
    failing: BTreeMap<usize, i32>,
    writes: usize,
}

/// A file system in memory; each call takes 10 ns.
#[derive(Default)]
struct Memory {
    world: Mutex<World>,
    now_ns: AtomicU64,
}

struct File {
    bytes: Arc<Mutex<Vec<u8>>>,
    position: RefCell<u64>,
}

struct NoMap;

impl Mapped for NoMap {
    fn read(&self, _: u64, _: &mut [u8]) -> bool {
        unreachable!()
    }
    fn write(&self, _: u64, _: &[u8]) -> bool {
        unreachable!()
    }
    fn sync(&self, _: u64, _: u64) -> Tried<()> {
        unreachable!()
    }
}

impl Memory {
    fn called(&self, name: &'static str, moved: u64) {
        self.now_ns.fetch_add(10, Ordering::Relaxed);
        self.world.lock().unwrap().calls.push((name, moved));
    }

    fn calls(&self) -> Vec<Call> {
        std::mem::take(&mut self.world.lock().unwrap().calls)
    }

    fn content(&self, name: &str) -> Vec<u8> {
        let key = (0, CString::new(name).unwrap());
        let bytes = Arc::clone(&self.world.lock().unwrap().files[&key]);
        let bytes = bytes.lock().unwrap();
        bytes.clone()
    }

    fn names(&self) -> Vec<(u32, String)> {
        let world = self.world.lock().unwrap();
        let names = world.files.keys();
        names
            .map(|(directory, name)| (*directory, name.to_str().unwrap().into()))
            .collect()
    }
}

impl Calls for Memory {
    type File = File;
    type Mapped = NoMap;

    fn now_ns(&self) -> u64 {
        self.now_ns.fetch_add(1, Ordering::Relaxed)
    }

    fn open(&self, directory: u32, name: &CStr, how: Opening) -> Tried<File> {
        self.called("open", u64::from(how.create));
        let mut world = self.world.lock().unwrap();
        let key = (directory, name.to_owned());
        match (world.files.contains_key(&key), how.create) {
            (true, true) => return Err(libc::EEXIST),
            (false, false) => return Err(libc::ENOENT),
            _ => {}
        }
        Ok(File {
            bytes: Arc::clone(world.files.entry(key).or_default()),
            position: RefCell::new(0),
        })
    }

    fn read(&self, file: &File, buffer: &mut [u8], at: Option<u64>) -> Tried<usize> {
        self.called(
            if at.is_some() { "pread" } else { "read" },
            buffer.len() as u64,
        );
        let bytes = file.bytes.lock().unwrap();
        let first = at.unwrap_or(*file.position.borrow()) as usize;
        self.world.lock().unwrap().places[0].push(first as u64);
        let first = first.min(bytes.len());
        let length = buffer.len().min(bytes.len() - first);
        buffer[..length].copy_from_slice(&bytes[first..first + length]);
        if at.is_none() {
            *file.position.borrow_mut() += length as u64;
        }
        Ok(length)
    }

    fn write(&self, file: &File, buffer: &[u8], at: Option<u64>) -> Tried<usize> {
        self.called(
            if at.is_some() { "pwrite" } else { "write" },
            buffer.len() as u64,
        );
        let failing = {
            let mut world = self.world.lock().unwrap();
            world.writes += 1;
            let number = world.writes;
            world.failing.get(&number).copied()
        };
        if let Some(errno) = failing {
            return Err(errno);
        }
        let mut bytes = file.bytes.lock().unwrap();
        let first = at.unwrap_or(*file.position.borrow()) as usize;
        self.world.lock().unwrap().places[1].push(first as u64);
        let end = first + buffer.len();
        if bytes.len() < end {
            bytes.resize(end, 0);
        }
        bytes[first..end].copy_from_slice(buffer);
        if at.is_none() {
            *file.position.borrow_mut() = end as u64;
        }
        Ok(buffer.len())
    }

    fn seek(&self, file: &File, to: Move) -> Tried<()> {
        let mut position = file.position.borrow_mut();
        *position = match to {
            Move::To(bytes) => bytes,
            Move::Back(bytes) => *position - bytes,
        };
        self.called("seek", *position);
        Ok(())
    }

    fn set_length(&self, file: &File, bytes: u64) -> Tried<()> {
        self.called("ftruncate", bytes);
        file.bytes.lock().unwrap().resize(bytes as usize, 0);
        Ok(())
    }

    fn map(&self, _: &File, _: u64) -> Tried<NoMap> {
        Err(libc::ENODEV)
    }

    fn fsync(&self, _: &File) -> Tried<()> {
        self.called("fsync", 0);
        Ok(())
    }

    fn close(&self, _: File) -> Tried<()> {
        self.called("close", 0);
        Ok(())
    }

    fn stat(&self, directory: u32, name: &CStr) -> Tried<u64> {
        self.called("stat", 0);
        let world = self.world.lock().unwrap();
        let file = world.files.get(&(directory, name.to_owned()));
        file.map_or(Err(libc::ENOENT), |bytes| {
            Ok(bytes.lock().unwrap().len() as u64)
        })
    }

    fn unlink(&self, directory: u32, name: &CStr) -> Tried<()> {
        self.called("unlink", 0);
        let key = (directory, name.to_owned());
        let gone = self.world.lock().unwrap().files.remove(&key);
        gone.map(drop).ok_or(libc::ENOENT)
    }

    fn link(&self, from: (u32, &CStr), to: (u32, &CStr)) -> Tried<()> {
        self.called("link", 0);
        let mut world = self.world.lock().unwrap();
        let bytes = Arc::clone(&world.files[&(from.0, from.1.to_owned())]);
        world.files.insert((to.0, to.1.to_owned()), bytes);
        Ok(())
    }

    fn symlink(&self, target: &CStr, at: (u32, &CStr)) -> Tried<()> {
        self.called("symlink", target.to_bytes().len() as u64);
        let mut world = self.world.lock().unwrap();
        world.files.insert((at.0, at.1.to_owned()), Arc::default());
        Ok(())
    }

    fn fsync_directory(&self, directory: u32) -> Tried<()> {
        self.called("fsync-directory", u64::from(directory));
        Ok(())
    }

    fn sync(&self) {
        self.called("sync", 0);
    }

    fn list(&self, directory: u32, take: &mut dyn FnMut(&CStr)) -> Tried<()> {
        self.called("list", u64::from(directory));
        let names: Vec<CString> = {
            let world = self.world.lock().unwrap();
            let there = world.files.keys().filter(|(place, _)| *place == directory);
            there.map(|(_, name)| name.clone()).collect()
        };
        // Backwards, as no order of creation is.
        names.iter().rev().for_each(|name| take(name));
        Ok(())
    }

    fn make_directory(&mut self, _: &CStr) -> Tried<()> {
        Ok(())
    }

    fn remove_directories(&mut self) {}
}

fn large(operation: Operation, file_bytes: u64, chunk_bytes: u32) -> LargePlan {
    LargePlan {
        operation,
        file_bytes,
        chunk_bytes,
        fresh: operation == Operation::Write,
        content: Content::Cumulative,
        seed: 7,
        offset_seed: 8,
        ..LargePlan::default()
    }
}

/// Carries a plan out; what the worker counted: main, flush, close.
fn done(memory: &Arc<Memory>, plan: &LargePlan) -> [Ledger; 3] {
    let Books {
        main, flush, close, ..
    } = carried_out(memory, plan).books;
    [main, flush, close]
}

fn carried_out(memory: &Arc<Memory>, plan: &LargePlan) -> LargeWorker<Memory> {
    plan.check().unwrap();
    let books = Books::new(Arc::default(), Arc::default(), plan.interval_ns);
    let tickets = Tickets::own(plan, 0);
    let mut worker = LargeWorker::new(Arc::clone(memory), plan, 0, tickets, books);
    worker.open().unwrap();
    memory.calls();
    worker.start(0);
    while worker.turn().unwrap() {}
    worker.end().1.unwrap();
    worker
}

const LARGE: &str = "large-00000";

#[test]
fn the_calls_of_each_phase_are_those_of_bonnie_in_number_order_and_size() {
    let memory = Arc::new(Memory::default());
    let end = [("fsync", 0), ("close", 0)];

    let [bytewise, ..] = done(&memory, &large(Operation::Write, 300, 1));
    let calls = memory.calls();
    assert_eq!(calls[..300], [("write", 1); 300]);
    assert_eq!(calls[300..], end);
    let counted: Vec<u8> = (0..300).map(|place| (place & 0x7f) as u8).collect();
    assert_eq!(memory.content(LARGE), counted);
    assert_eq!((bytewise.times.count(), bytewise.bytes), (300, 300));

    done(&memory, &large(Operation::Write, 4 * 8192, 8192));
    let calls = memory.calls();
    assert_eq!(calls[..4], [("write", 8192); 4]);
    assert_eq!(calls[4..], end);

    let [rewritten, flush, close] = done(&memory, &large(Operation::Rewrite, 4 * 8192, 8192));
    let each = |chunk: u64| [("read", 8192), ("seek", chunk * 8192), ("write", 8192)];
    let expected: Vec<Call> = (0..4).flat_map(each).chain(end).collect();
    assert_eq!(memory.calls(), expected);
    assert_eq!((rewritten.times.count(), rewritten.bytes), (4, 4 * 8192));
    assert_eq!((flush.times.count(), close.times.count()), (1, 1));

    done(&memory, &large(Operation::Read, 4 * 8192, 8192));
    assert_eq!(memory.calls()[..4], [("read", 8192); 4]);

    let seeks = LargePlan {
        calls: 50,
        rewrite_percent: 100,
        fsync_rewrites: true,
        ..large(Operation::Seek, 4 * 8192, 8192)
    };
    done(&memory, &seeks);
    let calls = memory.calls();
    assert_eq!(calls.len(), 50 * 5 + 2);
    for five in calls[..250].chunks(5) {
        assert_eq!(five[0], five[2], "it goes back to where it was");
        assert_eq!((five[0].0, five[1]), ("seek", ("read", 8192)));
        assert_eq!((five[3], five[4]), (("write", 8192), ("fsync", 0)));
    }
}

#[test]
fn cumulative_content_has_one_more_byte_changed_in_every_chunk_and_goes_round() {
    let memory = Arc::new(Memory::default());
    done(&memory, &large(Operation::Write, 16 * 10, 16));
    let written = memory.content(LARGE);
    for (number, chunk) in written.chunks(16).enumerate() {
        let changed = |place| u8::from(place <= number);
        assert_eq!(chunk, (0..16).map(changed).collect::<Vec<_>>(), "{number}");
    }
    done(&memory, &large(Operation::Write, 4 * 6, 4));
    assert_eq!(memory.content(LARGE)[20..], [2, 2, 1, 1]);
    // A rewrite changes byte k of chunk k once more.
    done(&memory, &large(Operation::Rewrite, 4 * 6, 4));
    assert_eq!(memory.content(LARGE)[..8], [2, 0, 0, 0, 1, 2, 0, 0]);
}

#[test]
fn random_content_repeats_no_sector_and_one_block_repeats_itself() {
    let memory = Arc::new(Memory::default());
    let of = |content, chunk_bytes, file_bytes| {
        let plan = LargePlan {
            content,
            ..large(Operation::Write, file_bytes, chunk_bytes)
        };
        done(&memory, &plan);
        memory.content(LARGE)
    };
    let random = of(Content::Random, 4096, 64 * 4096);
    let sectors: std::collections::HashSet<_> = random.chunks(512).collect();
    assert_eq!(sectors.len(), 64 * 8);
    let bytewise = of(Content::Random, 1, 3 * 4096);
    let sectors: std::collections::HashSet<_> = bytewise.chunks(512).collect();
    assert_eq!(sectors.len(), 3 * 8);
    let block = of(Content::OneBlock, 4096, 4 * 4096);
    assert!(block.chunks(4096).all(|chunk| chunk == &block[..4096]));
    assert!(block.iter().any(|byte| *byte != block[0]));
    assert!(of(Content::Zero, 4096, 8192).iter().all(|byte| *byte == 0));
}

#[test]
fn a_buffer_of_the_programs_own_makes_one_call_when_it_is_full() {
    let memory = Arc::new(Memory::default());
    let plan = LargePlan {
        style: Style::Stdio,
        ..large(Operation::Write, 10_000, 1)
    };
    let [written, ..] = done(&memory, &plan);
    let sizes: Vec<Call> = [4096, 4096, 1808].map(|bytes| ("write", bytes)).into();
    assert_eq!(memory.calls()[..3], sizes);
    assert_eq!((written.times.count(), written.bytes), (3, 10_000));
    assert_eq!(plan.units(), 3);
    let counted: Vec<u8> = (0..10_000).map(|place| (place & 0x7f) as u8).collect();
    assert_eq!(memory.content(LARGE), counted);
}

#[test]
fn calls_that_are_timed_together_are_one_operation_and_positioned_ones_name_their_offset() {
    let memory = Arc::new(Memory::default());
    let plan = LargePlan {
        timed_calls: 8,
        positioned: true,
        sparse: true,
        ..large(Operation::Write, 20, 1)
    };
    let [written, ..] = done(&memory, &plan);
    assert_eq!(memory.calls()[..20], [("pwrite", 1); 20]);
    assert_eq!((written.times.count(), written.bytes), (3, 20));
    assert_eq!(plan.units(), 3);
    assert_eq!(memory.content(LARGE).len(), 20);
}

#[test]
fn the_flush_is_in_the_time_of_the_last_operation_where_that_is_asked() {
    let memory = Arc::new(Memory::default());
    let plan = large(Operation::Write, 4 * 512, 512);
    let [before, ..] = done(&memory, &plan);
    let timed = LargePlan {
        timed_fsync: true,
        ..plan
    };
    let [with_flush, flush, _] = done(&memory, &timed);
    assert_eq!(with_flush.times.count(), 4);
    assert_eq!(flush.times.count(), 1);
    assert!(with_flush.times.max_ns() > before.times.max_ns() + 10);
    assert_eq!(with_flush.times.min_ns(), before.times.min_ns());
}

#[test]
fn a_write_that_fails_is_counted_and_the_next_goes_on_behind_it() {
    let memory = Arc::new(Memory::default());
    memory.world.lock().unwrap().failing.insert(2, libc::EIO);
    let [written, ..] = done(&memory, &large(Operation::Write, 4 * 512, 512));
    assert_eq!(written.errors, BTreeMap::from([(libc::EIO, 1)]));
    assert_eq!((written.times.count(), written.bytes), (3, 3 * 512));
    let content = memory.content(LARGE);
    assert_eq!(content.len(), 4 * 512);
    assert!(content[512..1024].iter().all(|byte| *byte == 0));
    assert_eq!(content[1024..1027], [1, 1, 1]);
}

#[test]
fn a_full_disk_ends_the_work() {
    let memory = Arc::new(Memory::default());
    memory.world.lock().unwrap().failing.insert(3, libc::ENOSPC);
    let plan = large(Operation::Write, 8 * 512, 512);
    let books = Books::new(Arc::default(), Arc::default(), plan.interval_ns);
    let tickets = Tickets::own(&plan, 0);
    let mut worker = LargeWorker::new(Arc::clone(&memory), &plan, 0, tickets, books);
    worker.open().unwrap();
    worker.start(0);
    assert!(worker.turn().unwrap() && worker.turn().unwrap());
    let error = worker.turn().unwrap_err();
    assert_eq!(error.to_string(), "the disk is full");
}

fn small(operation: SmallOperation, count: u64) -> SmallPlan {
    SmallPlan {
        operation,
        count,
        size_least_bytes: 0,
        size_bytes: 0,
        chunk_bytes: 0,
        directories: 0,
        names: NameStyle::Numbers,
        links: Links::None,
        order: Order::Sequential,
        content: Content::Random,
        fsync: false,
        fsync_directory: false,
        timed_fsync: false,
        sync_at_end: false,
        read: false,
        seed: 9,
        interval_ns: 1_000_000_000,
    }
}

/// Carries a plan out on the stock; what the worker counted, main and flush.
fn went_over(memory: &Arc<Memory>, plan: &SmallPlan, stock: &mut Stock) -> (Ledger, Ledger) {
    plan.check().unwrap();
    let books = Books::new(Arc::default(), Arc::default(), plan.interval_ns);
    let mut worker = SmallWorker::new(Arc::clone(memory), plan, std::mem::take(stock), books);
    memory.calls();
    worker.start(0);
    while worker.turn().unwrap() {}
    worker.end();
    *stock = worker.stock;
    (worker.books.main, worker.books.flush)
}

#[test]
fn a_small_file_costs_the_calls_of_the_original() {
    let (memory, mut stock) = (Arc::new(Memory::default()), Stock::default());
    let sized = |operation| SmallPlan {
        size_least_bytes: 100,
        size_bytes: 3000,
        chunk_bytes: 1000,
        read: true,
        ..small(operation, 40)
    };
    let (created, _) = went_over(&memory, &sized(SmallOperation::Create), &mut stock);
    let calls = memory.calls();
    let written: u64 = calls
        .iter()
        .filter(|one| one.0 == "write")
        .map(|one| one.1)
        .sum();
    assert_eq!((created.times.count(), created.bytes), (40, written));
    assert!(calls.iter().all(|one| one.0 != "write" || one.1 <= 1000));
    let opened = calls.iter().filter(|one| **one == ("open", 1)).count();
    let closed = calls.iter().filter(|one| one.0 == "close").count();
    assert_eq!((opened, closed), (40, 40));
    let (seen, _) = went_over(&memory, &sized(SmallOperation::Stat), &mut stock);
    let calls = memory.calls();
    assert_eq!(
        (calls[0].0, calls[1], calls[2].0),
        ("stat", ("open", 0), "read")
    );
    assert_eq!((seen.times.count(), seen.bytes), (40, written));
    let (gone, _) = went_over(&memory, &sized(SmallOperation::Delete), &mut stock);
    assert_eq!(memory.calls(), [("unlink", 0); 40]);
    assert_eq!(gone.times.count(), 40);
    assert!(memory.names().is_empty());
}

#[test]
fn names_are_ten_digits_and_up_to_twelve_letters_before_or_behind() {
    for (style, is_first) in [
        (NameStyle::NumberFirst, true),
        (NameStyle::NumberLast, false),
    ] {
        let (memory, mut stock) = (Arc::new(Memory::default()), Stock::default());
        stock.directories = 3;
        let plan = SmallPlan {
            names: style,
            directories: 3,
            ..small(SmallOperation::Create, 1000)
        };
        went_over(&memory, &plan, &mut stock);
        let mut lengths = std::collections::BTreeSet::new();
        let mut numbers = Vec::new();
        for (directory, name) in memory.names() {
            lengths.insert(name.len() - 10);
            let cut = if is_first { 10 } else { name.len() - 10 };
            let (left, right) = name.split_at(cut);
            let (number, letters) = if is_first {
                (left, right)
            } else {
                (right, left)
            };
            assert!(letters.bytes().all(|letter| letter.is_ascii_alphanumeric()));
            let number = u64::from_str_radix(number, 16).unwrap();
            assert_eq!(u64::from(directory), 1 + number / 334, "a third in each");
            numbers.push(number);
        }
        numbers.sort_unstable();
        assert_eq!(numbers, (0..1000).collect::<Vec<_>>());
        assert_eq!(lengths, (0..=12).collect());
    }
}

#[test]
fn files_are_gone_over_in_the_order_that_is_asked_and_no_others() {
    for order in [Order::Sequential, Order::Random, Order::Listed] {
        let (memory, mut stock) = (Arc::new(Memory::default()), Stock::default());
        went_over(&memory, &small(SmallOperation::Create, 30), &mut stock);
        let foreign = (0, CString::new("thesis").unwrap());
        memory
            .world
            .lock()
            .unwrap()
            .files
            .insert(foreign, Arc::default());
        let some = SmallPlan {
            order,
            ..small(SmallOperation::Delete, 20)
        };
        let (gone, _) = went_over(&memory, &some, &mut stock);
        assert_eq!(gone.times.count(), 20);
        assert_eq!(memory.names().len(), 11, "{order:?}");
        let (gone, _) = went_over(&memory, &some, &mut stock);
        assert_eq!(gone.times.count(), 10);
        assert_eq!(memory.names(), [(0, "thesis".to_owned())]);
        assert!(stock.files.is_empty());
    }
}

#[test]
fn links_and_flushes_are_made_where_they_are_asked() {
    for (links, call) in [(Links::Hard, "link"), (Links::Symbolic, "symlink")] {
        let (memory, mut stock) = (Arc::new(Memory::default()), Stock::default());
        let plan = SmallPlan {
            links,
            ..small(SmallOperation::Create, 5)
        };
        went_over(&memory, &plan, &mut stock);
        let calls = memory.calls();
        assert_eq!(calls[..2], [("open", 1), ("close", 0)]);
        assert!(calls[2..].len() == 4 && calls[2..].iter().all(|one| one.0 == call));
    }
    let (memory, mut stock) = (Arc::new(Memory::default()), Stock::default());
    let plan = SmallPlan {
        fsync: true,
        fsync_directory: true,
        sync_at_end: true,
        ..small(SmallOperation::Create, 2)
    };
    let (created, flushed) = went_over(&memory, &plan, &mut stock);
    let each = [
        ("open", 1),
        ("fsync", 0),
        ("fsync-directory", 0),
        ("close", 0),
    ];
    assert_eq!(
        memory.calls(),
        [&each[..], &each[..], &[("sync", 0)]].concat()
    );
    assert_eq!((created.times.count(), flushed.times.count()), (2, 4));
    let timed = SmallPlan {
        timed_fsync: true,
        ..plan
    };
    let (longer, _) = went_over(&memory, &timed, &mut stock);
    assert!(longer.times.min_ns() > created.times.max_ns() + 20);
    assert_eq!(stock.files.iter().flatten().count(), 4);
}

#[test]
fn the_chunks_that_a_worker_goes_to_are_counted_each_as_often_as_it_is_called_for() {
    for operation in [
        Operation::RandomWrite,
        Operation::RandomRead,
        Operation::Seek,
    ] {
        let memory = Arc::new(Memory::default());
        done(&memory, &large(Operation::Write, 300 * 512, 512));
        let plan = LargePlan {
            calls: 1000,
            rewrite_percent: 30,
            census: true,
            ..large(operation, 300 * 512, 512)
        };
        let touched = touched_by(&memory, &plan);
        let of_writes = usize::from(operation == Operation::RandomWrite);
        assert_eq!(touched, called_for(&memory, of_writes), "{operation:?}");
        // What even draws leave out: 300 × e^(−1000/300) chunks.
        assert!(touched.len().abs_diff(289) < 12, "{}", touched.len());
    }
    let memory = Arc::new(Memory::default());
    let plan = LargePlan {
        census: true,
        ..large(Operation::Write, 400 * 512, 512)
    };
    assert_eq!(touched_by(&memory, &plan), vec![1; 400]);
    let silent = Turns::new(&large(Operation::Read, 512, 512), 0, Tickets::own(&plan, 0));
    assert!(silent.census().is_none(), "nobody asked");
}

#[test]
fn calls_that_go_once_over_each_chunk_meet_none_again_before_all_were_met() {
    for operation in [
        Operation::RandomWrite,
        Operation::RandomRead,
        Operation::Seek,
    ] {
        let memory = Arc::new(Memory::default());
        done(&memory, &large(Operation::Write, 300 * 512, 512));
        let plan = LargePlan {
            calls: 350,
            each_once: true,
            census: true,
            ..large(operation, 300 * 512, 512)
        };
        let mut expected = vec![1; 250];
        expected.extend([2; 50]);
        assert_eq!(touched_by(&memory, &plan), expected, "{operation:?}");
        let places = memory.world.lock().unwrap();
        let drawn = &places.places[usize::from(operation == Operation::RandomWrite)];
        assert!(!drawn.is_sorted(), "in an order drawn anew");
    }
}

/// How often each place was read, or written, the least often first.
fn called_for(memory: &Arc<Memory>, of_writes: usize) -> Vec<u64> {
    let mut counts = BTreeMap::new();
    for place in &memory.world.lock().unwrap().places[of_writes] {
        *counts.entry(*place).or_insert(0) += 1;
    }
    sorted(counts.into_values())
}

/// The same as a worker's own sample has it.
fn touched_by(memory: &Arc<Memory>, plan: &LargePlan) -> Vec<u64> {
    memory.world.lock().unwrap().places = Default::default();
    let worker = carried_out(memory, plan);
    let census = worker.touched().unwrap();
    assert_eq!(census.ios(), plan.units());
    sorted(census.sample().map(|(_, ios)| ios))
}

fn sorted(counts: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut counts: Vec<u64> = counts.collect();
    counts.sort_unstable();
    counts
}

proptest! {
    #[test]
    fn ordered_turns_meet_every_byte_of_whole_chunks_once(
        file_bytes in 1..50_000u64, chunk_bytes in 1..3000u32, timed_calls in 1..5u32,
    ) {
        prop_assume!(file_bytes >= u64::from(chunk_bytes));
        let plan = LargePlan { timed_calls, ..large(Operation::Read, file_bytes, chunk_bytes) };
        prop_assert!(plan.check().is_ok());
        let turns: Vec<_> = Turns::new(&plan, 0, Tickets::own(&plan, 0)).collect();
        prop_assert_eq!(turns.len() as u64, plan.units());
        let mut next = 0;
        for turn in turns {
            prop_assert_eq!(turn.offset_bytes, next);
            next += turn.length_bytes;
        }
        prop_assert_eq!(next, plan.whole_bytes());
    }

    #[test]
    fn workers_that_share_a_heap_draw_each_ticket_once(workers in 1..9u32, calls in 1..500u64) {
        let plan = LargePlan {
            workers, calls, share: true, ..large(Operation::Seek, 1 << 20, 4096)
        };
        let next = Arc::new(AtomicU64::new(0));
        let mut hands: Vec<_> = (0..workers)
            .map(|number| {
                let tickets = Tickets::Shared { next: Arc::clone(&next), end: calls };
                Turns::new(&plan, number, tickets)
            })
            .collect();
        let mut drawn = Vec::new();
        while drawn.len() < calls as usize {
            for hand in &mut hands {
                drawn.extend(hand.next());
            }
        }
        let alone = LargePlan { workers: 1, ..plan.clone() };
        let one: Vec<_> = Turns::new(&alone, 0, Tickets::own(&alone, 0)).collect();
        prop_assert_eq!(drawn, one, "offsets are those of the ticket, whoever draws it");
    }

    #[test]
    fn workers_with_files_of_their_own_share_the_calls_and_repeat_nobody(
        workers in 2..9u32, calls in 100..2000u64, seed in any::<u64>(),
    ) {
        let plan = LargePlan {
            workers, calls, offset_seed: seed, ..large(Operation::RandomRead, 1 << 30, 4096)
        };
        let of = |plan: &LargePlan, number| -> Vec<u64> {
            let turns = Turns::new(plan, number, Tickets::own(plan, number));
            turns.map(|turn| turn.offset_bytes).collect()
        };
        let all: Vec<_> = (0..workers).map(|number| of(&plan, number)).collect();
        prop_assert_eq!(all.iter().map(|one| one.len() as u64).sum::<u64>(), calls);
        prop_assert_ne!(&all[0], &all[1]);
        prop_assert_eq!(&all[0], &of(&plan.clone(), 0));
        let all = all.concat();
        prop_assert!(all.iter().all(|at| at % 4096 == 0 && at + 4096 <= 1 << 30));
    }
}

#[test]
fn random_offsets_are_uniform_over_the_chunks_and_so_is_the_share_that_is_rewritten() {
    let plan = LargePlan {
        calls: 160_000,
        rewrite_percent: 10,
        ..large(Operation::Seek, 16 * 4096, 4096)
    };
    let turns: Vec<_> = Turns::new(&plan, 0, Tickets::own(&plan, 0)).collect();
    let mut counts = [0f64; 16];
    for turn in &turns {
        counts[(turn.offset_bytes / 4096) as usize] += 1.0;
    }
    let squares: f64 = counts.iter().map(|count| (count - 1e4).powi(2) / 1e4).sum();
    assert!(
        squares < 37.7,
        "chi squared of 15 degrees at 0.1 %: {squares}"
    );
    let rewritten = turns.iter().filter(|turn| turn.rewrites).count();
    assert!(rewritten.abs_diff(16_000) < 500, "{rewritten}");
}
