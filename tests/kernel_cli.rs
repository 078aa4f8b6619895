//! `run-bench kernel` as a user meets it, on an invented little tree. Needs make and gcc.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const MAKEFILE: &str = r#"
defconfig:
	printf 'CONFIG_HZ=100\n' > $(O)/.config
olddefconfig:
	true
linux: mm/vmscan.c
	printf 'const char banner[] = "Linux version 9.9.9$(LOCALVERSION) (a@b) (c) #1 Sat Jan 1\\n";' > $(O)/version.c
	gcc -Wl,--build-id -o $(O)/linux $< $(O)/version.c
	touch $(O)/System.map
"#;

const PATCH: &str = "\
--- a/mm/vmscan.c
+++ b/mm/vmscan.c
@@ -1,3 +1,3 @@
 int main(void)
 {
-	return 1; }
+	return 2; }
";

struct Place {
    keep: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Place { keep: tempfile::tempdir().expect("a folder") };
        place.write("linux/Makefile", MAKEFILE);
        place.write("linux/Kbuild", "");
        place.write("linux/kernel/Makefile", "obj-y = x.o\n");
        place.write("linux/mm/vmscan.c", "int main(void)\n{\n\treturn 1; }\n");
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.keep.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(&path, text).expect("written");
        path
    }

    fn run(&self, words: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_run-bench"))
            .args(words)
            .env("RUN_BENCH_CACHE", self.path("cache"))
            .current_dir(self.keep.path())
            .stdin(Stdio::null())
            .output()
            .expect("run-bench starts")
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn built_status(place: &Place, name: &str) -> Option<i32> {
    let image: PathBuf = place.path("cache/kernels").join(name.trim()).join("kernel");
    Command::new(image).status().expect("it runs").code()
}

#[test]
fn kernels_are_built_listed_and_named() {
    let place = Place::new();
    assert!(text(&place.run(&["kernel", "list"]).stderr).contains("kernel build --tree"));
    let base = place.run(&["kernel", "build", "--tree", "linux"]);
    assert_eq!(base.status.code(), Some(0), "{}", text(&base.stderr));
    let base = text(&base.stdout);
    assert!(base.starts_with("9.9.9-rb") && base.ends_with("-uml\n"), "{base}");
    place.write("one.patch", PATCH);
    let patched = place.run(&["kernel", "build", "--tree", "linux", "--patch", "one.patch", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&patched.stdout).expect("JSON");
    assert_eq!(json["kernel"]["patches"][0], "one.patch");
    let name = json["kernel"]["name"].as_str().expect("a name");
    assert_eq!((built_status(&place, &base), built_status(&place, name)), (Some(1), Some(2)));
    let placebo = place.run(&["kernel", "build", "--tree", "linux", "--placebo", "pad=192"]);
    assert!(text(&placebo.stdout).ends_with("-uml-pad192\n"), "{}", text(&placebo.stderr));
    let list = text(&place.run(&["kernel", "list"]).stdout);
    assert_eq!(list.lines().count(), 4, "{list}");
    assert!(list.contains("one.patch") && list.contains("pad192"), "{list}");
    std::fs::write(place.path("cache/kernels").join(name).join("kernel"), "torn").expect("written");
    let list = place.run(&["kernel", "list"]);
    assert_eq!((text(&list.stdout).lines().count(), list.status.code()), (3, Some(0)));
    assert!(text(&list.stderr).contains("damaged"), "{}", text(&list.stderr));
}

#[test]
fn a_patch_that_does_not_apply_is_told_with_file_hunk_and_place() {
    let place = Place::new();
    place.write("bad.patch", &PATCH.replace("-\treturn 1; }", "-\treturn 7; }"));
    let output = place.run(&["kernel", "build", "--tree", "linux", "--patch", "bad.patch"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    for part in ["bad.patch does not apply", "mm/vmscan.c: hunk 1 of 1", "line 1", "return 7", "return 1"] {
        assert!(said.contains(part), "{part} is not in {said}");
    }
}

#[test]
fn what_cannot_be_booted_says_what_to_do() {
    let place = Place::new();
    let arm64 = place.write("Image", "");
    let mut bytes = vec![0; 64];
    bytes[0x38..0x3c].copy_from_slice(b"ARM\x64");
    std::fs::write(&arm64, bytes).expect("written");
    for (name, part) in [
        ("./Image", "arm64"),
        ("running", "no guest"),
        ("./linux", "kernel build"),
        ("no-such", "kernel list"),
    ] {
        let output = place.run(&["kernel", "boot", name, "--", "true"]);
        let said = text(&output.stderr);
        assert!(said.contains(part), "{name}: {said}");
        assert_eq!(output.status.code(), Some(2), "{said}");
    }
    assert_eq!(place.run(&["kernel", "boot", "x"]).status.code(), Some(2), "no command");
    let wrong = place.run(&["kernel", "build", "--tree", "linux", "--placebo", "align=48"]);
    assert!(text(&wrong.stderr).contains("a power of two"), "{}", text(&wrong.stderr));
}

#[test]
fn a_plan_has_the_kernels_of_tree_and_patch() {
    let place = Place::new();
    place.write("one.patch", PATCH);
    let experiment = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs/reclaim-probe.toml");
    let experiment = experiment.display().to_string();
    let words = ["plan", &experiment, "--kernel-tree", "linux", "--patch", "one.patch", "--json"];
    let output = place.run(&words);
    let plan: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let arms = plan["experiment"]["arm"].as_array().or(plan["experiment"]["arms"].as_array()).expect("arms");
    let tree = place.path("linux").display().to_string();
    assert_eq!((arms[0]["kernel"].as_str(), arms[1]["kernel"].as_str()), (Some(&*tree), Some(&*tree)));
    assert_eq!(arms[1]["patches"][0], place.path("one.patch").display().to_string());
    assert!(text(&output.stderr).contains("User-Mode Linux"), "{}", text(&output.stderr));
    let without = place.run(&["plan", &experiment, "--patch", "one.patch"]);
    assert_eq!(without.status.code(), Some(2), "a patch needs a tree");
}
