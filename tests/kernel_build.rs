//! Builds of an invented little kernel tree: cache, patches, incremental builds,
//! and that the tree itself stays as it is. Needs make, gcc and git.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use run_bench::target::kernel::{
    BuildRequest, BuildStep, BuiltKernel, KernelCache, KernelError, KernelKind, Layout, build,
};
use tokio_util::sync::CancellationToken;

/// A Makefile with the goals of the kernel's that are used, and a log of what it compiles.
const MAKEFILE: &str = r#"
defconfig:
	printf 'CONFIG_HZ=100\n# CONFIG_SWAP is not set\n' > $(O)/.config
olddefconfig:
	grep -v MEMCG $(O)/.config > $(O)/.config.new; mv $(O)/.config.new $(O)/.config
linux: $(O)/main.o $(O)/vmscan.o $(O)/pad.o
	printf 'const char banner[] = "Linux version 9.9.9$(LOCALVERSION) (a@b) (c) #1 Sat Jan 1\\n";' > $(O)/version.c
	gcc -Wl,--build-id -o $(O)/linux $^ $(O)/version.c
	touch $(O)/System.map
$(O)/main.o: init/main.c
	echo main >> $(O)/compiled; gcc -c $< -o $@
$(O)/vmscan.o: mm/vmscan.c
	echo vmscan >> $(O)/compiled; gcc -c $< -o $@
$(O)/pad.o: kernel/Makefile
	echo pad >> $(O)/compiled; if test -e kernel/run_bench_pad.S; then gcc -c kernel/run_bench_pad.S -o $@; else echo | gcc -x c -c - -o $@; fi
"#;

const PATCH: &str = "\
--- a/mm/vmscan.c
+++ b/mm/vmscan.c
@@ -1,3 +1,3 @@
 int scan(void)
 {
-	return 1; }
+	return 2; }
";

struct Tree {
    _keep: tempfile::TempDir,
    path: PathBuf,
    cache: KernelCache,
    cache_path: PathBuf,
}

fn git(folder: &Path, words: &[&str]) {
    let done = Command::new("git").arg("-C").arg(folder).args(words).output().expect("git");
    assert!(done.status.success(), "{words:?}: {done:?}");
}

impl Tree {
    fn new(with_git: bool) -> Self {
        let keep = tempfile::tempdir().expect("a folder");
        let path = keep.path().join("linux");
        for (file, text) in [
            ("Makefile", MAKEFILE),
            ("Kbuild", ""),
            ("kernel/Makefile", "obj-y = x.o\n"),
            ("mm/vmscan.c", "int scan(void)\n{\n\treturn 1; }\n"),
            ("init/main.c", "int scan(void);\nint main(void) { return scan(); }\n"),
        ] {
            let to = path.join(file);
            std::fs::create_dir_all(to.parent().expect("a folder")).expect("made");
            std::fs::write(to, text).expect("written");
        }
        if with_git {
            git(&path, &["init", "-q"]);
            git(&path, &["config", "user.name", "A"]);
            git(&path, &["config", "user.email", "a@invented.example"]);
            git(&path, &["add", "-A"]);
            git(&path, &["commit", "-q", "-m", "one"]);
            git(&path, &["tag", "v1"]);
        }
        let cache_path = keep.path().join("cache");
        Tree { path, cache: KernelCache::at(cache_path.clone()), cache_path, _keep: keep }
    }

    fn patch(&self, name: &str, text: &str) -> PathBuf {
        let path = self.cache_path.parent().expect("a folder").join(name);
        std::fs::write(&path, text).expect("written");
        path
    }

    fn request(&self) -> BuildRequest {
        BuildRequest {
            tree: self.path.clone(),
            revision: None,
            patches: Vec::new(),
            kind: KernelKind::Uml,
            fragments: Vec::new(),
            base_config: None,
            layout: Layout::Plain,
            make_arguments: Vec::new(),
            jobs: Some(1),
            program: Some(env!("CARGO_BIN_EXE_run-bench").into()),
        }
    }

    async fn build(&self, request: &BuildRequest) -> Result<(BuiltKernel, bool), KernelError> {
        let found = std::cell::Cell::new(false);
        let step = |step: &BuildStep| found.set(found.get() || *step == BuildStep::Found);
        let kernel = build(&self.cache, request, step, &CancellationToken::new()).await?;
        Ok((kernel, found.get()))
    }

    /// What was compiled since the last call.
    fn compiled(&self) -> String {
        let builds = std::fs::read_dir(self.cache_path.join("builds")).expect("builds");
        let mut all = String::new();
        for folder in builds {
            let log = folder.expect("a folder").path().join("compiled");
            all.push_str(&std::fs::read_to_string(&log).unwrap_or_default());
            let _ = std::fs::remove_file(log);
        }
        all.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Every file of the tree with its content, git's own included.
    fn content(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        fn walk(folder: &Path, into: &mut BTreeMap<PathBuf, Vec<u8>>) {
            for entry in std::fs::read_dir(folder).expect("listed") {
                let path = entry.expect("entry").path();
                if path.is_dir() {
                    walk(&path, into);
                } else {
                    into.insert(path.clone(), std::fs::read(&path).expect("read"));
                }
            }
        }
        let mut all = BTreeMap::new();
        walk(&self.path, &mut all);
        all
    }
}

/// The status with which a built kernel ends tells which `scan` it has.
fn status(tree: &Tree, kernel: &BuiltKernel) -> Option<i32> {
    Command::new(tree.cache.image(&kernel.name)).status().expect("it runs").code()
}

#[tokio::test(flavor = "multi_thread")]
async fn base_and_patch_share_a_build_and_the_tree_stays_as_it_is() {
    let tree = Tree::new(true);
    let before = tree.content();
    let (base, found) = tree.build(&tree.request()).await.expect("builds");
    assert!(!found);
    assert_eq!(status(&tree, &base), Some(1));
    assert!(base.release.starts_with("9.9.9-rb") && base.build_id.is_some(), "{base:?}");
    assert!(base.unmet.iter().any(|u| u.starts_with("MEMCG=n")), "{:?}", base.unmet);
    assert_eq!(tree.compiled(), "main vmscan pad");

    let patched = BuildRequest { patches: vec![tree.patch("p.patch", PATCH)], ..tree.request() };
    let (with, _) = tree.build(&patched).await.expect("builds");
    assert_eq!((status(&tree, &with), tree.compiled().as_str()), (Some(2), "vmscan"));
    assert_ne!((&base.release, &base.build_id), (&with.release, &with.build_id));

    let (again, found) = tree.build(&patched).await.expect("found");
    assert_eq!((again, found), (with, true));
    assert_eq!(tree.content(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn padding_only_links_again_and_is_gone_in_the_next_build() {
    let tree = Tree::new(false);
    let (base, _) = tree.build(&tree.request()).await.expect("builds");
    tree.compiled();
    let padded = BuildRequest { layout: Layout::Padding(192), ..tree.request() };
    let (padded, _) = tree.build(&padded).await.expect("builds");
    assert_eq!(tree.compiled(), "pad");
    assert!(padded.name.ends_with("-uml-pad192"), "{}", padded.name);
    assert_ne!(base.build_id, padded.build_id);
    let aligned = BuildRequest { layout: Layout::FunctionAlignment(64), ..tree.request() };
    tree.build(&aligned).await.expect("builds");
    assert_eq!(tree.compiled(), "main vmscan pad", "other flags need a build of their own");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revision_is_built_whatever_is_checked_out() {
    let tree = Tree::new(true);
    std::fs::write(tree.path.join("mm/vmscan.c"), "int scan(void)\n{\n\treturn 5; }\n").expect("written");
    let (dirty, _) = tree.build(&tree.request()).await.expect("builds");
    assert_eq!((status(&tree, &dirty), dirty.uncommitted), (Some(5), true));
    let (v1, _) = tree
        .build(&BuildRequest { revision: Some("v1".to_owned()), ..tree.request() })
        .await
        .expect("builds");
    assert_eq!((status(&tree, &v1), v1.uncommitted), (Some(1), false));
    let wrong = BuildRequest { revision: Some("v9".to_owned()), ..tree.request() };
    let error = tree.build(&wrong).await.expect_err("no such tag");
    assert!(error.to_string().contains("no revision \"v9\""), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_patch_that_does_not_apply_names_file_hunk_and_place() {
    let tree = Tree::new(false);
    let text = PATCH.replace("-\treturn 1; }", "-\treturn 7; }");
    let request = BuildRequest { patches: vec![tree.patch("bad.patch", &text)], ..tree.request() };
    let error = tree.build(&request).await.expect_err("it does not apply").to_string();
    assert!(error.contains("bad.patch does not apply: mm/vmscan.c: hunk 1 of 1"), "{error}");
    assert!(error.contains("line 1") && error.contains("return 7") && error.contains("return 1"), "{error}");
    let empty = BuildRequest { patches: vec![tree.patch("text", "just words\n")], ..tree.request() };
    assert!(tree.build(&empty).await.expect_err("no diff").to_string().contains("holds no diff"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_build_that_fails_shows_the_compilers_words() {
    let tree = Tree::new(false);
    let text = PATCH.replace("+\treturn 2; }", "+\treturn x; }");
    let request = BuildRequest { patches: vec![tree.patch("broken.patch", &text)], ..tree.request() };
    let error = tree.build(&request).await.expect_err("it does not compile").to_string();
    assert!(error.contains("error:") && error.contains("build.log"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_cache_is_built_again() {
    let tree = Tree::new(false);
    let (base, _) = tree.build(&tree.request()).await.expect("builds");
    std::fs::write(tree.cache.image(&base.name), "torn").expect("written");
    let list = tree.cache.list().expect("listed");
    assert!(matches!(list[0].kernel, Err(KernelError::Damaged { .. })), "{list:?}");
    let (again, found) = tree.build(&tree.request()).await.expect("builds");
    assert!(!found);
    assert_eq!((status(&tree, &again), again.build_id), (Some(1), base.build_id));
    // The state of the working copy is lost: it is checked out anew.
    for entry in std::fs::read_dir(tree.cache_path.join("sources")).expect("sources") {
        let path = entry.expect("entry").path();
        if path.extension().is_some_and(|e| e == "json") {
            std::fs::write(path, "{").expect("written");
        }
    }
    let patched = BuildRequest { patches: vec![tree.patch("p.patch", PATCH)], ..tree.request() };
    let (with, _) = tree.build(&patched).await.expect("builds");
    assert_eq!(status(&tree, &with), Some(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_archive_is_a_tree() {
    let tree = Tree::new(false);
    let archive = tree.path.with_extension("tar");
    let parent = tree.path.parent().expect("a folder");
    let done = Command::new("tar").arg("-C").arg(parent).arg("-cf").arg(&archive).arg("linux").status();
    assert!(done.expect("tar").success());
    let request = BuildRequest { tree: archive, ..tree.request() };
    let (kernel, _) = tree.build(&request).await.expect("builds");
    assert_eq!(status(&tree, &kernel), Some(1));
    let with_revision = BuildRequest { revision: Some("v1".to_owned()), ..request };
    assert!(tree.build(&with_revision).await.expect_err("no git").to_string().contains("leave --rev out"));
}
