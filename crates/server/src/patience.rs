//! How a start waits for a database: it may be starting too, or go away for a moment while we do.
//! Told once in the log, tried again at a steady pace, and given up in the end, so that whoever
//! runs the server learns of a database that does not come.

use crate::exit::Failure;
use crate::place::Place;
use std::time::Duration;
use tokio::time::Instant;

/// How long one step of a start waits for a database that does not answer.
const DATABASE_WAIT: Duration = Duration::from_secs(30);
const DATABASE_POLL: Duration = Duration::from_millis(500);

/// The wait of one step of a start.
pub(crate) struct Patience {
    began: Instant,
    has_told: bool,
}

impl Patience {
    /// Begins now.
    pub(crate) fn new() -> Self {
        Self { began: Instant::now(), has_told: false }
    }

    /// Waits a moment after a failure; gives it back when it has been waited for long enough.
    pub(crate) async fn wait(&mut self, failure: Failure) -> Result<(), Failure> {
        if self.began.elapsed() >= DATABASE_WAIT {
            let waited = DATABASE_WAIT.as_secs();
            let message = format!("{}; waited {waited} seconds for it", failure.message);
            return Err(Failure::failed(message));
        }
        if !self.has_told {
            tracing::warn!(why = failure.message, "waiting for the database");
            self.has_told = true;
        }
        tokio::time::sleep(DATABASE_POLL).await;
        Ok(())
    }
}

/// Does a step of a start on an open place, again while a database is away. A directory is ours
/// alone: what fails there fails for good.
pub(crate) async fn patiently<T>(
    place: &Place,
    mut step: impl AsyncFnMut() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let mut patience = Patience::new();
    loop {
        match step().await {
            Err(failure) if failure.may_pass && matches!(place, Place::Database(_)) => {
                patience.wait(failure).await?;
            }
            done => return done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often a step that fails so often is done, and whether it succeeds in the end.
    async fn tries(place: &str, failures: usize, may_pass: bool) -> (usize, bool) {
        let place = Place::from(place.to_owned());
        let mut tries = 0;
        let done = patiently(&place, async || {
            tries += 1;
            match tries > failures {
                true => Ok(()),
                false => Err(Failure { may_pass, ..Failure::failed("no") }),
            }
        });
        let is_done = done.await.is_ok();
        (tries, is_done)
    }

    #[tokio::test(start_paused = true)]
    async fn only_a_database_that_may_come_back_is_waited_for() {
        let began = Instant::now();
        assert_eq!(tries("postgres://u@h/d", 3, true).await, (4, true));
        assert_eq!(tries("postgres://u@h/d", 3, false).await, (1, false));
        assert_eq!(tries("/d", 3, true).await, (1, false));
        assert!(began.elapsed() < DATABASE_WAIT);
        let (tries, is_done) = tries("postgres://u@h/d", usize::MAX, true).await;
        assert!(tries > 10 && !is_done, "{tries}");
        assert!(began.elapsed() < DATABASE_WAIT * 2);
    }
}
