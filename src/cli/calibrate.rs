//! `run-bench calibrate`: this machine's costs, as a profile.

use super::arguments::CalibrateArguments;
use super::exit::Exit;
use crate::calibrate::{self, Basis, CalibrationRequest, Parameter, Profile, TwinRow};
use crate::host::SysRoot;
use crate::store::write_atomically;

pub fn main(arguments: &CalibrateArguments) -> anyhow::Result<Exit> {
    let request = if arguments.quick {
        CalibrationRequest::quick(arguments.seed)
    } else {
        CalibrationRequest::full(arguments.seed)
    };
    if let (Some(path), true) = (&arguments.profile, arguments.twins) {
        return print_twins(&Profile::load(path)?, arguments);
    }
    let mut progress = |round, rounds| eprintln!("calibration: round {} of {rounds}", round + 1);
    let profile = calibrate::calibrate(&SysRoot::host(), &request, &mut progress)?;
    if let Some(path) = &arguments.out {
        write_atomically(path, profile.to_toml().as_bytes())?;
    }
    if arguments.twins {
        return print_twins(&profile, arguments);
    }
    if arguments.json {
        sayln!("{}", serde_json::to_string_pretty(&profile.to_file())?);
    } else {
        say!("{}", table(&profile));
    }
    if let Some(path) = &arguments.out {
        eprintln!("profile: {}", path.display());
    }
    Ok(Exit::Good)
}

fn print_twins(profile: &Profile, arguments: &CalibrateArguments) -> anyhow::Result<Exit> {
    eprintln!("twins: three operations in three list orders");
    let rows = calibrate::twins(&SysRoot::host(), &profile.median(), arguments.seed)?;
    if arguments.json {
        sayln!("{}", serde_json::to_string_pretty(&rows)?);
    } else {
        say!("{}", twin_table(&rows));
    }
    Ok(Exit::Good)
}

fn twin_table(rows: &[TwinRow]) -> String {
    let mut text = format!(
        "{:<21} {:<13} {:>7} {:>7} {:>7} {:>17} {:>9} {:>6}\n",
        "twin (ns/folio)", "list order", "before", "after", "saved", "90% range", "forecast", "off by"
    );
    for row in rows {
        let error = row.error().map_or("-".to_owned(), |error| format!("{:.0}%", 100.0 * error));
        let range = format!("[{:.2}, {:.2}]", row.low, row.high);
        text += &format!(
            "{:<21} {:<13} {:>7.2} {:>7.2} {:>7.2} {range:>17} {:>9.2} {error:>6}\n",
            row.twin, row.order, row.before, row.after, row.saved, row.forecast
        );
    }
    text
}

fn table(profile: &Profile) -> String {
    let machine = &profile.machine;
    let mut text = format!(
        "{}: {} processors, {} socket(s), {:.0} MiB last-level cache\n\n",
        machine.name, machine.cpus, machine.sockets, machine.llc_mib
    );
    for parameter in Parameter::ALL {
        let entry = profile.entry(*parameter);
        let mark = if entry.basis == Basis::Measured { "" } else { "  assumed" };
        text += &format!(
            "{:<18} {:>10.2} {:<5} [{:.2}, {:.2}]{mark}  {}\n",
            parameter.name(),
            entry.median,
            parameter.unit().name(),
            entry.low,
            entry.high,
            parameter.what()
        );
    }
    let seconds = profile.provenance.seconds.unwrap_or(0.0);
    text += &format!("\n{seconds:.0} s, {} rounds\n", profile.provenance.rounds.unwrap_or(0));
    for note in &profile.provenance.notes {
        text += &format!("note: {note}\n");
    }
    text
}
