//! Work on files, large and small, in a folder that the caller opened. [`plan`] says what to do,
//! [`turns`] in which order, [`filler`] with which bytes, [`sample`] what these are like, [`names`]
//! under which names; none of them makes a call. [`large`] and [`small`] carry it out, turn by
//! turn, over any [`calls::Calls`]; [`crew`] has the threads, [`folder`] what was made.

pub mod crew;
pub mod folder;

pub mod large;
pub mod small;

pub mod books;
pub mod calls;
pub mod filler;
pub mod kernel;
pub mod names;
pub mod sample;
mod table;
pub mod turns;

pub mod plan;
