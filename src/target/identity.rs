//! Proof of which kernel ran: what the plan expects against what the record says.

use super::kernel::KernelImage;
use crate::host::kernel_config::KernelConfig;
use crate::store::{KernelIdentity, Violation};

/// Name of the validity rule.
pub const RULE: &str = "kernel.identity";

/// What a record of a trial on `image` has to say, its configuration only where
/// the kernel can tell it by itself; `arguments` are those of the
/// arm that have to be on the command line.
pub fn expected(image: &KernelImage, arguments: Option<&str>) -> KernelIdentity {
    KernelIdentity {
        release: image.release.clone(),
        version: image.version.clone(),
        build_id: image.build_id.clone(),
        command_line: arguments.map(str::to_owned),
        config_hash: image
            .config
            .as_ref()
            .filter(|c| c.value("IKCONFIG_PROC") == "y")
            .map(KernelConfig::hash),
        ..KernelIdentity::default()
    }
}

/// Every way in which the kernel that ran is not the expected one. What either
/// side does not know proves nothing.
pub fn violations(expected: &KernelIdentity, found: &KernelIdentity) -> Vec<Violation> {
    let known = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let mut wrong = Vec::new();
    let mut compare = |what: &str, expected: Option<&str>, found: Option<&str>| {
        if let (Some(expected), Some(found)) = (expected, found)
            && expected != found
        {
            wrong.push(Violation::new(
                RULE,
                format!("the kernel that ran has {what} {found:?}, not {expected:?}: the trial says nothing about its arm; see the boot entry and the console"),
                found,
            ));
        }
    };
    compare("release", Some(&expected.release), Some(&found.release));
    compare("version", known(&expected.version).as_deref(), known(&found.version).as_deref());
    compare("build id", expected.build_id.as_deref(), found.build_id.as_deref());
    compare("configuration hash", expected.config_hash.as_deref(), found.config_hash.as_deref());
    if let (Some(arguments), Some(line)) = (&expected.command_line, &found.command_line) {
        let there: Vec<&str> = line.split_whitespace().collect();
        for argument in arguments.split_whitespace().filter(|a| !there.contains(a)) {
            wrong.push(Violation::new(
                RULE,
                format!("the kernel was booted without {argument:?}, which its arm asks for: it ran another set-up"),
                line.clone(),
            ));
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity() -> KernelIdentity {
        KernelIdentity {
            release: "9.9.9-inv".to_owned(),
            version: "#7 SMP".to_owned(),
            build_id: Some("ab".repeat(20)),
            command_line: Some("transparent_hugepage=never".to_owned()),
            config_hash: Some("cd".repeat(32)),
            ..KernelIdentity::default()
        }
    }

    #[test]
    fn the_expected_kernel_passes() {
        let found = KernelIdentity {
            command_line: Some("root=/dev/x transparent_hugepage=never quiet".to_owned()),
            boot_id: Some("b".to_owned()),
            ..identity()
        };
        assert_eq!(violations(&identity(), &found), []);
    }

    #[test]
    fn what_is_not_known_proves_nothing() {
        let found = KernelIdentity { build_id: None, command_line: None, config_hash: None, ..identity() };
        assert_eq!(violations(&identity(), &found), []);
        let found = KernelIdentity { version: String::new(), ..identity() };
        assert_eq!(violations(&identity(), &found), []);
    }

    #[test]
    fn each_difference_is_a_violation() {
        let base = identity();
        let others = [
            KernelIdentity { release: "9.9.8".to_owned(), ..base.clone() },
            KernelIdentity { version: "#8 SMP".to_owned(), ..base.clone() },
            KernelIdentity { build_id: Some("00".to_owned()), ..base.clone() },
            KernelIdentity { config_hash: Some("00".to_owned()), ..base.clone() },
            KernelIdentity { command_line: Some("transparent_hugepage=always".to_owned()), ..base.clone() },
        ];
        for other in others {
            let wrong = violations(&base, &other);
            assert_eq!(wrong.len(), 1, "{other:?}");
            assert_eq!(wrong[0].rule, RULE);
        }
    }
}
