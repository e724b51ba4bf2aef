//! What the fuzz targets share: plans made of bytes, and a rehearsal of them that knows what must
//! come of each.

mod judge;
pub mod rehearsal;
pub mod sketch;
