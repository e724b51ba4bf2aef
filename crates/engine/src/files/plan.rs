//! What to do with files. Plain data: who carries it out, a kernel or a model, is no matter here.

use crate::error::EngineError;

/// What a buffered style keeps in memory before it makes a call: the block of a file system.
pub const STDIO_BYTES: usize = 4096;
/// More than that is no chunk: it is held in memory by every worker.
const CHUNK_BYTES_MAX: u64 = 1 << 30;
/// More calls are not timed together: a unit of work is to be short.
const CALLS_MAX: u32 = 1 << 20;
/// So many threads are enough for every benchmark of files.
const WORKERS_MAX: u32 = 1024;

/// The calls that a step makes on large files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Write,
    /// Read a chunk, change a byte, go back and write it.
    Rewrite,
    Read,
    RandomWrite,
    RandomRead,
    /// Go to a random chunk and read it; of a share of them, change a byte and write it back.
    Seek,
}

impl Operation {
    pub fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Rewrite => "rewrite",
            Self::Read => "read",
            Self::RandomWrite => "random-write",
            Self::RandomRead => "random-read",
            Self::Seek => "seek",
        }
    }

    /// Whether the offsets are drawn.
    pub fn is_random(self) -> bool {
        matches!(self, Self::RandomWrite | Self::RandomRead | Self::Seek)
    }

    /// Whether it is counted among the reads of a time series.
    pub fn is_read(self) -> bool {
        matches!(self, Self::Read | Self::RandomRead | Self::Seek)
    }
}

/// How bytes get to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    SystemCall,
    /// One byte after the other through a buffer of the program's, as `putc` and `getc`.
    Stdio,
    Mmap,
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// No two sectors alike, nothing to compress.
    Random,
    Zero,
    /// One chunk of random bytes, again and again.
    OneBlock,
    /// Zeros, of which every chunk has one more byte changed than the one before; bytes that are
    /// written one at a time count from 0 to 127.
    Cumulative,
}

/// Calls on large files.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // each is a switch of the original tools
pub struct LargePlan {
    pub operation: Operation,
    /// Of each file.
    pub file_bytes: u64,
    pub chunk_bytes: u32,
    /// Of random operations, over all workers.
    pub calls: u64,
    pub workers: u32,
    /// All workers have one file, and share what is to do.
    pub share: bool,
    /// Workers draw their tickets from a pipe, as processes have to.
    pub tickets_by_pipe: bool,
    /// One worker after the other.
    pub in_turn: bool,
    pub fresh: bool,
    pub sparse: bool,
    pub fsync: bool,
    pub timed_fsync: bool,
    pub direct: bool,
    pub synchronous: bool,
    /// Ordered calls name their offset (`pwrite`), and do not go by the file's position.
    pub positioned: bool,
    pub style: Style,
    /// Calls that are timed together.
    pub timed_calls: u32,
    pub content: Content,
    pub rewrite_percent: u8,
    /// Each chunk that a seek has rewritten is flushed at once, in its time.
    pub fsync_rewrites: bool,
    /// Of contents.
    pub seed: u64,
    /// Of offsets: steps that repeat each other have the same.
    pub offset_seed: u64,
    /// Random calls go over all chunks of the file before one is met again.
    pub each_once: bool,
    /// Which chunks are touched is counted.
    pub census: bool,
    pub interval_ns: u64,
}

/// One worker that reads a file of one chunk of 4 KiB in order.
impl Default for LargePlan {
    fn default() -> Self {
        Self {
            operation: Operation::Read,
            file_bytes: 4096,
            chunk_bytes: 4096,
            calls: 0,
            workers: 1,
            share: false,
            tickets_by_pipe: false,
            in_turn: false,
            fresh: false,
            sparse: false,
            fsync: true,
            timed_fsync: false,
            direct: false,
            synchronous: false,
            positioned: false,
            style: Style::SystemCall,
            timed_calls: 1,
            content: Content::Random,
            rewrite_percent: 0,
            fsync_rewrites: false,
            seed: 0,
            offset_seed: 0,
            each_once: false,
            census: false,
            interval_ns: 1_000_000_000,
        }
    }
}

impl LargePlan {
    /// Whole chunks of a file.
    pub fn chunks(&self) -> u64 {
        self.file_bytes / u64::from(self.chunk_bytes)
    }

    /// Bytes of a file that are gone over: whole chunks.
    pub fn whole_bytes(&self) -> u64 {
        self.chunks() * u64::from(self.chunk_bytes)
    }

    /// How much one operation moves.
    pub fn unit_bytes(&self) -> u64 {
        match self.style {
            Style::Stdio => STDIO_BYTES as u64,
            Style::SystemCall | Style::Mmap => {
                u64::from(self.chunk_bytes) * u64::from(self.timed_calls)
            }
        }
    }

    /// Operations over all workers: chunks, or buffers of the buffered style.
    pub fn units(&self) -> u64 {
        if self.operation.is_random() {
            return self.calls;
        }
        let files = if self.share {
            1
        } else {
            u64::from(self.workers)
        };
        files * self.whole_bytes().div_ceil(self.unit_bytes())
    }

    /// The operations of one worker of those that share none.
    pub fn units_of(&self, worker: u32) -> u64 {
        let (all, workers) = (self.units(), u64::from(self.workers));
        all / workers + u64::from(u64::from(worker) < all % workers)
    }

    /// Number of the file of a worker.
    pub fn file_of(&self, worker: u32) -> u32 {
        if self.share {
            0
        } else {
            worker
        }
    }

    /// Whether workers draw from one heap of tickets.
    pub fn shares_tickets(&self) -> bool {
        self.share && self.workers > 1
    }

    pub fn check(&self) -> Result<(), EngineError> {
        let is_ordered = !self.operation.is_random();
        let moves_both_ways = matches!(self.operation, Operation::Rewrite | Operation::Seek);
        let refusals = [
            (
                self.chunk_bytes == 0 || u64::from(self.chunk_bytes) > CHUNK_BYTES_MAX,
                "a chunk has 1 B to 1 GiB",
            ),
            (
                self.chunk_bytes == 0 || self.chunks() == 0,
                "a file has a chunk at least",
            ),
            (
                i64::try_from(self.file_bytes).is_err(),
                "a file has less than 2^63 B",
            ),
            (
                self.workers == 0 || self.workers > WORKERS_MAX,
                "there are 1 to 1024 workers",
            ),
            (
                !is_ordered && self.calls == 0,
                "random calls need a number of them",
            ),
            (self.rewrite_percent > 100, "a share is 0 to 100 percent"),
            (
                self.style == Style::Stdio && (!is_ordered || moves_both_ways || self.share),
                "a buffer of the program's own is for files that are written or read in order",
            ),
            (
                self.style != Style::SystemCall && self.direct,
                "direct I/O needs calls of its own",
            ),
            (
                self.timed_calls == 0 || self.timed_calls > CALLS_MAX,
                "1 to 1048576 calls are timed together",
            ),
            (
                self.timed_calls > 1
                    && (!is_ordered || moves_both_ways || self.style != Style::SystemCall),
                "calls are timed together that write or read in order",
            ),
            (
                self.style == Style::Mmap && moves_both_ways,
                "memory of a file is written or read, at random or in order",
            ),
            (
                self.share && self.workers > 1 && self.fresh,
                "a file that several share is made before",
            ),
            (
                self.tickets_by_pipe && self.calls > 1 << 31,
                "a pipe has 2^31 tickets at most",
            ),
            (self.interval_ns == 0, "an interval has a length"),
        ];
        refuse(&refusals)
    }
}

/// What is done with each of many small files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmallOperation {
    Create,
    Stat,
    Delete,
}

impl SmallOperation {
    pub fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Stat => "stat",
            Self::Delete => "delete",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// As they were created.
    Sequential,
    Random,
    /// As the directories list them.
    Listed,
}

/// How small files are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameStyle {
    /// Ten decimal digits.
    Numbers,
    /// Ten hexadecimal digits, then up to 12 random letters and digits.
    NumberFirst,
    /// The same the other way round, so that names are in no order.
    NumberLast,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    None,
    /// All but the first are hard links to it.
    Hard,
    Symbolic,
}

/// Many small files.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // each is a switch of the original tools
pub struct SmallPlan {
    pub operation: SmallOperation,
    pub count: u64,
    /// Sizes are drawn from `size_least_bytes` to `size_bytes`.
    pub size_least_bytes: u64,
    pub size_bytes: u64,
    /// The most that one call moves; 0: a file at once.
    pub chunk_bytes: u64,
    /// 0: in the folder itself.
    pub directories: u32,
    pub names: NameStyle,
    pub links: Links,
    pub order: Order,
    pub content: Content,
    pub fsync: bool,
    /// The directory is flushed as well, after a file is created or deleted.
    pub fsync_directory: bool,
    /// The flush is part of the time of the operation.
    pub timed_fsync: bool,
    /// All that is dirty anywhere is written back at the end, in the time of the step.
    pub sync_at_end: bool,
    /// A stat reads the file as well.
    pub read: bool,
    pub seed: u64,
    pub interval_ns: u64,
}

/// Why a plan on a file that is not there has no meaning.
pub const NO_FILE: &str = "there is no file to work on; one is made by a step that is fresh";
/// What is held in memory at once.
pub const FILE_BYTES_MAX: u64 = 1 << 30;
/// The name of each is held in memory, too.
const FILES_MAX: u64 = 1 << 25;
const DIRECTORIES_MAX: u32 = 100_000;

impl SmallPlan {
    pub fn check(&self) -> Result<(), EngineError> {
        refuse(&[
            (
                self.count == 0 || self.count > FILES_MAX,
                "there are 1 to 2^25 files",
            ),
            (
                self.size_least_bytes > self.size_bytes || self.size_bytes > FILE_BYTES_MAX,
                "the least size is not above the most, and that is 1 GiB at most",
            ),
            (
                self.directories > DIRECTORIES_MAX,
                "there are 100000 directories at most",
            ),
            (
                self.operation == SmallOperation::Create && self.order == Order::Listed,
                "what is not there yet is listed nowhere",
            ),
            (
                self.read && self.links == Links::Symbolic,
                "a symbolic link is not followed, so that it cannot be read",
            ),
            (self.interval_ns == 0, "an interval has a length"),
        ])
    }

    /// How many files go to one directory.
    pub fn per_directory(&self) -> u64 {
        self.count / u64::from(self.directories.max(1)) + 1
    }
}

fn refuse(refusals: &[(bool, &'static str)]) -> Result<(), EngineError> {
    match refusals.iter().find(|(is_wrong, _)| *is_wrong) {
        Some((_, reason)) => Err(EngineError::PlanRefused { reason }),
        None => Ok(()),
    }
}
