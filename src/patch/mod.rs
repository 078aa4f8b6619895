//! Patch mails: carriers, series, diffs, claims and their audit. Pure; a mail is data.
