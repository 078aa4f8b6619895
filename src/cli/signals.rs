//! Ctrl-C and its relatives become one cancellation.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// A token that SIGINT, SIGTERM and SIGHUP cancel. Further signals change
/// nothing: the host is restored whatever the user's patience.
pub fn cancel_on_signal() -> std::io::Result<CancellationToken> {
    let cancel = CancellationToken::new();
    for kind in [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()] {
        let mut signals = signal(kind)?;
        let token = cancel.clone();
        tokio::spawn(async move {
            while signals.recv().await.is_some() {
                if token.is_cancelled() {
                    eprintln!("run-bench: still restoring the host, please wait");
                } else {
                    eprintln!("run-bench: stopping; the host is being restored");
                    token.cancel();
                }
            }
        });
    }
    Ok(cancel)
}
