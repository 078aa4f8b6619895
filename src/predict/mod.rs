//! Forecasts: claims and patches to model flags, priced against a profile.
