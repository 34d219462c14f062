//! Which error number a refusal becomes: one table, written down in `docs/guides/mount.md`.
//!
//! A program sees these numbers only; what the server said in words is in the log and in the
//! extended attribute `user.loci.unsaved`.

use crate::port::Refusal;
use fuser::Errno;

/// The error number of a refusal.
pub(crate) fn of(refusal: &Refusal) -> Errno {
    match refusal {
        Refusal::NotFound => Errno::ENOENT,
        Refusal::ExpectFailed => Errno::ESTALE,
        Refusal::Taken { .. } => Errno::EEXIST,
        Refusal::ReadOnly => Errno::EROFS,
        Refusal::Denied => Errno::EACCES,
        Refusal::TooLarge => Errno::EFBIG,
        Refusal::Full => Errno::ENOSPC,
        Refusal::Invalid(_) => Errno::EINVAL,
        Refusal::Unreachable(_) => Errno::EIO,
    }
}

/// The number for a call that names a path. The kernel answers `ESTALE` of such a call by doing it
/// again, so that a lost race would be won the second time and nobody would hear of it.
pub(crate) fn of_path_call(errno: Errno) -> Errno {
    if errno == Errno::ESTALE { Errno::EBUSY } else { errno }
}

/// The same in words, for the log and for whoever asks why something is not saved.
pub(crate) fn reason(refusal: &Refusal) -> String {
    match refusal {
        Refusal::NotFound => "the memory is gone".into(),
        Refusal::ExpectFailed => "somebody else changed the memory".into(),
        Refusal::Taken { path: Some(path), .. } => format!("{path} is in the way"),
        Refusal::Taken { path: None, .. } => "the path is taken".into(),
        Refusal::ReadOnly => "the store is read-only".into(),
        Refusal::Denied => "access was denied".into(),
        Refusal::TooLarge => "the content is too large for the store".into(),
        Refusal::Full => "the store or its disk is full".into(),
        Refusal::Invalid(why) => why.clone(),
        Refusal::Unreachable(why) => format!("the server did not answer: {why}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_has_its_number() {
        let table = [
            (Refusal::NotFound, Errno::ENOENT),
            (Refusal::ExpectFailed, Errno::ESTALE),
            (Refusal::Taken { path: None, memory: None }, Errno::EEXIST),
            (Refusal::ReadOnly, Errno::EROFS),
            (Refusal::Denied, Errno::EACCES),
            (Refusal::TooLarge, Errno::EFBIG),
            (Refusal::Full, Errno::ENOSPC),
            (Refusal::Invalid("x".into()), Errno::EINVAL),
            (Refusal::Unreachable("x".into()), Errno::EIO),
        ];
        for (refusal, number) in table {
            assert_eq!(of(&refusal), number, "{refusal:?}");
            assert!(!reason(&refusal).is_empty());
        }
    }
}
