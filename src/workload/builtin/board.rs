//! Memory that a driver shares with its tasks: start and stop, and a page of
//! counters for each task, so that no two tasks write the same line.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use rustix::fs::MemfdFlags;

use super::DriverFault;
use crate::host::syscall::Backing;
use crate::host::syscall::Mapping;
use crate::units::Bytes;
use crate::units::PAGE_SIZE;

const PAGE: usize = PAGE_SIZE as usize;
/// Words of the control page.
const START: usize = 0;
const STOP: usize = 256;
/// Words of a task's page.
const STATE: usize = 0;
const COUNTER: usize = 256;
const RESULTS: usize = 512;
/// Words that a task may use for results of its own.
const RESULT_WORDS: usize = 64;
/// How often a waiting side looks again.
const POLL: Duration = Duration::from_micros(200);

/// Where a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskState {
    Starting,
    Ready,
    Finished,
}

/// The shared memory, as the driver sees it.
#[derive(Debug, Clone)]
pub(crate) struct Board {
    memory: Arc<Mapping>,
    tasks: u32,
}

impl Board {
    /// A new board and the file that other processes open it by.
    pub(crate) fn create(tasks: u32) -> Result<(Self, File), DriverFault> {
        let fd = rustix::fs::memfd_create("run-bench-board", MemfdFlags::CLOEXEC)
            .map_err(DriverFault::call("create shared memory"))?;
        let file = File::from(fd);
        let length = (u64::from(tasks) + 1) * PAGE_SIZE;
        file.set_len(length).map_err(DriverFault::call("size shared memory"))?;
        let board = Board::map(&file, tasks)?;
        Ok((board, file))
    }

    /// The board at a path that names the driver's file, such as `/proc/1/fd/3`.
    pub(crate) fn open(path: &PathBuf, tasks: u32) -> Result<Self, DriverFault> {
        let file = File::options().read(true).write(true).open(path);
        Board::map(&file.map_err(DriverFault::file("open", path))?, tasks)
    }

    fn map(file: &File, tasks: u32) -> Result<Self, DriverFault> {
        let length = Bytes((u64::from(tasks) + 1) * PAGE_SIZE);
        let memory = Mapping::new(length, Backing::SharedFile(file))
            .map_err(DriverFault::call("map shared memory"))?;
        Ok(Board { memory: Arc::new(memory), tasks })
    }

    pub(crate) fn task(&self, index: u32) -> Task {
        assert!(index < self.tasks, "task {index} of {}", self.tasks);
        Task { board: self.clone(), index, page: PAGE * (1 + index as usize) }
    }

    pub(crate) fn start(&self) {
        self.memory.word(START).store(1, Ordering::Release);
    }

    pub(crate) fn stop(&self) {
        self.memory.word(STOP).store(1, Ordering::Release);
    }

    /// Every task's counter, in order.
    pub(crate) fn counters(&self) -> Vec<u64> {
        (0..self.tasks).map(|i| self.task(i).count()).collect()
    }

    pub(crate) fn all(&self, state: TaskState) -> bool {
        (0..self.tasks).all(|i| self.task(i).state() == state)
    }
}

/// One task's view of the board.
#[derive(Debug, Clone)]
pub(crate) struct Task {
    board: Board,
    index: u32,
    page: usize,
}

impl Task {
    pub(crate) fn index(&self) -> u32 {
        self.index
    }

    pub(crate) fn tasks(&self) -> u32 {
        self.board.tasks
    }

    /// Another task of the same crew, such as the other end of a pair.
    pub(crate) fn peer(&self, index: u32) -> Task {
        self.board.task(index)
    }

    fn counter(&self) -> &AtomicU64 {
        self.board.memory.word(self.page + COUNTER)
    }

    /// Counts operations. Only this task writes its counter, so no locked instruction is needed.
    pub(crate) fn add(&self, operations: u64) {
        let counter = self.counter();
        counter.store(counter.load(Ordering::Relaxed) + operations, Ordering::Relaxed);
    }

    pub(crate) fn count(&self) -> u64 {
        self.counter().load(Ordering::Relaxed)
    }

    pub(crate) fn set_result(&self, word: usize, value: u64) {
        self.result_word(word).store(value, Ordering::Release);
    }

    pub(crate) fn result(&self, word: usize) -> u64 {
        self.result_word(word).load(Ordering::Acquire)
    }

    fn result_word(&self, word: usize) -> &AtomicU64 {
        assert!(word < RESULT_WORDS, "result word {word}");
        self.board.memory.word(self.page + RESULTS + 8 * word)
    }

    /// Waits until a result word is other than 0; none when the crew is stopped first.
    pub(crate) fn await_result(&self, word: usize) -> Option<u64> {
        loop {
            match self.result(word) {
                0 if self.stopped() => return None,
                0 => thread::sleep(POLL),
                value => return Some(value),
            }
        }
    }

    pub(crate) fn stopped(&self) -> bool {
        self.board.memory.word(STOP).load(Ordering::Relaxed) != 0
    }

    pub(super) fn state(&self) -> TaskState {
        match self.board.memory.word(self.page + STATE).load(Ordering::Acquire) {
            0 => TaskState::Starting,
            1 => TaskState::Ready,
            _ => TaskState::Finished,
        }
    }

    pub(super) fn set_state(&self, state: TaskState) {
        let word = match state {
            TaskState::Starting => 0,
            TaskState::Ready => 1,
            TaskState::Finished => 2,
        };
        self.board.memory.word(self.page + STATE).store(word, Ordering::Release);
    }

    /// Waits for the common start.
    pub(super) fn await_start(&self) {
        while self.board.memory.word(START).load(Ordering::Acquire) == 0 && !self.stopped() {
            thread::sleep(POLL);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn two_mappings_of_a_board_see_each_other() {
        let (board, file) = Board::create(3).unwrap();
        let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
        let other = Board::open(&path, 3).unwrap();
        let task = other.task(2);
        task.add(5);
        task.add(2);
        task.set_result(63, 9);
        task.set_state(TaskState::Ready);
        assert_eq!(board.counters(), [0, 0, 7]);
        assert_eq!((board.task(2).result(63), board.task(0).result(63)), (9, 0));
        assert_eq!(board.task(2).state(), TaskState::Ready);
        assert!(!board.all(TaskState::Ready) && !task.stopped());
        board.stop();
        assert!(task.stopped());
        assert_eq!(task.peer(0).await_result(0), None);
    }
}
