//! Building a kernel: working copy, patches, configuration, make, and the cache.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use super::apply;
use super::cache::{BuiltKernel, DESCRIPTION, IMAGE, KernelCache, hash_image};
use super::diff;
use super::diff::FileChange;
use super::error::KernelError;
use super::image::{KernelImage, KernelKind};
use super::layout::Layout;
use super::overlay::WorkingCopy;
use super::source::{Source, Tree};
use crate::exec;
use crate::exec::Command;
use crate::host::kernel_config::KernelConfig;
use crate::input;
use crate::store::{SCHEMA, create_private_folder, write_atomically, write_json};
use crate::units::{Bytes, hex};

/// Fragments that every kernel of ours is configured with.
const RECLAIM: &str = include_str!("../../../configs/kernel/reclaim.config");
const UML: &str = include_str!("../../../configs/kernel/uml.config");
const X86: &str = include_str!("../../../configs/kernel/x86_64.config");

/// A build takes minutes; one that takes hours is stuck.
const LONGEST: Duration = Duration::from_secs(4 * 3600);

/// What to build.
#[derive(Debug, Clone)]
pub struct BuildRequest {
    /// A git repository, a folder or a tar archive.
    pub tree: PathBuf,
    /// Of a git repository: branch, tag or commit.
    pub revision: Option<String>,
    /// Applied in this order.
    pub patches: Vec<PathBuf>,
    pub kind: KernelKind,
    /// Configuration fragments, after those that ship with us.
    pub fragments: Vec<PathBuf>,
    /// A whole configuration to start from, instead of the tree's default.
    pub base_config: Option<PathBuf>,
    pub layout: Layout,
    /// Words for make, such as `LLVM=1`.
    pub make_arguments: Vec<String>,
    /// Compilers at once; as many as there are processors when absent.
    pub jobs: Option<u32>,
    /// The run-bench that ties make to our life; this process's own when absent.
    pub program: Option<PathBuf>,
}

/// What a build is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BuildStep {
    Reading,
    CheckingOut,
    Patching,
    Configuring,
    Compiling,
    /// It was built before.
    Found,
}

impl fmt::Display for BuildStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            BuildStep::Reading => "reading the tree",
            BuildStep::CheckingOut => "copying the tree",
            BuildStep::Patching => "applying patches",
            BuildStep::Configuring => "configuring",
            BuildStep::Compiling => "compiling",
            BuildStep::Found => "built before",
        })
    }
}

/// A patch file, read.
#[derive(Debug)]
struct Patch {
    name: String,
    /// Decoded, as part of the kernel's key.
    text: String,
    changes: Vec<FileChange>,
}

fn read_patch(path: &Path) -> Result<Patch, KernelError> {
    let bytes = input::read(path, input::KERNEL_FILE).map_err(KernelError::io("read", path))?;
    let text = super::mail::patch_text(&bytes);
    let name = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let refuse = |what: String| KernelError::Patch { patch: path.to_owned(), what };
    let changes = diff::parse(&text).map_err(refuse)?;
    if changes.is_empty() {
        return Err(refuse("it holds no diff".to_owned()));
    }
    Ok(Patch { name, text, changes })
}

/// Builds the kernel, or finds the one that was built of the same before.
pub async fn build(
    cache: &KernelCache,
    request: &BuildRequest,
    step: impl Fn(&BuildStep),
    cancel: &CancellationToken,
) -> Result<BuiltKernel, KernelError> {
    step(&BuildStep::Reading);
    let source = Tree::at(&request.tree, request.revision.clone())?.identify(cancel).await?;
    let patches = request.patches.iter().map(|p| read_patch(p)).collect::<Result<Vec<_>, _>>()?;
    let job = Build { cache, request, source, patches, compiler: compiler(request, cancel).await?, cancel };
    let fragments = job.fragments()?;
    let key = job.key(&fragments);
    if let Some(found) = cache.find(&key) {
        step(&BuildStep::Found);
        return Ok(found);
    }
    let _lock = cache.lock()?;
    let copy = job.check_out(&step).await?;
    step(&BuildStep::Patching);
    job.patch(&copy)?;
    job.compile(&copy, &fragments, &key, &step).await
}

struct Build<'a> {
    cache: &'a KernelCache,
    request: &'a BuildRequest,
    source: Source,
    patches: Vec<Patch>,
    compiler: String,
    cancel: &'a CancellationToken,
}

/// What the compiler says it is.
async fn compiler(request: &BuildRequest, cancel: &CancellationToken) -> Result<String, KernelError> {
    let word = |name: &str| request.make_arguments.iter().find_map(|a| a.strip_prefix(name));
    let program = match (word("CC="), word("LLVM=")) {
        (Some(cc), _) => cc.to_owned(),
        (None, Some(_)) => "clang".to_owned(),
        (None, None) => "gcc".to_owned(),
    };
    let output = exec::run(&Command::new(program).arg("--version"), cancel).await?;
    Ok(output.stdout.text().lines().next().unwrap_or_default().trim().to_owned())
}

fn hash<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hex(&hasher.finalize())
}

impl Build<'_> {
    /// Base configuration (or none) and all fragments, in order.
    fn fragments(&self) -> Result<String, KernelError> {
        let own = match self.request.kind {
            KernelKind::Uml => UML,
            KernelKind::X86 => X86,
        };
        let mut text = format!("{RECLAIM}\n{own}\n");
        for path in &self.request.fragments {
            text.push_str(
                &input::read_text(path, input::KERNEL_FILE).map_err(KernelError::io("read", path))?,
            );
            text.push('\n');
        }
        Ok(text)
    }

    fn base_config(&self) -> Result<Option<String>, KernelError> {
        let path = self.request.base_config.as_ref();
        path.map(|p| input::read_text(p, input::KERNEL_FILE).map_err(KernelError::io("read", p))).transpose()
    }

    /// Words that decide what the compiler makes, patches and layout's padding apart.
    fn setting(&self, fragments: &str) -> Result<String, KernelError> {
        let base = self.base_config()?.unwrap_or_default();
        let flags = self.request.layout.flags().unwrap_or_default();
        let arguments = self.request.make_arguments.join("\n");
        let kind = format!("{:?}", self.request.kind);
        Ok(hash([kind.as_str(), &base, fragments, &flags, &arguments, &self.compiler]))
    }

    fn key(&self, fragments: &str) -> String {
        let layout = format!("{:?}", self.request.layout);
        let setting = self.setting(fragments).unwrap_or_default();
        let patches: Vec<&str> = self.patches.iter().map(|p| p.text.as_str()).collect();
        hash([self.source.identity.as_str(), &setting, &layout].into_iter().chain(patches))
    }

    async fn check_out(&self, step: &impl Fn(&BuildStep)) -> Result<WorkingCopy, KernelError> {
        let copy = WorkingCopy::at(self.cache.part("sources")?.join(&self.source.name));
        let present = copy.source();
        if present.as_deref() != Some(self.source.marker()) {
            step(&BuildStep::CheckingOut);
            copy.begin_check_out()?;
            self.source.check_out(copy.folder(), present.as_deref(), self.cancel).await?;
            copy.end_check_out(self.source.marker())?;
        }
        Ok(copy)
    }

    /// Lays uncommitted changes, patches and padding over the working copy.
    fn patch(&self, copy: &WorkingCopy) -> Result<(), KernelError> {
        let refuse = |patch: &Path, what: String| KernelError::Patch { patch: patch.to_owned(), what };
        let mut all: Vec<(PathBuf, Vec<FileChange>)> = Vec::new();
        if let Some(text) = &self.source.uncommitted {
            let name = PathBuf::from("uncommitted changes of the tree");
            let changes = diff::parse(text).map_err(|what| refuse(&name, what))?;
            all.push((name, changes));
        }
        let given = self.request.patches.iter().cloned().zip(self.patches.iter().map(|p| p.changes.clone()));
        all.extend(given);
        let named = all.iter().flat_map(|(_, changes)| changes).flat_map(|c| [&c.old, &c.new]);
        let paths: Vec<&str> = named.flatten().map(String::as_str).filter(|p| !apply::leaves(p)).collect();
        let layout = self.request.layout;
        let mut files = copy.pristine(paths.into_iter().chain(layout.files().iter().copied()))?;
        for (patch, changes) in &all {
            apply::apply(changes, &mut files).map_err(|refusal| refuse(patch, refusal.to_string()))?;
        }
        layout.edit(&mut files);
        copy.lay(&files)
    }

    async fn compile(
        &self,
        copy: &WorkingCopy,
        fragments: &str,
        key: &str,
        step: &impl Fn(&BuildStep),
    ) -> Result<BuiltKernel, KernelError> {
        let setting = self.setting(fragments)?;
        let folder = format!("{}-{}", self.source.name, &setting[..12]);
        let out = self.cache.part("builds")?.join(folder);
        create_private_folder(&out)?;
        let make =
            Make { source: copy.folder(), out: &out, build: self, release: format!("-rb{}", &key[..8]) };
        step(&BuildStep::Configuring);
        let unmet = make.configure(self.base_config()?.as_deref(), fragments).await?;
        step(&BuildStep::Compiling);
        make.run(&[make.goal()]).await?;
        let image = make.image();
        self.keep(&out, &image, key, unmet).await
    }

    /// Puts the finished kernel into the cache.
    async fn keep(
        &self,
        out: &Path,
        image: &Path,
        key: &str,
        unmet: Vec<String>,
    ) -> Result<BuiltKernel, KernelError> {
        let kernels = self.cache.part("kernels")?;
        let half = kernels.join(format!(".{}", &key[..16]));
        let _ = std::fs::remove_dir_all(&half);
        create_private_folder(&half)?;
        let copy = |from: &Path, name: &str| {
            std::fs::copy(from, half.join(name)).map(|_| ()).map_err(KernelError::io("copy", from))
        };
        copy(image, IMAGE)?;
        copy(&out.join(".config"), "config")?;
        copy(&out.join("System.map"), "System.map")?;
        copy(&out.join(LOG), LOG)?;
        let read = KernelImage::read(&half.join(IMAGE)).await?;
        let kind = match self.request.kind {
            KernelKind::Uml => "uml",
            KernelKind::X86 => "x86_64",
        };
        let name = [read.release.as_str(), kind, &self.request.layout.name()];
        let name = name.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join("-");
        let kernel = BuiltKernel {
            schema: SCHEMA,
            name: name.clone(),
            key: key.to_owned(),
            kind: self.request.kind,
            release: read.release,
            version: read.version,
            build_id: read.build_id,
            config_hash: read.config.map(|c| c.hash()).unwrap_or_default(),
            layout: self.request.layout,
            tree: self.request.tree.clone(),
            commit: self.source.commit().map(str::to_owned),
            uncommitted: self.source.uncommitted.is_some(),
            patches: self.patches.iter().map(|p| p.name.clone()).collect(),
            compiler: self.compiler.clone(),
            image_hash: hash_image(&half.join(IMAGE))?,
            built: Timestamp::now(),
            unmet,
        };
        write_json(&half.join(DESCRIPTION), &kernel)?;
        let to = self.cache.kernel_folder(&name);
        // One of that name is damaged, or it would have been found.
        let _ = std::fs::remove_dir_all(&to);
        std::fs::rename(&half, &to).map_err(KernelError::io("rename to", &to))?;
        Ok(kernel)
    }
}

const LOG: &str = "build.log";

/// Calls of make in one build folder.
struct Make<'a> {
    source: &'a Path,
    out: &'a Path,
    build: &'a Build<'a>,
    /// What is appended to the kernel's release.
    release: String,
}

impl Make<'_> {
    fn goal(&self) -> &'static str {
        match self.build.request.kind {
            KernelKind::Uml => "linux",
            KernelKind::X86 => "bzImage",
        }
    }

    fn image(&self) -> PathBuf {
        match self.build.request.kind {
            KernelKind::Uml => self.out.join("linux"),
            KernelKind::X86 => self.out.join("arch/x86/boot/bzImage"),
        }
    }

    async fn run(&self, goals: &[&str]) -> Result<(), KernelError> {
        let request = self.build.request;
        let architecture = match request.kind {
            KernelKind::Uml => "um",
            KernelKind::X86 => "x86_64",
        };
        let processors = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
        let mut command = Command::new("nice").args(["-n", "10", "make", "-C"]).arg(self.source);
        let mut output = std::ffi::OsString::from("O=");
        output.push(self.out);
        command = command
            .arg(output)
            .arg(format!("ARCH={architecture}"))
            .arg(format!("-j{}", request.jobs.unwrap_or(processors)))
            .arg(format!("LOCALVERSION={}", self.release))
            // The same source and tools give the same bytes.
            .args([
                "KBUILD_BUILD_TIMESTAMP=2000-01-01",
                "KBUILD_BUILD_USER=run-bench",
                "KBUILD_BUILD_HOST=run-bench",
            ])
            .arg("KBUILD_BUILD_VERSION=1")
            .args(request.layout.flags().map(|flags| format!("KCFLAGS={flags}")))
            .args(&request.make_arguments)
            .args(goals)
            .deadline(LONGEST);
        command.die_with_parent = true;
        command.enter.clone_from(&request.program);
        command.output_limit = Bytes::mib(8);
        let result = exec::run(&command, self.build.cancel).await?;
        let log = self.out.join(LOG);
        let text = format!("{}\n{}", result.stdout.text(), result.stderr.text());
        write_atomically(&log, text.as_bytes())?;
        if result.ended.success() {
            return Ok(());
        }
        Err(KernelError::Build { ended: result.ended, complaint: complaint(&result.stderr.text()), log })
    }

    /// Writes the configuration; returns what fragments asked for in vain.
    async fn configure(&self, base: Option<&str>, fragments: &str) -> Result<Vec<String>, KernelError> {
        let path = self.out.join(".config");
        // Always anew: another revision has other symbols. Symbols that keep
        // their value recompile nothing.
        match base {
            Some(text) => std::fs::write(&path, text).map_err(KernelError::io("write", &path))?,
            None => {
                let goals: &[&str] = match self.build.request.kind {
                    KernelKind::Uml => &["defconfig"],
                    KernelKind::X86 => &["x86_64_defconfig", "kvm_guest.config"],
                };
                self.run(goals).await?;
            }
        }
        let mut text = std::fs::read_to_string(&path).map_err(KernelError::io("read", &path))?;
        // Of two lines for a symbol the last one counts.
        text.push_str(fragments);
        std::fs::write(&path, text).map_err(KernelError::io("write", &path))?;
        self.run(&["olddefconfig"]).await?;
        let text = std::fs::read_to_string(&path).map_err(KernelError::io("read", &path))?;
        let missing = KernelConfig::parse(&text).missing(fragments);
        Ok(missing.iter().map(|d| format!("{}={} (asked for {})", d.symbol, d.second, d.first)).collect())
    }
}

/// The lines that say what is wrong, or the last ones.
fn complaint(stderr: &str) -> String {
    let telling: Vec<&str> =
        stderr.lines().filter(|l| l.contains("error:") || l.contains("Error ")).take(6).collect();
    if !telling.is_empty() {
        return telling.join("\n");
    }
    let lines: Vec<&str> = stderr.lines().filter(|l| !l.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(6)..].join("\n")
}
