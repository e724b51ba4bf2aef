//! Where the chunks of an array lie, pure. Parity turns from member to member as Linux md's
//! left-symmetric layout does: the data of a stripe begin behind its parity.

/// How the members hold the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Each chunk once (RAID 0).
    Striped,
    /// Everything on every member (RAID 1).
    Mirrored,
    /// Each stripe with 1 or 2 parity chunks (RAID 5, 6).
    Parity { parities: u32 },
}

/// The addresses of one array. Bytes throughout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    pub level: Level,
    pub members: u32,
    pub chunk_bytes: u64,
    /// Used of each member.
    pub member_bytes: u64,
}

impl Layout {
    /// An array on `members` devices of which the smallest has `least_bytes`; `Err` says why there
    /// is none.
    pub fn new(
        level: Level,
        members: u32,
        chunk_bytes: u64,
        least_bytes: u64,
    ) -> Result<Self, String> {
        let least = match level {
            Level::Striped | Level::Mirrored => 2,
            Level::Parity { parities } => parities + 2,
        };
        if members < least {
            return Err(format!(
                "it needs {least} members at least and has {members}"
            ));
        }
        let member_bytes = least_bytes / chunk_bytes * chunk_bytes;
        if member_bytes == 0 {
            return Err(format!(
                "a chunk of {chunk_bytes} B does not fit on a member of {least_bytes} B"
            ));
        }
        Ok(Self {
            level,
            members,
            chunk_bytes,
            member_bytes,
        })
    }

    /// Chunks with data in each stripe.
    pub fn data_chunks(&self) -> u32 {
        match self.level {
            Level::Striped => self.members,
            Level::Mirrored => 1,
            Level::Parity { parities } => self.members - parities,
        }
    }

    pub fn stripe_bytes(&self) -> u64 {
        u64::from(self.data_chunks()) * self.chunk_bytes
    }

    pub fn capacity_bytes(&self) -> u64 {
        u64::from(self.data_chunks()) * self.member_bytes
    }

    /// Parity chunks in each stripe.
    pub fn parities(&self) -> u32 {
        match self.level {
            Level::Parity { parities } => parities,
            Level::Striped | Level::Mirrored => 0,
        }
    }

    /// The member with parity `which` of `stripe` (0 is P, 1 is Q).
    pub fn parity_member(&self, stripe: u64, which: u32) -> u32 {
        let turned = (stripe % u64::from(self.members)) as u32;
        (self.members - 1 - turned + which) % self.members
    }

    /// Where in the array the data at `offset_bytes` of a member lie; `None` for parity.
    pub fn host_bytes(&self, member: u32, offset_bytes: u64) -> Option<u64> {
        let stripe = offset_bytes / self.chunk_bytes;
        let index = match self.level {
            Level::Striped => member,
            Level::Mirrored => 0,
            Level::Parity { parities } => {
                let first = self.parity_member(stripe, 0) + parities;
                (member + 2 * self.members - first) % self.members
            }
        };
        let chunk = stripe * u64::from(self.data_chunks()) + u64::from(index);
        let inside_bytes = offset_bytes % self.chunk_bytes;
        (index < self.data_chunks()).then(|| chunk * self.chunk_bytes + inside_bytes)
    }

    /// The member with data chunk `index` of `stripe`.
    pub fn data_member(&self, stripe: u64, index: u32) -> u32 {
        match self.level {
            Level::Striped => index,
            Level::Mirrored => 0,
            Level::Parity { parities } => {
                (self.parity_member(stripe, 0) + parities + index) % self.members
            }
        }
    }
}
