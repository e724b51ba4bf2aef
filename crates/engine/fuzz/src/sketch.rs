//! Plans made of arbitrary bytes. Most numbers are near those that a person would write, so that
//! most plans get past the check; one in eight is any number at all.

use arbitrary::{Arbitrary, Result, Unstructured};
use teijo_engine::plan::{
    Access, BlockShare, Bound, Content, Order, Plan, Range, Rate, Schedule, StreamPlan, Verify,
    Written, Zone,
};

/// A number of any size: small, a multiple of a sector, around a power of two, or any.
fn number(input: &mut Unstructured) -> Result<u64> {
    Ok(match input.int_in_range(0..=7u8)? {
        0..=2 => u64::from(input.arbitrary::<u8>()?),
        3 | 4 => u64::from(input.arbitrary::<u16>()?) * 512,
        5 => 1 << input.int_in_range(0..=63)?,
        6 => (1u64 << input.int_in_range(0..=63)?).wrapping_sub(512 * input.int_in_range(0..=8)?),
        _ => input.arbitrary()?,
    })
}

/// Zero, one, a share, a power of ten, or any bits, which may be no number.
fn real(input: &mut Unstructured) -> Result<f64> {
    Ok(match input.int_in_range(0..=7u8)? {
        0 => 0.0,
        1 => 1.0,
        2..=4 => f64::from(input.arbitrary::<u16>()?) / 65_536.0,
        5 => f64::from(input.arbitrary::<u16>()?),
        6 => 10f64.powi(i32::from(input.arbitrary::<i8>()?)),
        _ => f64::from_bits(input.arbitrary()?),
    })
}

fn size_bytes(input: &mut Unstructured) -> Result<u32> {
    Ok(match input.int_in_range(0..=7u8)? {
        0..=5 => 512 * input.int_in_range(1..=64)?,
        6 => input.int_in_range(0..=9_000)?,
        _ => input.arbitrary()?,
    })
}

fn percent(input: &mut Unstructured) -> Result<u8> {
    Ok(match input.int_in_range(0..=7u8)? {
        0 | 1 => 0,
        2 | 3 => 100,
        4..=6 => input.int_in_range(0..=100)?,
        _ => input.arbitrary()?,
    })
}

fn list<T>(
    input: &mut Unstructured,
    longest: usize,
    mut one: impl FnMut(&mut Unstructured) -> Result<T>,
) -> Result<Vec<T>> {
    let length = input.int_in_range(0..=longest)?;
    (0..length).map(|_| one(input)).collect()
}

fn range(input: &mut Unstructured) -> Result<Range> {
    let segment_bytes = number(input)?;
    Ok(Range {
        start_bytes: number(input)?,
        segments: if input.arbitrary()? {
            1
        } else {
            number(input)?
        },
        segment_bytes,
        stride_bytes: if input.arbitrary()? {
            segment_bytes
        } else {
            segment_bytes.wrapping_add(number(input)?)
        },
    })
}

fn access(input: &mut Unstructured) -> Result<Access> {
    Ok(match input.int_in_range(0..=6u8)? {
        0 | 1 => Access::Random,
        2 => Access::Shuffled {
            key: input.arbitrary()?,
            cursor_bytes: number(input)?,
        },
        3 => Access::Zoned(list(input, 5, |input| {
            Ok(Zone {
                access_share: real(input)?,
                range_share: real(input)?,
            })
        })?),
        4 => Access::Zipf {
            theta: real(input)?,
        },
        5 => Access::Pareto { h: real(input)? },
        _ => Access::Sequential {
            cursor_bytes: number(input)?,
        },
    })
}

fn content(input: &mut Unstructured) -> Result<Content> {
    Ok(match input.int_in_range(0..=8u8)? {
        0..=2 => Content::Random,
        3 => Content::Refill,
        4 => Content::Compressible {
            percent: percent(input)?,
        },
        5 => Content::Dedupable {
            percent: percent(input)?,
        },
        6 => Content::OneBlock,
        7 => Content::Counting,
        _ => Content::Zero,
    })
}

fn rate(input: &mut Unstructured) -> Result<Rate> {
    let any = input.ratio(1, 4)?;
    Ok(Rate {
        ios_per_second: if any {
            real(input)?
        } else {
            f64::from(input.arbitrary::<u32>()?)
        },
        schedule: if input.arbitrary()? {
            Schedule::Fixed
        } else {
            Schedule::Poisson
        },
    })
}

fn written(input: &mut Unstructured) -> Result<Written> {
    let order = if input.arbitrary()? {
        Order::Sequential
    } else {
        Order::Shuffled {
            key: input.arbitrary()?,
            block_size_bytes: size_bytes(input)?,
        }
    };
    Ok(Written {
        order,
        range: range(input)?,
        from_bytes: number(input)?,
        to_bytes: number(input)?,
        generation: number(input)?,
    })
}

fn thread_stride(input: &mut Unstructured) -> Result<Option<u64>> {
    let own = input.ratio(1, 4)?;
    own.then(|| number(input)).transpose()
}

fn stream(input: &mut Unstructured, verified: bool) -> Result<StreamPlan> {
    let blocks = if input.ratio(1, 3)? {
        list(input, 6, |input| {
            Ok(BlockShare {
                block_size_bytes: size_bytes(input)?,
                weight: number(input)? as u32,
            })
        })?
    } else {
        Vec::new()
    };
    let largest = blocks.iter().map(|share| share.block_size_bytes).max();
    let verify = Verify {
        run: 7,
        generation: number(input)?,
        written: if input.ratio(1, 4)? {
            list(input, 2, written)?
        } else {
            Vec::new()
        },
    };
    Ok(StreamPlan {
        threads: if input.ratio(1, 30)? {
            input.arbitrary()?
        } else {
            input.int_in_range(1..=4)?
        },
        queue_depth: if input.ratio(1, 30)? {
            input.arbitrary()?
        } else {
            input.int_in_range(1..=40)?
        },
        read_percent: percent(input)?,
        discard_percent: if input.ratio(1, 4)? {
            percent(input)?
        } else {
            0
        },
        flush_every_writes: if input.ratio(1, 4)? {
            number(input)? as u32
        } else {
            0
        },
        block_size_bytes: if let Some(largest) = largest {
            largest
        } else {
            size_bytes(input)?
        },
        blocks,
        alignment_bytes: if input.ratio(1, 3)? {
            size_bytes(input)?
        } else {
            0
        },
        access: access(input)?,
        thread_stride_bytes: thread_stride(input)?,
        range: range(input)?,
        content: content(input)?,
        write_through: input.ratio(1, 8)?,
        census: input.ratio(1, 8)?,
        verify: verified.then_some(verify),
        rate: if input.ratio(1, 4)? {
            Some(rate(input)?)
        } else {
            None
        },
        seed: input.arbitrary()?,
    })
}

/// A plan, and what chooses how the device behaves. `cargo fuzz fmt plan FILE` prints it.
#[derive(Debug)]
pub struct AnyPlan {
    pub plan: Plan,
    pub seed: u64,
}

impl<'a> Arbitrary<'a> for AnyPlan {
    fn arbitrary(input: &mut Unstructured<'a>) -> Result<Self> {
        Ok(Self {
            seed: u64::from(input.arbitrary::<u16>()?),
            plan: plan(input)?,
        })
    }
}

/// A plan of up to three streams.
fn plan(input: &mut Unstructured) -> Result<Plan> {
    let verified = input.ratio(1, 3)?;
    let bound = if input.arbitrary()? {
        Bound::Time {
            duration_ns: number(input)?,
        }
    } else {
        Bound::Bytes {
            total_bytes: number(input)?,
        }
    };
    let interval_ns = if input.ratio(1, 8)? {
        number(input)?
    } else {
        1_000_000_000
    };
    Ok(Plan {
        bound,
        interval_ns,
        open_ended: input.ratio(1, 8)?,
        continues: false,
        streams: list(input, 3, |input| stream(input, verified))?,
    })
}
