//! Statistics: summaries, intervals, tests, sequential looks, power. Pure and seeded.
