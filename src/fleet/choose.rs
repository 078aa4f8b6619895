//! Which nodes become the fleet's hosts, and what is not the same on them.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::clock;
use super::error::FleetError;
use super::layout::FleetHost;
use super::node::NodeReport;
use super::scheduler::NodeLine;
use crate::config::{FleetClass, FleetSection};

/// A node that is not measured on, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnfitNode {
    pub node: String,
    pub why: String,
}

/// The hosts, and all that has to be said about them.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    pub hosts: Vec<FleetHost>,
    pub unfit: Vec<UnfitNode>,
    pub confounders: Vec<String>,
}

/// The class of all nodes where the experiment names none.
const ANY: &str = "any";

/// Nodes that are asked: usable, and of a class. The others are named.
pub(super) fn candidates(section: &FleetSection, nodes: &[NodeLine]) -> (Vec<NodeLine>, Vec<UnfitNode>) {
    let of_a_class = |node: &&NodeLine| section.classes.is_empty() || class_of(section, node).is_some();
    let (usable, other): (Vec<&NodeLine>, Vec<&NodeLine>) =
        nodes.iter().filter(of_a_class).partition(|n| n.is_usable());
    let unfit = other.into_iter().map(|n| UnfitNode { node: n.name.clone(), why: n.seen() }).collect();
    (usable.into_iter().cloned().collect(), unfit)
}

/// A node with the features of two classes belongs to the first.
fn class_of<'a>(section: &'a FleetSection, node: &NodeLine) -> Option<&'a FleetClass> {
    section.classes.iter().find(|class| node.features.iter().any(|f| f == class.feature()))
}

/// Takes the first fit nodes of each class.
pub(super) fn choose(
    section: &FleetSection,
    nodes: &[NodeLine],
    reports: &[NodeReport],
    mut unfit: Vec<UnfitNode>,
) -> Result<Choice, FleetError> {
    let drivers = reports.iter().find(|r| r.problems.is_empty()).map(|r| &r.manifest.drivers);
    let mut fit: Vec<&NodeReport> = Vec::new();
    for report in reports {
        let mut problems = report.problems.clone();
        if drivers.is_some_and(|d| problems.is_empty() && *d != report.manifest.drivers) {
            problems.push("other load drivers than the first fit node has, which are never mixed: install the same tools, or write driver = \"builtin\"".to_owned());
        }
        if problems.is_empty() {
            fit.push(report);
        } else {
            unfit.push(UnfitNode { node: report.node.clone(), why: problems.join("; ") });
        }
    }
    unfit.sort_by(|a, b| a.node.cmp(&b.node));
    let any = [FleetClass { name: ANY.to_owned(), feature: None, hosts: None }];
    let classes = if section.classes.is_empty() { any.as_slice() } else { &section.classes };
    let mut hosts = Vec::new();
    let mut chosen: Vec<&NodeReport> = Vec::new();
    for class in classes {
        let is_of = |report: &&&NodeReport| {
            let node = nodes.iter().find(|n| n.name == report.node);
            section.classes.is_empty()
                || node.and_then(|n| class_of(section, n)).is_some_and(|c| c.name == class.name)
        };
        let most = class.hosts.map_or(usize::MAX, |n| n as usize);
        let found: Vec<&NodeReport> = fit.iter().filter(is_of).take(most).copied().collect();
        let wanted = class.hosts.unwrap_or(1);
        if found.len() < wanted as usize {
            let named = unfit.iter().map(|u| format!("{}: {}", u.node, u.why)).collect::<Vec<_>>();
            let unfit =
                if named.is_empty() { "no node has its feature".to_owned() } else { named.join("; ") };
            return Err(FleetError::TooFewHosts {
                class: class.name.clone(),
                wanted,
                found: found.len(),
                unfit,
            });
        }
        hosts.extend(found.iter().map(|report| FleetHost {
            node: report.node.clone(),
            class: class.name.clone(),
            host: report.manifest.host.clone(),
        }));
        chosen.extend(found);
    }
    Ok(Choice { confounders: confounders(&chosen), hosts, unfit })
}

/// Whatever is not the same on all hosts may be why their results differ.
fn confounders(reports: &[&NodeReport]) -> Vec<String> {
    let mut facts: BTreeMap<String, BTreeMap<String, Vec<&str>>> = BTreeMap::new();
    let mut note = |what: String, value: String, node| {
        facts.entry(what).or_default().entry(value).or_default().push(node);
    };
    let tools: BTreeSet<&String> = reports.iter().flat_map(|r| r.manifest.tools.keys()).collect();
    for report in reports {
        let manifest = &report.manifest;
        let version = &manifest.run_bench;
        let commit = version.commit.as_deref().unwrap_or("no commit");
        note("run-bench".to_owned(), format!("{} ({commit})", version.version), report.node.as_str());
        let kernel = &manifest.kernel;
        note("the kernel".to_owned(), format!("{} {}", kernel.release, kernel.version), &report.node);
        for tool in &tools {
            let found = manifest.tools.get(*tool).map_or("none".to_owned(), |t| t.version.clone());
            note(format!("the version of {tool}"), found, &report.node);
        }
    }
    let mut told: Vec<String> = facts
        .into_iter()
        .filter(|(_, values)| values.len() > 1)
        .map(|(what, values)| {
            let each: Vec<String> =
                values.into_iter().map(|(value, nodes)| format!("{value} on {}", nodes.join(", "))).collect();
            format!("{what} is not the same on all hosts: {}", each.join("; "))
        })
        .collect();
    let mut machines: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for report in reports {
        machines.entry(&report.manifest.host).or_default().push(&report.node);
        told.extend(clock::skew_text(&report.node, report.skew_seconds));
    }
    for (machine, nodes) in machines.into_iter().filter(|(_, nodes)| nodes.len() > 1) {
        told.push(format!(
            "{} are one machine, {machine}: their agreement is no evidence of other hosts",
            nodes.join(" and ")
        ));
    }
    told
}

#[cfg(test)]
mod unit {
    use super::super::fake::manifest;
    use super::*;
    use crate::host::doctor::DoctorReport;
    use crate::store::{Manifest, ToolVersion};

    fn node(name: &str, state: &str, features: &[&str]) -> NodeLine {
        NodeLine {
            name: name.to_owned(),
            state: state.to_owned(),
            features: features.iter().map(|f| (*f).to_owned()).collect(),
            reason: "none".to_owned(),
        }
    }

    fn report(name: &str, problems: &[&str]) -> NodeReport {
        let manifest = Manifest { host: format!("machine {name}"), ..manifest() };
        let doctor = DoctorReport { schema: 1, lines: Vec::new() };
        NodeReport::new(name.to_owned(), manifest, doctor, problems.iter().map(|p| (*p).to_owned()).collect())
    }

    fn section(hosts: Option<u32>) -> FleetSection {
        let class = |name: &str| FleetClass { name: name.to_owned(), feature: None, hosts };
        FleetSection { classes: vec![class("epyc"), class("xeon")], ..FleetSection::default() }
    }

    #[test]
    fn unfit_nodes_are_named_and_others_taken_by_class() {
        let nodes = [
            node("a1", "idle", &["epyc"]),
            node("a2", "idle", &["epyc"]),
            node("b1", "mixed", &["xeon"]),
            node("b2", "down*", &["xeon"]),
            node("c1", "idle", &["arm"]),
        ];
        let (asked, unfit) = candidates(&section(None), &nodes);
        assert_eq!(asked.iter().map(|n| n.name.as_str()).collect::<Vec<_>>(), ["a1", "a2", "b1"]);
        let reports = [report("a1", &["no memory cgroup"]), report("a2", &[]), report("b1", &[])];
        let choice = choose(&section(None), &nodes, &reports, unfit.clone()).expect("chosen");
        let hosts: Vec<(&str, &str)> =
            choice.hosts.iter().map(|h| (h.node.as_str(), h.class.as_str())).collect();
        assert_eq!(hosts, [("a2", "epyc"), ("b1", "xeon")]);
        let unfit_names: Vec<(&str, &str)> =
            choice.unfit.iter().map(|u| (u.node.as_str(), u.why.as_str())).collect();
        assert_eq!(unfit_names, [("a1", "no memory cgroup"), ("b2", "down*")]);
        let error = choose(&section(Some(2)), &nodes, &reports, unfit).expect_err("one fit epyc").to_string();
        assert!(error.contains("\"epyc\" needs 2 fit host(s) and has 1: a1: no memory cgroup"), "{error}");
    }

    #[test]
    fn what_differs_between_hosts_is_told_and_drivers_never_mixed() {
        let nodes =
            [node("a1", "idle", &["epyc"]), node("b1", "idle", &["xeon"]), node("b2", "idle", &["xeon"])];
        let (mut a, mut b, mut other) = (report("a1", &[]), report("b1", &[]), report("b2", &[]));
        a.manifest.kernel.release = "6.12.1".to_owned();
        b.manifest.kernel.release = "6.12.9".to_owned();
        let fio = ToolVersion { path: "/usr/bin/fio".to_owned(), version: "3.33".to_owned() };
        b.manifest.tools.insert("fio".to_owned(), fio);
        b.skew_seconds = -90;
        other.manifest.drivers.insert("memcached".to_owned(), "tool".to_owned());
        let choice = choose(&section(None), &nodes, &[a, b, other], Vec::new()).expect("chosen");
        assert_eq!(choice.hosts.len(), 2);
        assert!(
            choice.unfit[0].node == "b2" && choice.unfit[0].why.contains("never mixed"),
            "{:?}",
            choice.unfit
        );
        let told = choice.confounders.join("\n");
        for words in ["the kernel is not the same", "6.12.9", "version of fio", "none on a1", "clock of b1"] {
            assert!(told.contains(words), "{words}: {told}");
        }
    }

    #[test]
    fn two_nodes_of_one_machine_are_no_two_hosts() {
        let nodes = [node("n1", "idle", &[]), node("n2", "idle", &[])];
        let mut second = report("n2", &[]);
        second.manifest.host = "machine n1".to_owned();
        let any = FleetSection::default();
        let choice = choose(&any, &nodes, &[report("n1", &[]), second], Vec::new()).expect("chosen");
        assert!(choice.confounders[0].contains("n1 and n2 are one machine"), "{:?}", choice.confounders);
    }
}
