use super::*;

fn effort() -> Effort {
    Effort { limit: 2048, messages: 1000, seed: 1 }
}

const CLAIMS: &str = "\
# invented
patch,workload,machine,low,high,baseline
workingset-protection-posted,pread2,skylake-2s-104t,-9.0,-6.0,
workingset-protection,pread2,skylake-2s-104t,-0.4,0.4,
next-folio-prefetch,fio,epyc-7k62,2.0,4.0,
";

#[test]
fn the_model_beats_the_forecaster_that_says_nothing_changes() {
    let score = score_text(Path::new("claims.csv"), CLAIMS, effort()).expect("scored");
    assert_eq!((score.model.claims, score.model.resolved, score.model.right_sign), (3, 2, 2));
    assert_eq!(score.trivial.right_sign, 0);
    assert!(score.model.median_error < score.trivial.median_error, "{score:?}");
    let text = score.text();
    assert!(text.contains("right sign") && text.contains("90%"), "{text}");
}

#[test]
fn marks_are_those_of_a_hand_count() {
    let claim = |low: f64, high: f64| {
        let forecast =
            score_text(Path::new("c"), CLAIMS, effort()).expect("scored").claims[1].forecast.clone();
        ScoredClaim { low, high, forecast, trivial: 2.0 }
    };
    let claims = [claim(1.0, 3.0), claim(-6.0, -4.0)];
    let marks = marks(&claims, |_| (-1.0, 1.0, 3.0));
    assert_eq!((marks.resolved, marks.right_sign, marks.covered), (2, 1, 1));
    assert_eq!(marks.mean_width, 4.0);
    // The second claim's middle, -5, lies 4 below the interval.
    assert_eq!(marks.interval_score, 4.0 + 20.0 * 4.0 / 2.0);
    assert_eq!(marks.median_error, 3.5);
}

#[test]
fn the_trivial_spread_leaves_the_claim_itself_out() {
    assert_eq!(spread(&[9.0, 1.0, -2.0], 0), 2.0);
    assert_eq!(spread(&[9.0, 1.0, -2.0], 1), 9.0);
    assert_eq!(spread(&[9.0], 0), 0.0);
}

#[test]
fn wrong_tables_say_where() {
    let wrong = |text: &str| score_text(Path::new("c.csv"), text, effort()).expect_err("wrong").to_string();
    assert!(wrong("patch,workload,machine,low,high\nbulk-move,fio,epyc-7k62,3,1\n").contains("line 2"));
    assert!(wrong("patch,workload,machine,low,high\nbulk-move,disk,epyc-7k62,1,3\n").contains("sctp"));
    assert!(wrong("patch,workload,machine,low,high\nno-patch,fio,epyc-7k62,1,3\n").contains("bulk-move"));
    assert!(wrong("patch,workload,machine,low,high\n").contains("no claims"));
}
