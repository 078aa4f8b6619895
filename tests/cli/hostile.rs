//! Input of strangers through the command line: it ends with a reason, soon, and
//! nothing of it is obeyed.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::support::{BINARY, text, write};

/// Ends what hangs, and what takes the machine's memory.
fn guarded(folder: &Path, arguments: &[&str]) -> Output {
    let limits = ["60", "prlimit", "--as=3000000000", "--core=0", BINARY];
    let mut command = Command::new("timeout");
    command.args(limits).args(arguments).current_dir(folder).stdin(Stdio::null());
    command.env_remove("RUN_BENCH_LOG").output().expect("timeout and prlimit are installed")
}

/// Refused as wrong input, with these words.
fn refused(folder: &Path, arguments: &[&str], words: &[&str]) {
    let output = guarded(folder, arguments);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
    for word in words {
        assert!(said.contains(word), "{arguments:?}: {word:?} is not in {said:?}");
    }
    assert!(said.len() < 3000, "{arguments:?}: a message of {} bytes", said.len());
}

/// As large as asked for, and empty on the disk.
fn sparse(folder: &Path, name: &str, size: u64) {
    File::create(folder.join(name)).expect("created").set_len(size).expect("sized");
}

/// Commands that read one file, with the words that name the file's place.
const READERS: &[&[&str]] = &[
    &["plan", "X"],
    &["run", "X"],
    &["simulate", "X"],
    &["patch", "show", "X"],
    &["patch", "audit", "X"],
    &["patch", "import", "X"],
    &["predict", "X"],
    &["predict", "--score", "X"],
    &["simulate", "--trace", "X"],
];

fn with(reader: &[&'static str], path: &'static str) -> Vec<&'static str> {
    reader.iter().map(|word| if *word == "X" { path } else { *word }).collect()
}

#[test]
fn devices_folders_and_large_files_are_refused_by_every_reader() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("folder")).expect("created");
    sparse(folder.path(), "large", 5 << 30);
    for reader in READERS {
        refused(folder.path(), &with(reader, "/dev/zero"), &["/dev/zero", "a device"]);
        refused(folder.path(), &with(reader, "large"), &["larger than"]);
        // A folder is a campaign to run again.
        if reader[0] != "run" {
            refused(folder.path(), &with(reader, "folder"), &["a folder"]);
        }
    }
    sparse(folder.path(), "mail", 1 << 30);
    refused(folder.path(), &["patch", "show", "mail"], &["50MiB"]);
    refused(folder.path(), &["plan", "mail"], &["1MiB"]);
}

#[test]
fn a_pipe_without_writer_is_given_up() {
    let folder = tempfile::tempdir().expect("a folder");
    let made = Command::new("mkfifo").arg(folder.path().join("pipe")).status().expect("mkfifo is installed");
    assert!(made.success());
    refused(folder.path(), &["plan", "pipe"], &["nothing was written for 10 s"]);
}

#[test]
fn depth_is_refused_before_the_stack_ends() {
    let folder = tempfile::tempdir().expect("a folder");
    let deep = |open: &str, close: &str| format!("{}{}", open.repeat(10_000), close.repeat(10_000));
    let experiments = [
        ("array", format!("title = {}", deep("[", "]"))),
        ("table", format!("title = {}1{}", "{a = ".repeat(10_000), "}".repeat(10_000))),
        ("dotted", format!("{}a = 1", "a.".repeat(10_000))),
        ("header", format!("[{}a]\nb = 1", "a.".repeat(10_000))),
    ];
    for (name, text) in experiments {
        write(folder.path(), name, &text);
        refused(folder.path(), &["plan", name], &[name]);
    }
    let campaign = folder.path().join("campaign");
    std::fs::create_dir_all(campaign.join("trials")).expect("created");
    write(&campaign, "manifest.json", &deep("[", "]"));
    let output = guarded(folder.path(), &["compare", "campaign"]);
    assert!(output.status.code().is_some_and(|code| code != 0 && code < 5), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("manifest.json"), "{}", text(&output.stderr));
}

#[test]
fn a_line_of_40_mb_is_read_or_refused_in_short_words() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut mail = File::create(folder.path().join("mail")).expect("created");
    mail.write_all(b"From: Ada <a@b.c>\nSubject: [PATCH] mm: x\n\nBefore: 1 s\nAfter: ").expect("written");
    mail.write_all(&vec![b'9'; 40 << 20]).expect("written");
    let shown = guarded(folder.path(), &["patch", "show", "mail"]);
    assert_eq!(shown.status.code(), Some(0), "{}", text(&shown.stderr));
    assert!(shown.stdout.len() < 100_000, "{} bytes of text", shown.stdout.len());
    refused(folder.path(), &["simulate", "--trace", "mail"], &["line"]);
    let mut trace =
        OpenOptions::new().write(true).create_new(true).open(folder.path().join("trace")).expect("made");
    trace.write_all(&vec![b'x'; 100 << 20]).expect("written");
    trace.write_all(b" badword\n").expect("written");
    refused(folder.path(), &["simulate", "--trace", "trace"], &["line 1", "badword"]);
}

/// What a shell, a terminal, a page or a path would obey.
const METACHARACTERS: &str = "From: Mallory $(touch owned) <m@example.org>\n\
To: `touch owned` <linux-mm@example.org>\n\
Message-ID: <../../owned.1@example.org>\n\
Subject: =?utf-8?q?[PATCH_1/2]_mm=3A_=1B]0=3Bowned=07=1B[2J_../../etc/owned=00;_$(touch_owned)?=\n\
MIME-Version: 1.0\n\
Content-Type: multipart/mixed; boundary=\"b\"\n\
\n\
--b\n\
Content-Type: text/plain; charset=utf-8\n\
\n\
<script>alert('owned')</script> \"; touch owned; ' | touch owned & `touch owned`\n\
\n\
  memtier_benchmark -S /tmp/x;touch${IFS}owned -P memcache_binary -n allkeys --key-minimum=1\n\
    --key-maximum=1000 --ratio=1:0 --key-pattern=P:P -c 1 -t 1 --pipeline 8 -d 1000 `touch owned` $(touch owned)\n\
  memcached -p 0 -s \"/tmp/;touch owned\" -m 64 -t 2 --out-file=../../owned\n\
\n\
Before: 1000.00 Ops/sec\n\
After: 1100.00 Ops/sec (+10%)\n\
\x1b[31m\x07\x08\n\
---\n\
diff --git a/../../../etc/owned b/../../../etc/owned\n\
--- a/../../../etc/owned\n\
+++ b/../../../etc/owned\n\
@@ -1 +1 @@\n\
-a\n\
+b\n\
\n\
--b\n\
Content-Type: text/x-patch; name=\"../../../owned.patch\"\n\
Content-Disposition: attachment; filename=\"-rf;$(touch owned).patch\"\n\
\n\
--- a/mm/x.c\n\
+++ b/mm/x.c\n\
@@ -1 +1 @@\n\
-a\n\
+b\n\
--b--\n";

/// Nothing in the folder but what is known, and nothing on the terminal that it obeys.
fn nothing_was_obeyed(folder: &Path, output: &Output) {
    for said in [&output.stdout, &output.stderr] {
        let said = text(said);
        let bad = said.chars().find(|c| c.is_control() && !"\n\t".contains(*c));
        assert!(bad.is_none(), "{bad:?} reached the terminal: {said}");
    }
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("listed").map(|entry| entry.expect("an entry")) {
            let name = entry.file_name().to_string_lossy().into_owned();
            assert!(!name.starts_with('-') && !name.contains("owned"), "{} was made", entry.path().display());
            if entry.file_type().expect("a type").is_dir() {
                folders.push(entry.path());
            }
        }
    }
    assert!(!Path::new("/etc/owned").exists() && !Path::new("/tmp/owned").exists());
}

#[test]
fn a_mail_full_of_commands_is_data() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    std::fs::create_dir(path.join("linux")).expect("created");
    write(path, "mail", METACHARACTERS);
    for arguments in [
        &["patch", "show", "mail"][..],
        &["patch", "show", "mail", "--json"],
        &["patch", "audit", "mail"],
        &["patch", "audit", "mail", "--reply"],
        &["predict", "mail"],
    ] {
        nothing_was_obeyed(path, &guarded(path, arguments));
    }
    let tree = ["patch", "import", "mail", "--out", "x.toml", "--kernel-tree", "linux"];
    refused(path, &tree, &["leaves the kernel tree"]);
    let output = guarded(path, &tree[..5]);
    nothing_was_obeyed(path, &output);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    nothing_was_obeyed(path, &output);
    let imported = std::fs::read_to_string(path.join("x.toml")).expect("an experiment");
    assert!(!imported.contains("IFS") && !imported.contains("touch owned`"), "{imported}");
    let planned = guarded(path, &["plan", "x.toml", "--scale", "auto"]);
    assert!(planned.status.code().is_some_and(|code| code <= 3), "{}", text(&planned.stderr));
    nothing_was_obeyed(path, &planned);
}

#[test]
fn names_that_look_like_options_are_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    write(path, "--help", METACHARACTERS);
    write(path, "-rf", "title = 1");
    let shown = guarded(path, &["patch", "show", "--", "--help"]);
    assert_eq!(shown.status.code(), Some(0), "{}", text(&shown.stderr));
    refused(path, &["plan", "--", "-rf"], &["-rf"]);
}

/// A text with a terminal's commands in every place where an experiment has one.
#[test]
fn an_experiment_cannot_command_the_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, changed) in [
        ("title", "title = \"\\u001b[2Jx\""),
        ("key", "\"\\u001b[2J\" = 1"),
        ("syntax", "title = \x1b[2J"),
        ("bidi", "title = \"\\u202ex\""),
    ] {
        let experiment = crate::support::SHORT.replace("title = \"short\"", changed);
        write(folder.path(), name, &experiment);
        let output = guarded(folder.path(), &["plan", name]);
        assert_eq!(output.status.code(), Some(2), "{name}: {}", text(&output.stderr));
        nothing_was_obeyed(folder.path(), &output);
    }
}
