//! Campaigns: schedule, journal, resume, stopping, budget.
