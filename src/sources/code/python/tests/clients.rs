use super::{clients, facts};

#[test]
fn the_options_of_a_config_are_found_where_they_are_written() {
    let text = r#"import boto3
from botocore.config import Config

queue = boto3.client("sqs", config=Config(read_timeout=9))
plain = boto3.client("bedrock-runtime")
PATIENT = Config(
    read_timeout=75,
    retries={
        "mode": "standard",
        "max_attempts": 3,
    },
)
model = boto3.client(
    "bedrock-runtime",
    config=PATIENT,
)
by_keyword = boto3.client(config=Config(retries=dict(total_max_attempts=2, max_attempts=7)), service_name="bedrock-runtime")
"#;
    assert_eq!(
        clients(&[("a.py", text)]),
        "a:5 botocore 60 (default of botocore); [3, 5] (default of botocore) or environment\n\
         a:13 botocore 75@a:7; [4]@a:10\n\
         a:17 botocore 60 (default of botocore); [2]@a:17\n"
    );
}

#[test]
fn attempts_without_a_count_follow_the_mode() {
    let count = |config: &str| {
        let text = format!(
            "import boto3\nfrom botocore.config import Config\nboto3.client('bedrock-runtime', config=Config({config}))"
        );
        clients(&[("a.py", &text)]).trim_end().rsplit_once("; ").unwrap().1.to_owned()
    };
    for (config, attempts) in [
        ("", "[3, 5] (default of botocore) or environment"),
        ("retries={}", "[3, 5] (default of botocore) or environment"),
        ("retries=None", "[3, 5] (default of botocore) or environment"),
        ("retries={'mode': 'adaptive'}", "[3] (default of botocore) or environment"),
        ("retries={'mode': 'legacy'}", "[5] (default of botocore) or environment"),
        ("defaults_mode='standard'", "[3] (default of botocore) or environment"),
        ("retries={'max_attempts': 0, 'mode': 'legacy'}", "[1]@a:3"),
        ("retries={'total_max_attempts': 4, 'max_attempts': 9}", "[4]@a:3"),
        ("retries={'max_attempts': tries}", "? `tries` is not in the files that were read"),
        ("retries={'max_attempts': -1}", "? expected a whole number of attempts"),
        ("retries=load()", "? what `load()` returns"),
        ("retries={**load(), 'max_attempts': 1}", "? what `load()` returns"),
    ] {
        assert_eq!(count(config), attempts, "{config}");
    }
}

#[test]
fn a_read_timeout_is_a_literal_a_constant_or_not_known() {
    let read = |value: &str| {
        let text = format!(
            "import os\nimport boto3\nfrom botocore.config import Config as Options\nHOUR = 3_600\nMINUTE = HOUR / 60\nTIMES = {{'long': 50}}\nboto3.client('bedrock-runtime', config=Options(read_timeout={value}))\n"
        );
        let text = clients(&[("a.py", &text)]);
        text.trim_end().split_once("botocore ").unwrap().1.split_once("; ").unwrap().0.to_owned()
    };
    for (value, expected) in [
        ("90", "90@a:7"),
        ("2 * MINUTE + 0x10", "136@a:7"),
        ("MINUTE", "60@a:5<a:7"),
        ("int('45')", "45@a:7"),
        ("float(HOUR)", "3600@a:4<a:7"),
        ("max(30, 40)", "40@a:7"),
        ("TIMES['long']", "50@a:6<a:7"),
        ("TIMES.get('short', 20)", "20@a:7"),
        ("None", "for ever@a:7"),
        ("30 if True else 40", "30@a:7"),
        ("30 if HOUR.flag else 40", "? one of several values"),
        ("os.environ.get('WAIT', '120')", "? environment variable `WAIT`"),
        ("int(os.getenv('WAIT') or 120)", "? environment variable `WAIT`"),
        ("float(os.environ['WAIT'])", "? environment variable `WAIT`"),
        ("'soon'", "? expected a number of seconds"),
        ("-5", "? expected a number of seconds"),
        ("1e999", "? a number out of range"),
        ("event['wait']", "? `event` is not in the files that were read"),
    ] {
        assert_eq!(read(value), expected, "{value}");
    }
}

#[test]
fn every_way_to_make_a_client_is_seen() {
    let text = r#"
import aioboto3, boto3
from aiobotocore.session import get_session
from boto3 import client as make
from boto3.session import Session
from botocore.config import Config

SERVICE = "bedrock-runtime"
ARGUMENTS = {"service_name": SERVICE, "config": Config(read_timeout=11)}
one = make(SERVICE)
two = boto3.client(**ARGUMENTS)
three = Session(profile_name="x").client("bedrock-runtime")

class Model:
    shared = boto3.Session().client("bedrock-runtime")

    def __init__(self):
        self.session = boto3.Session()
        self.own = (
            self.session.client("bedrock-runtime")
        )

async def ask(pool):
    async with (
        get_session().create_client("bedrock-runtime", config=Config(read_timeout=22)) as first,
        aioboto3.Session().client("bedrock-runtime") as second,
    ):
        pass
    return pool.client("bedrock-runtime")

other = [boto3.client("bedrock"), boto3.client("bedrock-agent-runtime"), boto3.resource("bedrock-runtime"), boto3.client()]
"#;
    let places: Vec<usize> = facts(&[("a.py", text)]).clients.iter().map(|client| client.place.line).collect();
    assert_eq!(places, [10, 11, 12, 15, 19, 25, 26, 29]);
    assert!(clients(&[("a.py", text)]).contains("a:11 botocore 11@a:9"));
    assert!(clients(&[("a.py", text)]).contains("a:25 botocore 22@a:25"));
}

#[test]
fn configs_are_merged_and_dictionaries_expanded() {
    let text = r#"import boto3
from botocore.config import Config
BASE = Config(read_timeout=20, retries={"max_attempts": 5}, tcp_keepalive=True)
OPTIONS = {
    "read_timeout": 100,
    "max_pool_connections": 25,
}
OPTIONS["tcp_keepalive"] = True
OPTIONS.update(retries={"max_attempts": 1})
merged = boto3.client("bedrock-runtime", config=BASE.merge(Config(read_timeout=40)))
expanded = boto3.client("bedrock-runtime", config=Config(**OPTIONS))
both = boto3.client("bedrock-runtime", config=Config(**{**OPTIONS, "read_timeout": 5}))
partly = boto3.client("bedrock-runtime", config=Config(**load(), connect_timeout=5))
"#;
    assert_eq!(
        clients(&[("a.py", text)]),
        "a:10 botocore 40@a:10; [6]@a:3\n\
         a:11 botocore 100@a:5<a:11; [2]@a:9\n\
         a:12 botocore 5@a:12; [2]@a:9\n\
         a:13 botocore ? what `load()` returns; ? what `load()` returns\n"
    );
    let found = facts(&[("a.py", text)]).clients;
    assert_eq!(found.iter().map(|client| client.tcp_keepalive).collect::<Vec<_>>(), [true, true, true, false]);
    assert_eq!(found[1].pool.value(), Some(25.0));
    assert!(found[0].pool.is_default() && found[0].pool.value() == Some(10.0));
    assert!(found[3].pool.why_unresolved().is_some());
}

#[test]
fn a_value_that_depends_on_a_branch_is_not_known() {
    let text = r#"import os
import boto3
from botocore.config import Config
if os.environ.get("STAGE") == "prod":
    wait, tries = 100, 2
    same = 30
else:
    wait, tries = 20, 2
    same = 30
later = 1
later = 50
if os.environ.get("STAGE"):
    later = 2
    inside = boto3.client("bedrock-runtime", config=Config(read_timeout=later))
branched = boto3.client("bedrock-runtime", config=Config(read_timeout=wait, retries={"max_attempts": tries}))
agreeing = boto3.client("bedrock-runtime", config=Config(read_timeout=same))
after = boto3.client("bedrock-runtime", config=Config(read_timeout=later))
config = Config(read_timeout=1) if wait else None
either = boto3.client("bedrock-runtime", config=Config(read_timeout=1) if wait > 5 else None)
try:
    from fast import limit
except ImportError:
    limit = 70
tried = boto3.client("bedrock-runtime", config=Config(read_timeout=limit))
for second in range(9):
    boto3.client("bedrock-runtime", config=Config(read_timeout=second))
total = 5
total += 5
boto3.client("bedrock-runtime", config=Config(read_timeout=total))
"#;
    let found = clients(&[("a.py", text)]);
    let reads: Vec<&str> =
        found.lines().map(|line| line.split_once("botocore ").unwrap().1.split_once("; ").unwrap().0).collect();
    assert_eq!(
        reads,
        [
            "2@a:13<a:14",
            "? `wait` has one of several values",
            "30@a:6<a:16",
            "? `later` has one of several values",
            "? it depends on a branch",
            "? `fast.limit` is not in the files that were read",
            "? `second` changes as the program runs",
            "? `total` changes as the program runs",
        ]
    );
    assert!(found.contains("values; [3]@a:5<a:15\n"), "{found}");
}

#[test]
fn a_client_that_only_a_script_makes_is_left_out() {
    let text = "import boto3\nif __name__ == \"__main__\":\n    boto3.client('bedrock-runtime')\n";
    assert!(facts(&[("a.py", text)]).is_empty());
}

#[test]
fn a_syntax_error_further_down_hides_nothing_above_it() {
    let text =
        "import boto3\nmodel = boto3.client('bedrock-runtime')\n\ndef handler(event, context)\n    return model.(\n\nx = = 2\n";
    assert_eq!(facts(&[("a.py", text)]).clients.len(), 1);
}
