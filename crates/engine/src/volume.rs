//! One address space over the members of a target: a single one, several one after the other,
//! or several in stripes. It holds their open descriptors and says where an address lies; what is
//! done there is the backends' business.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use crate::error::EngineError;
use crate::request::{Op, Request};

/// How the addresses lie over the members, in the order of the members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layout {
    /// The member's own addresses, as far as it goes.
    Single,
    /// One member after the other, each with all of its bytes.
    Concatenated { member_bytes: Vec<u64> },
    /// In turns, a chunk at a time, over as many whole chunks as the smallest member has.
    Striped {
        member_bytes: Vec<u64>,
        chunk_bytes: u64,
    },
}

/// The piece of an I/O that lies on one member without a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pub member: usize,
    /// Where on the member.
    pub offset_bytes: u64,
    /// Where in the I/O, and so in its buffer.
    pub at_bytes: u32,
    pub length_bytes: u32,
}

impl Layout {
    fn check(&self, members: usize) -> Result<(), EngineError> {
        let check = |condition: bool, reason: &'static str| {
            condition
                .then_some(())
                .ok_or(EngineError::PlanRefused { reason })
        };
        let (member_bytes, chunk_bytes) = match self {
            Self::Single => return check(members == 1, "a single target has one member"),
            Self::Concatenated { member_bytes } => (member_bytes, 1),
            Self::Striped {
                member_bytes,
                chunk_bytes,
            } => (member_bytes, *chunk_bytes),
        };
        let fits = |&bytes: &u64| chunk_bytes > 0 && bytes >= chunk_bytes;
        let total = member_bytes
            .iter()
            .try_fold(0u64, |all, &one| all.checked_add(one));
        check(member_bytes.len() == members, "each member has one size")?;
        check(members > 0, "a target has a member")?;
        check(
            member_bytes.iter().all(fits),
            "a member holds less than a chunk, or nothing",
        )?;
        check(
            total.is_some_and(|bytes| i64::try_from(bytes).is_ok()),
            "the members hold more than 2^63 bytes",
        )
    }

    /// What the target holds; None where the single member alone knows.
    pub fn capacity_bytes(&self) -> Option<u64> {
        match self {
            Self::Single => None,
            Self::Concatenated { member_bytes } => Some(member_bytes.iter().sum()),
            Self::Striped {
                member_bytes,
                chunk_bytes,
            } => {
                let smallest = member_bytes.iter().min().copied().unwrap_or(0);
                Some(smallest / chunk_bytes * chunk_bytes * member_bytes.len() as u64)
            }
        }
    }

    /// Member and offset of an address, and how many bytes from there on lie on it without a gap.
    fn place(&self, address_bytes: u64) -> (usize, u64, u64) {
        match self {
            Self::Single => (0, address_bytes, u64::MAX),
            Self::Concatenated { member_bytes } => {
                let mut offset_bytes = address_bytes;
                for (member, &bytes) in member_bytes.iter().enumerate() {
                    if offset_bytes < bytes {
                        return (member, offset_bytes, bytes - offset_bytes);
                    }
                    offset_bytes -= bytes;
                }
                panic!("the session refused what lies beyond the members");
            }
            Self::Striped {
                member_bytes,
                chunk_bytes,
            } => {
                let members = member_bytes.len() as u64;
                let (chunk, within) = (address_bytes / chunk_bytes, address_bytes % chunk_bytes);
                let offset_bytes = chunk / members * chunk_bytes + within;
                (
                    (chunk % members) as usize,
                    offset_bytes,
                    chunk_bytes - within,
                )
            }
        }
    }

    /// The parts of an I/O in the order of their addresses. Those on one member are not joined:
    /// between two chunks of it lies another member's part of the buffer.
    pub fn parts(&self, offset_bytes: u64, length_bytes: u32) -> impl Iterator<Item = Part> + '_ {
        let mut at_bytes = 0;
        std::iter::from_fn(move || {
            if at_bytes == length_bytes {
                return None;
            }
            let (member, on_member, room) = self.place(offset_bytes + u64::from(at_bytes));
            let left_bytes = length_bytes - at_bytes;
            let part = Part {
                member,
                offset_bytes: on_member,
                at_bytes,
                length_bytes: u32::try_from(room).map_or(left_bytes, |room| room.min(left_bytes)),
            };
            at_bytes += part.length_bytes;
            Some(part)
        })
    }

    /// Most parts that an I/O of this length can have, wherever it begins.
    pub fn parts_max(&self, length_bytes: u32) -> u64 {
        let (smallest, most) = match self {
            Self::Single => return 1,
            Self::Concatenated { member_bytes } => {
                let smallest = member_bytes.iter().min().copied().unwrap_or(1);
                (smallest, member_bytes.len() as u64)
            }
            Self::Striped { chunk_bytes, .. } => (*chunk_bytes, u64::MAX),
        };
        // One byte in the first, one in the last, and whole ones between them.
        let length_bytes = u64::from(length_bytes);
        let between = length_bytes.saturating_sub(2) / smallest;
        (between + 2).min(length_bytes).min(most)
    }

    /// Where one member ends and the next begins: every border is a sum of multiples of these.
    pub fn borders_bytes(&self) -> &[u64] {
        match self {
            Self::Single => &[],
            Self::Concatenated { member_bytes } => &member_bytes[..member_bytes.len() - 1],
            Self::Striped { chunk_bytes, .. } => std::slice::from_ref(chunk_bytes),
        }
    }
}

/// The open descriptors of a target under their layout. A clone shares them.
#[derive(Clone, Debug)]
pub struct Volume {
    members: Vec<Arc<OwnedFd>>,
    layout: Layout,
}

impl Volume {
    /// The members of a target; refused where the layout is not one of them.
    pub fn new(members: Vec<OwnedFd>, layout: Layout) -> Result<Self, EngineError> {
        layout.check(members.len())?;
        Ok(Self {
            members: members.into_iter().map(Arc::new).collect(),
            layout,
        })
    }

    pub fn members(&self) -> &[Arc<OwnedFd>] {
        &self.members
    }

    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The only member, if its addresses are those of the target.
    pub fn single(&self) -> Option<&Arc<OwnedFd>> {
        (self.layout == Layout::Single).then(|| &self.members[0])
    }

    /// The parts of a request: a flush has one on each member.
    pub(crate) fn parts(&self, request: &Request) -> impl Iterator<Item = Part> + '_ {
        let (members, length_bytes) = match request.op {
            Op::Flush => (self.members.len(), 0),
            Op::Read | Op::Write | Op::Discard => (0, request.length_bytes),
        };
        let flushes = (0..members).map(|member| Part {
            member,
            offset_bytes: 0,
            at_bytes: 0,
            length_bytes: 0,
        });
        flushes.chain(self.layout.parts(request.offset_bytes, length_bytes))
    }

    /// Most parts that a request of at most this length can have, a flush among them.
    pub(crate) fn parts_max(&self, length_bytes: u32) -> u64 {
        let members = self.members.len() as u64;
        self.layout.parts_max(length_bytes).max(members)
    }
}

impl From<Arc<OwnedFd>> for Volume {
    fn from(file: Arc<OwnedFd>) -> Self {
        Self {
            members: vec![file],
            layout: Layout::Single,
        }
    }
}

impl From<OwnedFd> for Volume {
    fn from(file: OwnedFd) -> Self {
        Self::from(Arc::new(file))
    }
}
