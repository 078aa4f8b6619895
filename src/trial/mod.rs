//! One trial: set up, warm up, measure, tear down, one record.
