//! Devices that fail: `faulty` stands around any device and lets it fail in the ways and at the
//! times its parameters say, `outage` is silence and power cuts, `lottery` draws whom it befalls,
//! `window` knows what a power cut takes, `thin` what thin provisioning has left, `injected` counts
//! it all, `params` is what makes one.

mod faulty;
mod injected;
mod lottery;
mod outage;
pub mod params;
mod thin;
mod window;

pub use faulty::Faulty;
