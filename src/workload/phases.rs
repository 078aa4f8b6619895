//! Phase marks by the clock, for programs that do not say where they are.

use std::future::Future;
use std::time::Duration;

use super::Marks;

/// Awaits `work` and meanwhile enters each phase at its time; the last one lasts until the end.
pub(super) async fn during<T>(
    marks: &Marks<'_>,
    phases: &[(&str, Duration)],
    work: impl Future<Output = T>,
) -> T {
    let clock = async {
        for (name, length) in phases {
            marks.enter(name);
            tokio::time::sleep(*length).await;
        }
        std::future::pending::<()>().await;
    };
    tokio::select! {
        biased;
        outcome = work => { marks.leave(); outcome }
        () = clock => unreachable!("the clock never ends"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[tokio::test]
    async fn phases_begin_at_their_times() {
        let marks = Marks::new(Instant::now());
        let ten = Duration::from_millis(10);
        during(&marks, &[("warm-up", ten), ("measure", ten)], tokio::time::sleep(ten * 4)).await;
        let phases = marks.phases();
        assert_eq!(phases.iter().map(|p| p.name.as_str()).collect::<Vec<_>>(), ["warm-up", "measure"]);
        assert!(phases.iter().all(|p| p.end.is_some()));
    }
}
