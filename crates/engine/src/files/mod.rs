//! Work on files: calls on large ones and many small ones, in a folder that the caller opened.
//!
//! [`plan`] says what to do, [`turns`] in which order, [`filler`] with which bytes, [`names`] under
//! which names; none of them makes a call. [`large`] and [`small`] carry it out, one turn at a
//! time, over any [`calls::Calls`]; [`crew`] has the threads, and [`folder`] what was made.

pub mod crew;
pub mod folder;

pub mod large;
pub mod small;

pub mod books;
pub mod calls;
pub mod filler;
pub mod kernel;
pub mod names;
mod table;
pub mod turns;

pub mod plan;
