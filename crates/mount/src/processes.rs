//! What `/proc` tells of the process behind a request: which process a thread belongs to, and whether
//! it has a file open by another descriptor. Read as text, never by opening what a descriptor leads to,
//! which may be this mount and would wait for its own answer.

use crate::node::Ino;
use std::fs;

/// Descriptors of one process to look at; one that has more is not known.
const DESCRIPTORS_MAX: usize = 4096;

/// The process of a thread.
pub(crate) fn process(thread: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{thread}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Tgid:"))?;
    line.trim().parse().ok()
}

/// Whether two threads are of one process; `None` if that cannot be found out.
pub(crate) fn is_one_process(one: u32, two: u32) -> Option<bool> {
    if one == 0 || two == 0 {
        return None;
    }
    if one == two {
        return Some(true);
    }
    Some(process(one)? == process(two)?)
}

/// Whether the process of a thread has an inode of this number open; `None` if that cannot be found
/// out. A descriptor that is being closed does not count: the kernel has taken it from the table.
pub(crate) fn has_open(thread: u32, ino: Ino) -> Option<bool> {
    if thread == 0 {
        return None;
    }
    let descriptors = fs::read_dir(format!("/proc/{thread}/fdinfo")).ok()?;
    for (count, descriptor) in descriptors.enumerate() {
        if count >= DESCRIPTORS_MAX {
            return None;
        }
        // One that was closed meanwhile cannot be read.
        let Ok(text) = fs::read_to_string(descriptor.ok()?.path()) else { continue };
        let number = text.lines().find_map(|line| line.strip_prefix("ino:"));
        // Kernels before 5.14 do not say it.
        if number?.trim().parse() == Ok(ino) {
            return Some(true);
        }
    }
    Some(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn threads_belong_to_processes_and_have_descriptors() {
        let own = std::process::id();
        assert_eq!(process(own), Some(own));
        let thread = || rustix::thread::gettid().as_raw_nonzero().get() as u32;
        let other = std::thread::spawn(move || is_one_process(thread(), own)).join().unwrap();
        assert_eq!(other, Some(true));
        assert_eq!(is_one_process(1, own), Some(false));
        assert_eq!([is_one_process(0, own), is_one_process(u32::MAX, own)], [None, None]);
        let file = tempfile::tempfile().unwrap();
        let ino = file.metadata().unwrap().ino();
        assert_eq!(has_open(own, ino), Some(true));
        assert_eq!(has_open(own, u64::MAX), Some(false));
        assert_eq!(has_open(0, ino), None);
        drop(file);
    }
}
