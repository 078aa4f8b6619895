//! The random numbers that memtier_benchmark draws: the C library's additive
//! feedback generator with a state of 63 words (`random_r` with 256 bytes or
//! more), two outputs joined to a number of 62 bits.

/// Words of the state; the feedback polynomial is x^63 + x + 1.
const DEGREE: usize = 63;
const SEPARATION: usize = 1;
/// Outputs thrown away after seeding.
const DISCARDED: usize = 10 * DEGREE;
const SEED_MULTIPLIER: u64 = 16_807;
const SEED_MODULUS: u64 = (1 << 31) - 1;

/// The generator of one client.
#[derive(Debug, Clone)]
pub(super) struct AdditiveRandom {
    state: [u32; DEGREE],
    front: usize,
    rear: usize,
}

/// The largest value of [`AdditiveRandom::next62`].
pub(super) const MAXIMUM: u64 = (1 << 62) - 1;

impl AdditiveRandom {
    /// The generator that memtier seeds with `seed`; it adds one, since 0 and 1 are alike.
    pub(super) fn new(seed: u32) -> Self {
        let mut state = [0; DEGREE];
        // The modulus is prime, so a seed that is no multiple of it never reaches zero.
        let mut word = (u64::from(seed) + 1) % SEED_MODULUS;
        if word == 0 {
            word = 1;
        }
        for slot in &mut state {
            *slot = word as u32;
            word = word * SEED_MULTIPLIER % SEED_MODULUS;
        }
        let mut random = AdditiveRandom { state, front: SEPARATION, rear: 0 };
        for _ in 0..DISCARDED {
            random.next31();
        }
        random
    }

    fn next31(&mut self) -> u32 {
        let sum = self.state[self.front].wrapping_add(self.state[self.rear]);
        self.state[self.front] = sum;
        self.front = if self.front + 1 == DEGREE { 0 } else { self.front + 1 };
        self.rear = if self.rear + 1 == DEGREE { 0 } else { self.rear + 1 };
        sum >> 1
    }

    /// A number of 62 bits, the earlier output above the later one.
    pub(super) fn next62(&mut self) -> u64 {
        let high = u64::from(self.next31());
        high << 31 | u64::from(self.next31())
    }

    /// A number from 0 to 1, both included.
    pub(super) fn unit(&mut self) -> f64 {
        self.next62() as f64 / MAXIMUM as f64
    }

    /// A number of the range, both ends included; memtier takes the remainder.
    pub(super) fn within(&mut self, minimum: u64, maximum: u64) -> u64 {
        self.next62() % (maximum - minimum + 1) + minimum
    }
}
