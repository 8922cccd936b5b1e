use super::layers;

fn with_ask(text: &str) -> String {
    format!(
        "import boto3\nmodel = boto3.client('bedrock-runtime')\ndef ask(x):\n    return model.converse(modelId='a')\n{text}"
    )
}

#[test]
fn decorators_that_retry_count_around_what_calls_a_model() {
    for (import, decorator, layer) in [
        ("from tenacity import retry", "retry", "tenacity's `retry`"),
        ("import tenacity as t", "t.retry(stop=t.stop_after_attempt(4))", "tenacity's `retry`"),
        ("import backoff", "backoff.on_exception(backoff.expo, Exception)", "backoff's `on_exception`"),
        ("from backoff import on_predicate", "on_predicate(backoff.expo)", "backoff's `on_predicate`"),
        ("import retrying", "retrying.retry(stop_max_attempt_number=3)", "retrying's `retry`"),
        ("import stamina", "stamina.retry(on=Exception)", "stamina's `retry`"),
        ("from retry import retry", "retry(tries=3)", "retry's `retry`"),
        ("from tenacity import retry\nagain = retry(reraise=True)", "again", "tenacity's `retry`"),
    ] {
        let lines = import.matches('\n').count();
        let text = with_ask(&format!("{import}\n@{decorator}\ndef twice(x):\n    return [ask(y) for y in x]\n"));
        assert_eq!(layers(&[("a.py", &text)]), format!("a:{} {layer}\n", 6 + lines), "{decorator}");
        let other = with_ask(&format!("{import}\n@{decorator}\ndef save(x):\n    return x\n"));
        assert_eq!(layers(&[("a.py", &other)]), "", "{decorator}");
    }
    for once in ["stop=stop_after_attempt(1)", "attempts=1"] {
        let text =
            with_ask(&format!("from tenacity import retry, stop_after_attempt\n@retry({once})\ndef f(x):\n    ask(x)\n"));
        assert_eq!(layers(&[("a.py", &text)]), "", "{once}");
    }
    let cached = with_ask("import functools\n@functools.cache\ndef f(x):\n    ask(x)\n");
    assert_eq!(layers(&[("a.py", &cached)]), "");
}

#[test]
fn methods_and_modules_are_followed_to_the_call() {
    let entry = "from tenacity import retry\nfrom work import Worker\nclass Batch:\n    @retry\n    def run(self):\n        self.step()\n    def step(self):\n        Worker('x').ask()\nBatch().run()\n";
    let work = "import boto3\nclass Worker:\n    def __init__(self, x):\n        self.model = boto3.client('bedrock-runtime')\n    def ask(self):\n        self.model.converse(modelId='a')\n";
    assert_eq!(layers(&[("app.py", entry), ("work.py", work)]), "app:4 tenacity's `retry`\n");
}

#[test]
fn objects_that_retry_count() {
    let text = with_ask(
        "from tenacity import Retrying, stop_after_attempt\nimport stamina\ndef f(x):\n    for attempt in Retrying(stop=stop_after_attempt(3)):\n        with attempt:\n            ask(x)\n    for attempt in stamina.retry_context(on=Exception):\n        with attempt:\n            ask(x)\n    again = Retrying()\n    again(ask, x)\n    again(print, x)\n",
    );
    assert_eq!(
        layers(&[("a.py", &text)]),
        "a:8 tenacity's `Retrying`\na:11 stamina's `retry_context`\na:15 tenacity's `Retrying`\n"
    );
}

#[test]
fn loops_that_try_again_count_and_loops_over_records_do_not() {
    let again = [
        "for attempt in range(3):\n        try:\n            return ask(x)\n        except Exception:\n            sleep(attempt)",
        "for _ in range(TIMES):\n        try:\n            ask(x)\n            break\n        except Exception as error:\n            if error:\n                raise\n            sleep(1)",
        "for attempt in range(1, n):\n        try:\n            answer = ask(x)\n        except ValueError:\n            continue\n        return answer",
        "while True:\n        try:\n            return ask(x)\n        except Exception:\n            sleep(1)",
        "while tries < 4:\n        try:\n            ask(x)\n            done = True\n        except Exception:\n            tries += 1",
        "for delay in (1, 2, 4):\n        try:\n            return ask(x)\n        except Exception:\n            sleep(delay)",
    ];
    let once = [
        "for record in x:\n        try:\n            ask(record)\n        except Exception:\n            failed.append(record)",
        "for record in x:\n        try:\n            ask(record)\n        except Exception:\n            return failed",
        "for index in range(len(x)):\n        try:\n            ask(x[index])\n        except Exception:\n            continue",
        "for index in range(5):\n        try:\n            ask(index)\n        except Exception:\n            pass",
        "for attempt in range(1):\n        try:\n            return ask(x)\n        except Exception:\n            pass",
        "for attempt in range(3):\n        try:\n            return ask(x)\n        except Exception:\n            raise",
        "for attempt in range(3):\n        try:\n            return save(x)\n        except Exception:\n            pass",
        "while x:\n        try:\n            ask(x.pop())\n        except Exception:\n            failed += 1",
        "while True:\n        try:\n            answer = ask(x)\n        except Exception:\n            raise\n        if answer:\n            break",
    ];
    for (list, expected) in [(&again[..], true), (&once[..], false)] {
        for text in list {
            let whole = with_ask(&format!("TIMES = 4\ndef save(x): pass\ndef f(x, n):\n    {text}\n"));
            let kind = text.split(' ').next().unwrap();
            let layer = if expected { format!("a:8 a `{kind}` loop that tries again\n") } else { String::new() };
            assert_eq!(layers(&[("a.py", &whole)]), layer, "{text}");
        }
    }
}

#[test]
fn local_functions_that_try_again_count_where_they_are_used() {
    let helper = "def again(times):\n    def around(function):\n        def inner(*a):\n            for _ in range(times):\n                try:\n                    return function(*a)\n                except Exception:\n                    sleep(1)\n        return inner\n    return around\ndef persist(work):\n    for attempt in range(3):\n        try:\n            return work()\n        except Exception:\n            sleep(1)\n";
    let text = with_ask(
        "from helper import again, persist\n@again(3)\ndef f(x):\n    ask(x)\ndef g(x):\n    persist(lambda: ask(x))\n    persist(lambda: print(x))\n@again(3)\ndef h(x):\n    pass\n",
    );
    assert_eq!(
        layers(&[("a.py", &text), ("helper.py", helper)]),
        "a:6 `again`, which tries again\na:10 `persist`, which tries again\n"
    );
}

#[test]
fn pools_and_semaphores_bound_the_calls_under_them() {
    for (text, expected) in [
        (
            "from concurrent.futures import ThreadPoolExecutor\ndef f(x):\n    with ThreadPoolExecutor(max_workers=12) as pool:\n        pool.map(ask, x)",
            "12 at a time, line 7",
        ),
        (
            "import concurrent.futures as c\nSIZE = 9\ndef f(x):\n    with c.ThreadPoolExecutor(SIZE) as pool:\n        [pool.submit(lambda: ask(y)) for y in x]",
            "9 at a time, line 6",
        ),
        (
            "from concurrent import futures\npool = futures.ThreadPoolExecutor(max_workers=min(7, 2 * n))\ndef f(x):\n    pool.submit(ask, x)",
            "7 at a time, line 6",
        ),
        ("from multiprocessing.pool import ThreadPool\ndef f(x):\n    ThreadPool(5).imap(ask, x)", "5 at a time, line 7"),
        (
            "import asyncio\ngate = asyncio.Semaphore(4)\nasync def f(x):\n    async with gate:\n        await asyncio.to_thread(ask, x)",
            "4 at a time, line 6",
        ),
        (
            "import asyncio\nfrom concurrent.futures import ThreadPoolExecutor\nasync def f(x):\n    pool = ThreadPoolExecutor(6)\n    await asyncio.get_event_loop().run_in_executor(pool, ask, x)",
            "6 at a time, line 8",
        ),
        (
            "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(max_workers=3) as a, ThreadPoolExecutor(max_workers=8) as b:\n    a.map(ask, [])\n    b.map(ask, [])",
            "8 at a time, line 6",
        ),
        (
            "from concurrent.futures import ThreadPoolExecutor\ndef save(x): pass\ndef f(x):\n    with ThreadPoolExecutor(max_workers=12) as pool:\n        pool.map(save, x)\n    ask(x)",
            "",
        ),
        (
            "from concurrent.futures import ThreadPoolExecutor\ndef f(x):\n    with ThreadPoolExecutor() as pool:\n        pool.map(ask, x)",
            "",
        ),
        (
            "from concurrent.futures import ThreadPoolExecutor\ndef f(x):\n    with ThreadPoolExecutor(max_workers=len(x)) as pool:\n        pool.map(ask, x)",
            "",
        ),
    ] {
        assert_eq!(layers(&[("a.py", &with_ask(text))]).trim_end(), expected, "{text}");
    }
}
