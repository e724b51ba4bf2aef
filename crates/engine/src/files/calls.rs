//! The calls that work on files makes: whoever answers them, a kernel, a count or a model.

use std::ffi::CStr;

/// What a call gave, or its errno.
pub type Tried<T> = Result<T, i32>;

/// How a file is opened; for reading always, as no other name is looked up a second time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // flags of one call
pub struct Opening {
    pub read: bool,
    pub write: bool,
    /// It must not be there yet.
    pub create: bool,
    pub direct: bool,
    pub synchronous: bool,
}

/// Where a file's position goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    To(u64),
    Back(u64),
}

/// Directory 0 is the folder itself, the others are those made in it.
pub trait Calls {
    type File: Send;
    /// A file in memory.
    type Mapped: Mapped;

    fn now_ns(&self) -> u64;
    fn open(&self, directory: u32, name: &CStr, how: Opening) -> Tried<Self::File>;
    /// At the file's position where no offset is named.
    fn read(&self, file: &Self::File, buffer: &mut [u8], at_bytes: Option<u64>) -> Tried<usize>;
    fn write(&self, file: &Self::File, buffer: &[u8], at_bytes: Option<u64>) -> Tried<usize>;
    fn seek(&self, file: &Self::File, to: Move) -> Tried<()>;
    fn set_length(&self, file: &Self::File, bytes: u64) -> Tried<()>;
    fn map(&self, file: &Self::File, bytes: u64) -> Tried<Self::Mapped>;
    fn fsync(&self, file: &Self::File) -> Tried<()>;
    fn close(&self, file: Self::File) -> Tried<()>;
    /// The numbers of the descriptors that its calls begin at.
    fn descriptors(&self) -> Vec<i32> {
        Vec::new()
    }
    /// The size of what has this name; a link is not followed.
    fn stat(&self, directory: u32, name: &CStr) -> Tried<u64>;
    fn unlink(&self, directory: u32, name: &CStr) -> Tried<()>;
    fn link(&self, from: (u32, &CStr), to: (u32, &CStr)) -> Tried<()>;
    fn symlink(&self, target: &CStr, at: (u32, &CStr)) -> Tried<()>;
    fn fsync_directory(&self, directory: u32) -> Tried<()>;
    /// Writes back all that is dirty, of any file.
    fn sync(&self);
    /// Gives each name in a directory, in its own order.
    fn list(&self, directory: u32, take: &mut dyn FnMut(&CStr)) -> Tried<()>;
    /// Makes the next directory in the folder.
    fn make_directory(&mut self, name: &CStr) -> Tried<()>;
    /// Removes the directories in the folder again, as far as they are empty.
    fn remove_directories(&mut self);
}

/// A file that is read and written as memory.
pub trait Mapped: Send {
    /// False where the kernel could not: an I/O error, or a full disk.
    fn read(&self, at_bytes: u64, buffer: &mut [u8]) -> bool;
    fn write(&self, at_bytes: u64, buffer: &[u8]) -> bool;
    /// Waits until a part is on the device.
    fn sync(&self, at_bytes: u64, bytes: u64) -> Tried<()>;
}
