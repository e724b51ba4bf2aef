//! Work on files in a real folder, with the threads that carry it out.

use std::collections::BTreeMap;
use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{flock, FlockOperation};
use teijo_engine::error::EngineError;
use teijo_engine::files::crew::{Done, Look};
use teijo_engine::files::folder::Folder;
use teijo_engine::files::plan::{
    Content, LargePlan, Links, NameStyle, Operation, Order, SmallOperation, SmallPlan, Style,
};
use teijo_engine::watch::Verdict;

/// A folder of a test, removed with all that is in it.
struct Home(PathBuf);

impl Home {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("teijo-files-{name}-{}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn folder(&self) -> Folder {
        Folder::new(OwnedFd::from(fs::File::open(&self.0).unwrap()))
    }

    fn names(&self) -> Vec<String> {
        names_in(&self.0)
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn names_in(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn large(operation: Operation) -> LargePlan {
    LargePlan {
        operation,
        file_bytes: 16 * 4096,
        fresh: operation == Operation::Write,
        seed: 7,
        offset_seed: 8,
        ..LargePlan::default()
    }
}

fn go_on(_: &Look) -> Verdict {
    Verdict::GoOn
}

fn run(folder: &mut Folder, plan: &LargePlan) -> Done {
    let done = folder.run_large(plan, go_on).unwrap();
    assert_eq!(done.failure, None);
    done
}

#[test]
fn workers_share_a_file_by_tickets_from_memory_or_from_a_pipe_and_do_the_same() {
    let home = Home::new("share");
    let mut folder = home.folder();
    run(&mut folder, &large(Operation::Write));
    let read = || fs::read(home.0.join("large-00000")).unwrap();
    for tickets_by_pipe in [false, true] {
        let before = read();
        let seeks = LargePlan {
            calls: 30_000, // more than a pipe holds at once
            workers: 5,
            share: true,
            tickets_by_pipe,
            rewrite_percent: 10,
            ..large(Operation::Seek)
        };
        let done = run(&mut folder, &seeks);
        assert_eq!(done.main.times.count(), 30_000);
        assert_eq!(done.main.bytes, 30_000 * 4096);
        assert_eq!((done.flush.times.count(), done.close.times.count()), (5, 5));
        assert_eq!(
            done.intervals.iter().map(|one| one.ios).sum::<u64>(),
            30_000
        );
        assert_ne!(read(), before, "a share is written back changed");
    }
    folder.clear();
    assert_eq!(home.names(), Vec::<String>::new());
}

#[test]
fn each_worker_has_a_file_of_its_own_together_or_in_turn() {
    let home = Home::new("own");
    let mut folder = home.folder();
    for in_turn in [false, true] {
        let plan = LargePlan {
            workers: 3,
            in_turn,
            ..large(Operation::Write)
        };
        let done = run(&mut folder, &plan);
        assert_eq!(
            (done.main.times.count(), done.main.bytes),
            (48, 3 * 16 * 4096)
        );
        assert!(done.elapsed_ns >= done.flush.times.max_ns());
    }
    assert_eq!(home.names(), ["large-00000", "large-00001", "large-00002"]);
    let contents: Vec<_> = home
        .names()
        .iter()
        .map(|name| fs::read(home.0.join(name)).unwrap())
        .collect();
    assert!(contents[0] != contents[1] && contents[1] != contents[2]);
    folder.clear();
}

#[test]
fn memory_of_a_file_holds_what_calls_wrote_and_a_page_that_is_not_there_is_an_error() {
    let home = Home::new("mmap");
    let mut folder = home.folder();
    run(&mut folder, &large(Operation::Write));
    let mapped = LargePlan {
        style: Style::Mmap,
        ..large(Operation::Read)
    };
    assert_eq!(run(&mut folder, &mapped).main.bytes, 16 * 4096);
    // Beyond its end a file has no pages: the kernel sends SIGBUS, as for a bad sector.
    let beyond = LargePlan {
        file_bytes: 20 * 4096,
        ..mapped
    };
    let done = run(&mut folder, &beyond);
    assert_eq!(done.main.times.count(), 16);
    assert_eq!(done.main.errors, BTreeMap::from([(libc::EIO, 4)]));
    let written = LargePlan {
        style: Style::Mmap,
        sparse: true,
        content: Content::Zero,
        fresh: false,
        synchronous: true,
        ..large(Operation::Write)
    };
    assert_eq!(run(&mut folder, &written).main.times.count(), 16);
    let content = fs::read(home.0.join("large-00000")).unwrap();
    assert!(content.len() == 16 * 4096 && content.iter().all(|byte| *byte == 0));
    folder.clear();
}

#[test]
fn who_looks_on_stops_the_work_and_what_was_made_is_removed() {
    let home = Home::new("stop");
    let mut folder = home.folder();
    let plan = SmallPlan {
        operation: SmallOperation::Create,
        count: 300_000,
        size_least_bytes: 0,
        size_bytes: 0,
        chunk_bytes: 0,
        directories: 2,
        names: NameStyle::NumberLast,
        links: Links::None,
        order: Order::Sequential,
        content: Content::Zero,
        fsync: false,
        fsync_directory: false,
        timed_fsync: false,
        sync_at_end: false,
        read: false,
        seed: 1,
        interval_ns: 1_000_000_000,
    };
    let done = folder.run_small(&plan, |_| Verdict::Stop).unwrap();
    let there: usize = home
        .names()
        .iter()
        .map(|name| names_in(&home.0.join(name)).len())
        .sum();
    assert_eq!(home.names(), ["00000", "00001"]);
    assert_eq!(done.main.times.count(), there as u64);
    fs::write(home.0.join("00000").join("thesis"), "kept").unwrap();
    folder.clear();
    assert_eq!(home.names(), ["00000"]);
    assert_eq!(names_in(&home.0.join("00000")), ["thesis"]);
}

#[test]
fn a_link_in_the_place_of_a_file_is_not_followed() {
    let home = Home::new("link");
    let mut folder = home.folder();
    let theirs = home.0.join("theirs");
    fs::write(&theirs, "kept").unwrap();
    std::os::unix::fs::symlink(&theirs, home.0.join("large-00000")).unwrap();
    let again = LargePlan {
        fresh: false,
        ..large(Operation::Write)
    };
    let refused = folder.run_large(&again, go_on).unwrap_err();
    let (call, errno) = ("open", libc::ELOOP);
    assert_eq!(refused, EngineError::FileRefused { call, errno });
    // A fresh file takes the place of the link, and not of what it names.
    run(&mut folder, &large(Operation::Write));
    folder.clear();
    assert_eq!(fs::read_to_string(theirs).unwrap(), "kept");
    assert_eq!(home.names(), ["theirs"]);
}

/// A read of a pipe that nobody writes to stands for a device that does not answer.
#[test]
fn a_call_that_does_not_come_back_is_left_and_nothing_more_is_begun() {
    let home = Home::new("stuck");
    let mut folder = home.folder();
    let name = std::ffi::CString::new(home.0.join("large-00000").to_str().unwrap()).unwrap();
    // SAFETY: the name ends with a zero.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
    folder.limit_io(50_000_000);
    let plan = LargePlan {
        fsync: false,
        ..large(Operation::Read)
    };
    let left = folder.run_large(&plan, go_on).unwrap_err();
    assert!(
        matches!(left, EngineError::CallLeft { call: "call", .. }),
        "{left}"
    );
    let again = folder.run_large(&plan, go_on).unwrap_err();
    assert!(matches!(again, EngineError::CallLeft { .. }));
    folder.clear();
    assert_eq!(
        home.names(),
        ["large-00000"],
        "its calls could be waited for without end"
    );
}

#[test]
fn a_lone_worker_holds_no_lock_of_the_program_while_it_works_and_after() {
    let home = Home::new("lock");
    let locked = home.0.join("locked");
    fs::write(&locked, "").unwrap();
    let lock = || {
        let file = fs::File::open(&locked).unwrap();
        let tried = flock(&file, FlockOperation::NonBlockingLockExclusive);
        tried.expect("nobody has it any more");
        file
    };
    let mut mine = Some(lock());
    let mut looks = 0;
    let long = LargePlan {
        file_bytes: 1 << 40,
        chunk_bytes: 1,
        ..large(Operation::Write)
    };
    // The thread that works has begun by now, and goes on while the lock is given up.
    let watched = home.folder().run_large(&long, |_| {
        looks += 1;
        drop(mine.take());
        mine = Some(lock());
        if looks > 2 {
            Verdict::Stop
        } else {
            Verdict::GoOn
        }
    });
    assert!(watched.unwrap().stopped);
    assert!(looks > 0);
    drop(mine);
    lock();
}

/// A lone worker has descriptors of its own: what it closed last stayed open in the program's.
#[test]
fn a_lone_worker_that_is_refused_leaves_its_folder_to_be_closed_by_the_program() {
    let home = Home::new("refused");
    let missing = large(Operation::Read);
    for _ in 0..200 {
        let refused = home.folder().run_large(&missing, go_on);
        assert!(
            matches!(refused, Err(EngineError::PlanRefused { .. })),
            "{refused:?}"
        );
    }
    let open = fs::read_dir("/proc/self/fd").unwrap();
    let leads = open.filter_map(|one| fs::read_link(one.ok()?.path()).ok());
    assert_eq!(leads.filter(|to| *to == home.0).count(), 0);
}
