use super::{calls, clients, facts};

const CLIENTS: &str = r#"import boto3
from botocore.config import Config

from .numbers import WAIT, Tries


def make(service, wait=WAIT, **more):
    """Makes a client."""
    config = Config(read_timeout=wait, retries={"max_attempts": Tries.FEW.value}, **more)
    return boto3.client(service, config=config)


class Reader:
    def __init__(self, wait, client=None):
        self.wait = wait
        self._client = client

    @property
    def client(self):
        if self._client is None:
            self._client = boto3.client("bedrock-runtime", config=Config(read_timeout=self.wait))
        return self._client

    def read(self, limit):
        return self.client.converse(modelId="a.b", inferenceConfig={"maxTokens": limit})
"#;

const NUMBERS: &str = "import enum\nWAIT = 44\n\n\nclass Tries(enum.IntEnum):\n    FEW = 2\n";

#[test]
fn arguments_are_followed_from_each_caller() {
    let entry = r#"from lib import clients
from lib.clients import Reader, make

store = make("s3")
model = make("bedrock-runtime")
slow = clients.make("bedrock-runtime", 99, tcp_keepalive=True)
reader = Reader(wait=33)


def handler(event, context):
    reader.read(500)
    model.converse(modelId="c.d", inferenceConfig={"maxTokens": 7})
"#;
    let files = [("app.py", entry), ("lib/__init__.py", ""), ("lib/clients.py", CLIENTS), ("lib/numbers.py", NUMBERS)];
    assert_eq!(
        clients(&files),
        "lib/clients:10 botocore 44@lib/numbers:2<lib/clients:9; [3]@lib/numbers:6<lib/clients:9\n\
         lib/clients:10 botocore 99@app:6<lib/clients:9; [3]@lib/numbers:6<lib/clients:9\n\
         lib/clients:21 botocore 33@app:7<lib/clients:21; [3, 5] (default of botocore) or environment\n"
    );
    assert_eq!(calls(&files), "app:12 7@app:12; c.d@app:12\nlib/clients:25 500@app:11<lib/clients:25; a.b@lib/clients:25\n");
    assert_eq!(facts(&files).clients.iter().map(|client| client.tcp_keepalive).collect::<Vec<_>>(), [false, true, false]);
}

#[test]
fn an_argument_that_nobody_gives_is_not_known() {
    let text = "import boto3\nfrom botocore.config import Config\ndef make(wait=5):\n    return boto3.client('bedrock-runtime', config=Config(read_timeout=wait))\n";
    assert!(clients(&[("a.py", text)]).starts_with("a:4 botocore ? argument `wait` of `make`; "));
    assert!(clients(&[("a.py", &format!("{text}make()\n"))]).starts_with("a:4 botocore 5@a:3<a:4; "));
    assert!(clients(&[("a.py", &format!("{text}make(*given)\n"))]).starts_with("a:4 botocore ? argument `wait` of `make`; "));
}

#[test]
fn imports_are_looked_up_beside_above_and_in_src() {
    let client = "import boto3\nmodel = boto3.client('bedrock-runtime')\n";
    for (entry, import, path) in [
        ("fn/app.py", "import model_client", "fn/model_client.py"),
        ("fn/app.py", "import shared.model as m", "fn/shared/model.py"),
        ("fn/deep/app.py", "from fn.shared import model", "fn/shared/model/__init__.py"),
        ("fn/deep/app.py", "from ..shared import model", "fn/shared/model.py"),
        ("fn/deep/app.py", "from . import model", "fn/deep/model.py"),
        ("app.py", "from tools.model import *", "src/tools/model.py"),
        ("src/app.py", "from src.model import model", "src/model.py"),
        ("./app.py", "def f():\n    from model import model", "model.py"),
    ] {
        let entry_path = entry.trim_start_matches("./");
        let files = [(entry, import), (entry_path, import), (path, client)];
        assert_eq!(facts(&files).clients.len(), 1, "{import}");
        assert_eq!(&*facts(&files).clients[0].place.path, path, "{import}");
    }
    assert!(facts(&[("app.py", "from .. import model"), ("model.py", client)]).is_empty());
    assert!(facts(&[("app.py", "import boto3"), ("boto3.py", client)]).is_empty());
}

#[test]
fn a_client_of_another_module_is_known_by_its_name_there() {
    let package = "from .runtime import bedrock as model\n__all__ = ['model']\n";
    let runtime = "import boto3\nbedrock = boto3.client('bedrock-runtime')\ns3 = boto3.client('s3')\n";
    let entry = "import clients\nfrom clients import runtime\nclients.model.converse(modelId='a')\nruntime.s3.converse(modelId='b')\nruntime.bedrock.converse(modelId='c')\n";
    let files = [("app.py", entry), ("clients/__init__.py", package), ("clients/runtime.py", runtime)];
    assert_eq!(calls(&files), "app:3 -; a@app:3\napp:5 -; c@app:5\n");
}

#[test]
fn a_setting_of_a_class_is_what_its_object_was_given() {
    let text = r#"from dataclasses import dataclass
import boto3
from botocore.config import Config
from pydantic_settings import BaseSettings

@dataclass
class Times:
    wait: int = 30
    tries: int = 0

class Outside(BaseSettings):
    wait: int = 30

class Defaults:
    WAIT = 55

given = Times(wait=80)
boto3.client("bedrock-runtime", config=Config(read_timeout=given.wait, retries={"max_attempts": given.tries}))
boto3.client("bedrock-runtime", config=Config(read_timeout=Outside().wait))
boto3.client("bedrock-runtime", config=Config(read_timeout=Defaults.WAIT))
boto3.client("bedrock-runtime", config=Config(read_timeout=Defaults.OTHER))
"#;
    assert_eq!(
        clients(&[("a.py", text)]).replace("; [3, 5] (default of botocore) or environment", ""),
        "a:18 botocore 80@a:17<a:18; [1]@a:9<a:18\n\
         a:19 botocore ? `wait` of `Outside`, which reads the environment\n\
         a:20 botocore 55@a:15<a:20\n\
         a:21 botocore ? `OTHER` of an object of `Defaults`\n"
    );
}

#[test]
fn files_are_bounded() {
    let chain = |n: usize| format!("import m{}\nimport boto3\nboto3.client('bedrock-runtime')\n", n + 1);
    let files: Vec<(String, String)> = (0..100).map(|n| (format!("m{n}.py"), chain(n))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    assert_eq!(facts(&files).clients.len(), 64);
    let long = format!("import boto3\nboto3.client('bedrock-runtime')\n#{}", "x".repeat(2 * 1024 * 1024));
    assert!(facts(&[("a.py", &long)]).is_empty());
}
