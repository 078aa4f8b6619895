//! An error and what caused it, as one line.

use std::error::Error;

/// The texts of `error` and of its causes, outermost first. A cause that the
/// text before it has already told is left out.
pub fn with_causes(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !text.contains(&next) {
            text = format!("{text}: {next}");
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use thiserror::Error;

    use super::*;

    #[derive(Debug, Error)]
    enum Outer {
        #[error("cannot write a: {source}; free space")]
        Told { source: std::io::Error },
        #[error("cannot write b")]
        Untold { source: std::io::Error },
    }

    #[test]
    fn causes_are_told_once() {
        let full = || std::io::Error::other("no space");
        assert_eq!(with_causes(&Outer::Told { source: full() }), "cannot write a: no space; free space");
        assert_eq!(with_causes(&Outer::Untold { source: full() }), "cannot write b: no space");
    }
}
