//! Runs trials in boots of their own.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::error::BootError;
use super::loader::{Commands, Loader};
use super::state::{BootState, Next};
use super::unit;
use crate::config::TargetSection;
use crate::exec;
use crate::exec::{Command, Tools};
use crate::host::SysRoot;
use crate::store::{
    KernelIdentity, TrialFolder, TrialSpec, TrialStatus, create_private_folder, read_json, write_json,
};
use crate::target::error::TargetError;
use crate::target::host::HostTarget;
use crate::target::identity;
use crate::target::kernel::KernelImage;
use crate::target::seal;
use crate::target::seal::Stamp;

/// What was armed, over reboots.
const STATE: &str = "/var/lib/run-bench/boot.json";
/// Arming is quick; the restart itself only has to be accepted.
const QUICK: Duration = Duration::from_secs(60);

/// The host that is rebooted, or a tree that stands for one.
#[derive(Debug, Clone)]
pub struct BootPlaces {
    pub root: SysRoot,
    pub tools: Tools,
    /// What the unit starts.
    pub program: PathBuf,
}

impl BootPlaces {
    pub fn of_host(program: PathBuf) -> Self {
        BootPlaces { root: SysRoot::host(), tools: Tools::from_environment(), program }
    }

    fn state_path(&self) -> PathBuf {
        self.root.path(STATE)
    }

    fn load(&self) -> Result<Option<BootState>, TargetError> {
        let path = self.state_path();
        if path.exists() { Ok(Some(read_json(&path, "state of booted kernels")?)) } else { Ok(None) }
    }

    fn save(&self, state: &BootState) -> Result<(), TargetError> {
        let path = self.state_path();
        create_private_folder(path.parent().expect("a constant with folders"))?;
        Ok(write_json(&path, state)?)
    }

    /// Disarms the host where no restart is under way: whoever stops a campaign
    /// does not want a later boot to resume it.
    pub fn settle(&self) -> Result<(), TargetError> {
        match self.load()? {
            Some(state) if state.armed.is_some() => Ok(()),
            _ => self.disarm(),
        }
    }

    /// Takes back what a killed campaign armed; whether there was anything.
    pub async fn clean(&self) -> Result<bool, TargetError> {
        let Some(state) = self.load()? else { return Ok(false) };
        if let (Some(_), Ok(loader)) = (&state.armed, Loader::find(&self.root, &self.tools)) {
            self.run(vec![loader.take_back()]).await?;
        }
        self.disarm()?;
        Ok(true)
    }

    /// Removes the unit, the watchdog's setting and the state: nothing resumes any more.
    pub fn disarm(&self) -> Result<(), TargetError> {
        unit::remove(&self.root).map_err(TargetError::io("remove the unit in", Path::new("/etc/systemd")))?;
        let path = self.state_path();
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(TargetError::io("remove", &path)(error))
            }
            _ => Ok(()),
        }
    }

    async fn run(&self, commands: Commands) -> Result<(), TargetError> {
        for words in commands {
            let (program, arguments) = words.split_first().expect("every command has a program");
            let path = self.tools.find_program(program).unwrap_or_else(|| PathBuf::from(program));
            let command = Command::new(path).args(arguments).deadline(QUICK);
            let output = exec::run(&command, &CancellationToken::new()).await?;
            if !output.ended.success() {
                let said = output.stderr.text().trim().to_owned();
                return Err(BootError::Command { program: program.clone(), said }.into());
            }
        }
        Ok(())
    }
}

/// Runs the trials of one arm, each in a boot of its kernel.
#[derive(Debug)]
pub struct BootTarget {
    image: KernelImage,
    arguments: Option<String>,
    trials_per_boot: u32,
    places: BootPlaces,
    loader: Loader,
}

impl BootTarget {
    /// Finds the boot loader and the entry of the image, so that nothing is begun that cannot be.
    pub fn new(
        image: KernelImage,
        section: &TargetSection,
        arguments: Option<String>,
        places: BootPlaces,
    ) -> Result<Self, TargetError> {
        let loader = Loader::find(&places.root, &places.tools)?;
        loader.once(&places.root, &image.path, &image.release, arguments.as_deref())?;
        Ok(BootTarget { image, arguments, trials_per_boot: section.trials_per_boot, places, loader })
    }

    pub fn places(&self) -> &BootPlaces {
        &self.places
    }

    /// Runs the trial if this boot is the one for it; else restarts the host, which
    /// interrupts the campaign until the unit resumes it.
    pub async fn run_trial(
        &self,
        host: &HostTarget,
        spec: &TrialSpec,
        folder: &TrialFolder,
        cancel: &CancellationToken,
    ) -> Result<TrialStatus, TargetError> {
        let places = &self.places;
        let campaign = campaign_of(folder)?;
        let running = KernelIdentity::running(&places.root);
        let mut state = match places.load()? {
            Some(state) if state.campaign != campaign => {
                let (path, other) = (places.state_path(), state.campaign);
                return Err(BootError::OtherCampaign { path, other }.into());
            }
            Some(state) => state,
            None => BootState::new(campaign.clone(), &running),
        };
        state.arrive(&running);
        places.save(&state)?;
        let arm = &spec.id.arm;
        let wanted = identity::expected(&self.image, self.arguments.as_deref());
        match state.next(arm, &wanted, &running, self.trials_per_boot) {
            Ok(Next::RunHere) => {
                state.begin_trial();
                places.save(&state)?;
                let spec = TrialSpec { kernel: Some(wanted.clone()), ..spec.clone() };
                let status = host.run_trial(&spec, folder, cancel).await?;
                let stamp = Stamp { expected: Some(wanted), ..Stamp::default() };
                let sealed = seal::seal(folder, &spec, &stamp)?;
                if sealed.is_some() {
                    state.end_trial(&spec.id.to_string());
                    places.save(&state)?;
                }
                Ok(sealed.unwrap_or(status))
            }
            Ok(Next::Reboot) => {
                state.arm(arm, &wanted, &running);
                self.restart(&mut state, &campaign).await?;
                Ok(TrialStatus::Interrupted)
            }
            Err(error) => {
                // Whoever reads the error resumes by hand.
                places.disarm()?;
                Err(error.into())
            }
        }
    }

    async fn restart(&self, state: &mut BootState, campaign: &Path) -> Result<(), TargetError> {
        let places = &self.places;
        let (image, release) = (&self.image.path, &self.image.release);
        let commands = self.loader.once(&places.root, image, release, self.arguments.as_deref())?;
        // Known before the restart, whatever happens in it.
        places.save(state)?;
        unit::install(&places.root, &places.program, campaign, Path::new(STATE))
            .map_err(TargetError::io("install the unit in", Path::new("/etc/systemd")))?;
        tracing::warn!("restarting into {release}; the campaign goes on by itself after the boot");
        if let Err(error) = places.run(commands).await {
            // Else the next restart, whoever makes it, would boot the arm's kernel.
            if let Err(left) = places.run(vec![self.loader.take_back()]).await {
                tracing::error!("the boot of {release} may still be armed: {left}");
            }
            places.disarm()?;
            return Err(error);
        }
        Ok(())
    }
}

/// The campaign's folder: its trials lie two levels below it.
fn campaign_of(trial: &TrialFolder) -> Result<PathBuf, TargetError> {
    let path = std::path::absolute(trial.path()).map_err(TargetError::io("find", trial.path()))?;
    Ok(path.ancestors().nth(2).unwrap_or(Path::new("/")).to_owned())
}

#[cfg(test)]
#[path = "target_tests.rs"]
mod tests;
