//! Block devices of a fake host: zram, loop, brd, and the commands on them.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::super::kernel::CommandOutput;
use super::super::syscall::LoopBacking;
use super::{FakeKernel, chosen};

impl FakeKernel {
    fn next_diskseq(&self) -> u64 {
        let next = self.text("diskseq").trim().parse::<u64>().unwrap_or(0) + 1;
        // The kernel's counter never goes back, so the tree's snapshot leaves it out.
        let _ = fs::write(self.at("diskseq"), next.to_string());
        next
    }

    fn add_device(&self, name: &str) -> io::Result<PathBuf> {
        let block = self.at("sys/block").join(name);
        fs::create_dir_all(block.join("holders"))?;
        fs::write(block.join("diskseq"), format!("{}\n", self.next_diskseq()))?;
        fs::write(self.at("dev").join(name), "")?;
        Ok(block)
    }

    fn remove_device(&self, name: &str) -> io::Result<()> {
        fs::remove_dir_all(self.at("sys/block").join(name))?;
        fs::remove_file(self.at("dev").join(name))
    }

    fn is_swap(&self, name: &str) -> bool {
        self.text("proc/swaps").lines().any(|line| line.starts_with(&format!("/dev/{name} ")))
    }

    fn is_mounted(&self, name: &str) -> bool {
        self.text("proc/self/mountinfo").lines().any(|line| line.contains(&format!(" /dev/{name} ")))
    }

    /// Bytes of a device under `dev/`.
    pub(super) fn device_size(&self, path: &str) -> u64 {
        let name = path.trim_start_matches("dev/");
        let number = |file: &str| self.text(&format!("sys/block/{name}/{file}")).trim().parse::<u64>();
        number("disksize").or_else(|_| number("size").map(|sectors| sectors * 512)).unwrap_or(0)
    }

    pub(super) fn zram_hot_add(&self) -> io::Result<Vec<u8>> {
        let id = (0..).find(|id| !self.at(&format!("sys/block/zram{id}")).exists()).unwrap_or(0);
        let block = self.add_device(&format!("zram{id}"))?;
        for (file, text) in [
            ("disksize", "0\n"),
            ("initstate", "0\n"),
            ("reset", ""),
            ("comp_algorithm", "[lzo-rle] lz4 zstd\n"),
        ] {
            fs::write(block.join(file), text)?;
        }
        Ok(format!("{id}\n").into_bytes())
    }

    pub(super) fn zram_hot_remove(&self, value: &str) -> io::Result<()> {
        let name = format!("zram{}", value.trim());
        if !self.at("sys/block").join(&name).exists() {
            return Err(Errno::NODEV.into());
        }
        if self.is_swap(&name) || self.is_mounted(&name) {
            return Err(Errno::BUSY.into());
        }
        self.remove_device(&name)
    }

    pub(super) fn zram_write(&self, path: &str, value: &str) -> io::Result<()> {
        let (block, file) = path.rsplit_once('/').unwrap_or((path, ""));
        let name = block.trim_start_matches("sys/block/");
        let has_size = self.text(&format!("{block}/disksize")).trim() != "0";
        match file {
            "reset" if self.is_swap(name) || self.is_mounted(name) => Err(Errno::BUSY.into()),
            "reset" => {
                fs::write(self.at("dev").join(name), "")?;
                fs::write(self.at(block).join("disksize"), "0\n")?;
                fs::write(self.at(block).join("initstate"), "0\n")
            }
            "disksize" | "comp_algorithm" if has_size => Err(Errno::BUSY.into()),
            "disksize" => {
                fs::write(self.at(path), format!("{value}\n"))?;
                fs::write(self.at(block).join("initstate"), "1\n")
            }
            _ => fs::write(self.at(path), format!("{}\n", chosen(&self.text(path), value)?)),
        }
    }

    pub(super) fn block_command(&self, argv: &[String]) -> io::Result<CommandOutput> {
        let words: Vec<&str> = argv.iter().map(String::as_str).collect();
        let last = PathBuf::from(words.last().copied().unwrap_or_default());
        match words.as_slice() {
            ["mkswap", ..] => fs::write(&last, "SWAPSPACE2").map(|()| success("")),
            ["mkfs.ext4", ..] => fs::write(&last, "EXT4").map(|()| success("")),
            ["blkdiscard", ..] => Ok(failure("operation not supported")),
            ["losetup", "--find", "--show", _] => self.loop_attach(&last),
            ["losetup", "--detach", _] => self.loop_detach(&last),
            ["modprobe", "brd", rest @ ..] => self.load_brd(rest),
            ["modprobe", "-r", "brd"] => self.unload_brd(),
            _ => Ok(failure("not on this fake host")),
        }
    }

    fn loop_attach(&self, backing: &Path) -> io::Result<CommandOutput> {
        let meta = fs::metadata(backing)?;
        let id = (0..).find(|id| !self.at(&format!("sys/block/loop{id}")).exists()).unwrap_or(0);
        let block = self.add_device(&format!("loop{id}"))?;
        fs::create_dir(block.join("loop"))?;
        fs::write(block.join("loop/backing_file"), format!("/{}\n", self.name(backing)))?;
        fs::write(block.join("size"), format!("{}\n", meta.len() / 512))?;
        let device = self.at(&format!("dev/loop{id}"));
        let found = LoopBacking { device: meta.dev(), inode: meta.ino() };
        self.loops.lock().expect("no holder panics").insert(device, found);
        Ok(success(&format!("/dev/loop{id}\n")))
    }

    fn loop_detach(&self, device: &Path) -> io::Result<CommandOutput> {
        let name = self.name(device).trim_start_matches("dev/").to_owned();
        if self.is_swap(&name) || self.is_mounted(&name) {
            return Ok(failure("device busy"));
        }
        self.loops.lock().expect("no holder panics").remove(device);
        self.remove_device(&name)?;
        Ok(success(""))
    }

    fn load_brd(&self, words: &[&str]) -> io::Result<CommandOutput> {
        if !self.at("brd-module").exists() {
            return Ok(failure("modprobe: FATAL: Module brd not found"));
        }
        let kib = words.iter().find_map(|word| word.strip_prefix("rd_size=")?.parse::<u64>().ok());
        fs::create_dir_all(self.at("sys/module/brd"))?;
        let block = self.add_device("ram0")?;
        fs::write(block.join("size"), format!("{}\n", kib.unwrap_or(16384) * 2))?;
        Ok(success(""))
    }

    fn unload_brd(&self) -> io::Result<CommandOutput> {
        if self.is_swap("ram0") || self.is_mounted("ram0") {
            return Ok(failure("modprobe: FATAL: Module brd is in use"));
        }
        self.remove_device("ram0")?;
        fs::remove_dir_all(self.at("sys/module/brd"))?;
        Ok(success(""))
    }
}

fn success(stdout: &str) -> CommandOutput {
    CommandOutput { success: true, stdout: stdout.to_owned(), stderr: String::new() }
}

fn failure(stderr: &str) -> CommandOutput {
    CommandOutput { success: false, stdout: String::new(), stderr: stderr.to_owned() }
}
