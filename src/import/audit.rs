//! The whole audit of a document: figures recomputed, notes, noise.

use serde::{Deserialize, Serialize};

use crate::patch::{self, Claim, ClaimAudit, Document, MailSummary, Series, Setting};

use super::noise::{self, NoiseCheck};

/// The version of the audit's JSON form.
pub const AUDIT_SCHEMA: u32 = 1;

/// One claim with its audit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditedClaim {
    pub claim: Claim,
    pub audit: ClaimAudit,
    pub noise: NoiseCheck,
}

/// A document and the audit of its claims.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditReport {
    pub schema: u32,
    pub mails: Vec<MailSummary>,
    pub series: Vec<Series>,
    pub settings: Vec<Setting>,
    pub claims: Vec<AuditedClaim>,
}

/// Audits every claim of a document.
pub fn audit_report(document: &Document) -> AuditReport {
    let audits = patch::audit(document);
    let claims = document.claims.iter().zip(audits).map(|(claim, audit)| AuditedClaim {
        claim: claim.clone(),
        noise: noise::check_noise(claim, audit.arithmetic.claimed_raw),
        audit,
    });
    AuditReport {
        schema: AUDIT_SCHEMA,
        claims: claims.collect(),
        mails: document.mails.clone(),
        series: document.series.clone(),
        settings: document.settings.clone(),
    }
}
