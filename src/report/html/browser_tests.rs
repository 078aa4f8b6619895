//! The page in a real browser, where one is installed.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::analyze::analyze;
use crate::report::fixture::{EXPERIMENT, rich_campaign};
use crate::report::write_all;
use crate::units::Percent;

/// Sorts every column of every table twice, measures every chart, and leaves the answer in the title.
const CHECK: &str = r#"<script>
const wrong = [];
let columns = 0;
for (const table of document.querySelectorAll("table")) {
  const rows = table.tBodies[0].rows.length;
  for (const button of table.querySelectorAll("th button")) {
    const column = button.closest("th").cellIndex;
    if (button.tabIndex < 0) wrong.push("a head is not in the tab order");
    const read = () => [...table.tBodies[0].rows].map((r) => r.cells[column]);
    for (const turn of ["ascending", "descending"]) {
      button.click();
      if (button.closest("th").getAttribute("aria-sort") !== turn) wrong.push("not " + turn);
      const numbers = read().map((c) => c.dataset.v).filter((v) => v !== undefined).map(Number);
      const sorted = [...numbers].sort((a, b) => (turn === "ascending" ? a - b : b - a));
      if (String(numbers) !== String(sorted)) wrong.push(button.textContent + " is not sorted");
    }
    if (table.tBodies[0].rows.length !== rows) wrong.push("a row is lost");
    columns += 1;
  }
}
const figures = [...document.querySelectorAll("figure svg")];
for (const svg of figures) {
  const box = svg.getBoundingClientRect();
  if (box.width < 300 || box.height < 90) wrong.push("a chart does not show");
}
const wide = document.documentElement.scrollWidth > document.documentElement.clientWidth;
if (wide) wrong.push("the page scrolls sideways");
document.title = "columns " + columns + " charts " + figures.length + " wrong [" + wrong.join("; ") + "]";
</script>"#;

fn browser() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    std::env::split_paths(&path).flat_map(|dir| names.map(|n| dir.join(n))).find(|p| p.is_file())
}

fn wait(mut child: Child) {
    let end = Instant::now() + Duration::from_secs(120);
    while child.try_wait().expect("waitable").is_none() {
        if Instant::now() > end {
            child.kill().expect("killed");
            panic!("the browser does not end");
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// The document after its scripts, and what the console said. Both go through
/// files: a page is larger than a pipe.
fn load(browser: &Path, place: &Path, page: &Path) -> (String, String) {
    let flags = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--enable-logging=stderr",
        "--dump-dom",
    ];
    let (document, log) = (place.join("document.html"), place.join("log.txt"));
    let child = Command::new(browser)
        .args(flags)
        .arg(format!("--user-data-dir={}", place.join("profile").display()))
        .arg(format!("file://{}", page.display()))
        .stdin(Stdio::null())
        .stdout(File::create(&document).expect("created"))
        .stderr(File::create(&log).expect("created"))
        .spawn()
        .expect("started");
    wait(child);
    let text = |path: &Path| String::from_utf8_lossy(&std::fs::read(path).expect("there")).into_owned();
    (text(&document), text(&log))
}

#[test]
fn the_page_loads_sorts_and_shows_its_charts() {
    let Some(browser) = browser() else {
        eprintln!("skipped: no chromium in PATH; install it to test the page in a browser");
        return;
    };
    let results = tempfile::tempdir().expect("a folder");
    let folder = rich_campaign(results.path(), EXPERIMENT, Percent(2.1));
    let analysis = analyze(&folder).expect("analysed");
    let page = write_all(&analysis, &folder).expect("written").swap_remove(0);
    let checked = page.with_file_name("checked.html");
    let text = std::fs::read_to_string(&page).expect("there");
    std::fs::write(&checked, text.replace("</body>", &format!("{CHECK}</body>"))).expect("written");
    let place = tempfile::tempdir().expect("a folder");
    let (document, log) = load(&browser, place.path(), &checked);
    let console: Vec<&str> = log.lines().filter(|l| l.contains("CONSOLE")).collect();
    assert!(console.is_empty(), "{console:?}");
    let title =
        document.split("<title>").nth(1).and_then(|t| t.split("</title>").next()).unwrap_or("no title");
    assert!(title.ends_with("charts 9 wrong []"), "{title}");
    for link in text.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap_or("")) {
        let local = link.starts_with('#') || link == "data:," || page.with_file_name("").join(link).exists();
        assert!(local, "{link} leads nowhere");
    }
}
