//! Reads every mail of a folder of your own and prints what it claims:
//! `RUN_BENCH_SEEDS=folder cargo test --test patch_seeds -- --ignored --nocapture`.

use std::fs;

use run_bench::import::{self, ImportRequest};
use run_bench::patch::{self, Delta};

fn delta(delta: &Delta) -> String {
    match delta {
        Delta::Percent { change } => format!("{}%", change.show_signed()),
        Delta::Interval { low, high } => format!("[{}, {}]%", low.show_signed(), high.show_signed()),
        Delta::Difference { change } => format!("{} absolute", change.show_signed()),
        Delta::Factor { factor } => format!("{}x", factor.show()),
        Delta::Null { words } => format!("null: {words}"),
        Delta::Missing => "none printed".to_owned(),
    }
}

#[test]
#[ignore = "needs a folder of mails: set RUN_BENCH_SEEDS"]
fn prints_the_claims_of_a_folder() {
    let folder = std::env::var("RUN_BENCH_SEEDS").expect("RUN_BENCH_SEEDS names a folder of mails");
    let mut paths: Vec<_> =
        fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        let bytes = fs::read(&path).expect("a readable file");
        let document = patch::read(&bytes).expect("a mail");
        println!("\n== {}", path.file_name().expect("a name").to_string_lossy());
        for mail in &document.mails {
            println!(
                "mail {:?} {:?} by {:?}, files {:?}, functions {:?}, tags {}",
                mail.carrier,
                mail.subject,
                mail.headers.author,
                mail.diff.files.iter().map(|f| f.path.as_str()).collect::<Vec<_>>(),
                mail.diff.functions(),
                mail.tags.len()
            );
        }
        println!("series {:?}", document.series);
        for (index, setting) in document.settings.iter().enumerate() {
            println!("setting {index}: {setting:?}");
        }
        for claim in &document.claims {
            let side = |m: &Option<patch::Measured>| {
                m.as_ref().map_or("-".to_owned(), |m| {
                    format!(
                        "{} {}{}",
                        m.label,
                        m.value.show(),
                        m.deviation.map_or(String::new(), |d| format!(" ±{} {:?}", d.value.show(), d.kind))
                    )
                })
            };
            println!(
                "{} {:?} {} [{}] | {} | {} | {} | n {:?} | setting {:?} | {:?} {:?} {:?} | quoted {} repeats {} ambiguous {}",
                claim.id,
                claim.format,
                claim.metric.name,
                claim.metric.unit.as_deref().unwrap_or(""),
                side(&claim.before),
                side(&claim.after),
                delta(&claim.delta),
                claim.runs.as_ref().map(|r| r.count),
                claim.setting,
                claim.scope,
                claim.baseline,
                claim.metric.direction,
                claim.quoted,
                claim.repeats,
                claim.is_ambiguous()
            );
        }
        println!("{}", import::show_text(&document));
        println!("{}", import::audit_table(&import::audit_report(&document)));
        match import::import(&document, &ImportRequest::default()) {
            Ok(imported) => println!("{}", imported.text),
            Err(error) => println!("no experiment: {error}"),
        }
        match import::patch_files(&bytes, &document) {
            Ok(files) => {
                println!("patches {:?}", files.iter().map(|f| (&f.name, f.text.len())).collect::<Vec<_>>())
            }
            Err(error) => println!("no patches: {error}"),
        }
    }
}
