//! The engine's tests from outside, one program for all: linked once they compile in less time.
//! Beside it: what looks at, or sets, something of its whole process.

mod access;
mod counts;
mod files;
mod files_folder;
mod memory;
mod nothing;
mod own_time;
mod patterns;
mod plain;
mod refusals;
mod rehearsal;
mod session;
mod slots;
mod verify;
mod virtual_time;
mod volume;
mod witness;
