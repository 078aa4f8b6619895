//! Other layouts of the same source: what a comparison has to be larger than.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::apply::Files;

/// How the code is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// As the compiler and the linker do it by themselves.
    #[default]
    Plain,
    /// Every function begins at a multiple of this many bytes: a whole new build.
    FunctionAlignment(u32),
    /// Code linked after `kernel/`, memory management with it, begins this many
    /// bytes later: only a new link.
    Padding(u32),
}

const MAKEFILE: &str = "kernel/Makefile";
const PAD: &str = "kernel/run_bench_pad.S";

impl Layout {
    /// Compiler flags that it needs.
    pub(super) fn flags(self) -> Option<String> {
        match self {
            Layout::FunctionAlignment(bytes) => Some(format!("-falign-functions={bytes}")),
            Layout::Plain | Layout::Padding(_) => None,
        }
    }

    /// Files whose content it changes.
    pub(super) fn files(self) -> &'static [&'static str] {
        match self {
            Layout::Padding(_) => &[MAKEFILE, PAD],
            Layout::Plain | Layout::FunctionAlignment(_) => &[],
        }
    }

    /// Adds the padding to the files of the tree.
    pub(super) fn edit(self, files: &mut Files) {
        let Layout::Padding(bytes) = self else { return };
        let makefile = files.entry(MAKEFILE.to_owned()).or_default().get_or_insert_default();
        // Changing a Makefile recompiles nothing: kbuild compares command lines.
        makefile.extend_from_slice(b"\nobj-y += run_bench_pad.o\n");
        let pad = format!(
            "/* Shifts all code that is linked after it. Never executed. */\n\
             \t.text\n\t.globl run_bench_pad\nrun_bench_pad:\n\t.skip {bytes}, 0xcc\n\
             \t.section .note.GNU-stack, \"\", @progbits\n"
        );
        files.insert(PAD.to_owned(), Some(pad.into_bytes()));
    }

    pub(super) fn name(self) -> String {
        match self {
            Layout::Plain => String::new(),
            Layout::FunctionAlignment(bytes) => format!("align{bytes}"),
            Layout::Padding(bytes) => format!("pad{bytes}"),
        }
    }
}

impl FromStr for Layout {
    type Err = String;

    /// `pad=192` or `align=64`.
    fn from_str(text: &str) -> Result<Self, String> {
        let refuse = || {
            format!(
                "{text:?} is no layout; write pad=BYTES (16 to 65536) for a new link or align=BYTES (a power of two, 16 to 4096) for a new build"
            )
        };
        let (kind, bytes) = text.split_once('=').ok_or_else(refuse)?;
        let bytes: u32 = bytes.parse().map_err(|_| refuse())?;
        match kind {
            "pad" if (16..=65536).contains(&bytes) => Ok(Layout::Padding(bytes)),
            "align" if bytes.is_power_of_two() && (16..=4096).contains(&bytes) => {
                Ok(Layout::FunctionAlignment(bytes))
            }
            _ => Err(refuse()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_are_read_as_they_are_written() {
        assert_eq!("pad=192".parse(), Ok(Layout::Padding(192)));
        assert_eq!("align=64".parse(), Ok(Layout::FunctionAlignment(64)));
        for wrong in ["pad", "pad=", "pad=0", "pad=1000000", "align=48", "align=8", "x=64", "pad=-16"] {
            assert!(wrong.parse::<Layout>().unwrap_err().contains("pad=BYTES"), "{wrong}");
        }
    }

    #[test]
    fn padding_adds_an_object_and_leaves_the_rest() {
        let mut files = Files::from([(MAKEFILE.to_owned(), Some(b"obj-y = fork.o\n".to_vec()))]);
        Layout::Padding(192).edit(&mut files);
        let makefile = String::from_utf8(files[MAKEFILE].clone().unwrap()).unwrap();
        assert_eq!(makefile, "obj-y = fork.o\n\nobj-y += run_bench_pad.o\n");
        let pad = String::from_utf8(files[PAD].clone().unwrap()).unwrap();
        assert!(pad.contains(".skip 192, 0xcc"), "{pad}");
    }

    #[test]
    fn the_plain_layout_edits_nothing() {
        let mut files = Files::new();
        Layout::Plain.edit(&mut files);
        Layout::FunctionAlignment(64).edit(&mut files);
        assert!(files.is_empty());
        assert_eq!(Layout::FunctionAlignment(64).flags().as_deref(), Some("-falign-functions=64"));
    }
}
