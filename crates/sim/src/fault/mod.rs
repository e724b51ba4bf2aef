//! Devices that fail: `faulty` stands around any device and lets it fail in the ways and at the
//! times its parameters say, `harm` is what becomes of data, `outage` silence and power cuts,
//! `lottery` draws whom it befalls, `requests` are the I/Os in flight, `window` knows what a power
//! cut takes, `thin` what thin provisioning has left, `injected` counts it all, `params` is what
//! makes one.

mod faulty;
mod harm;
mod injected;
mod lottery;
mod outage;
pub mod params;
mod requests;
mod thin;
mod window;

pub use faulty::Faulty;
