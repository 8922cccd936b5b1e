//! An AWS account on a loopback port: Service Quotas, CloudWatch and Bedrock's inference profiles, in the protocols that
//! the SDK speaks (AWS JSON 1.1, Smithy RPC v2 CBOR, REST JSON), with faults on demand.
//!
//! Emulators cover the good cases with an implementation that is not ours; this one covers what they cannot: denied and
//! throttled calls, partial pages, cut series, renamed rows, and how many requests a command sends.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use ciborium::Value as Cbor;
use serde_json::{Value, json};

#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) code: &'static str,
    pub(crate) name: String,
    pub(crate) applied: Option<f64>,
    pub(crate) default: Option<f64>,
}

/// An error that an operation answers with, as often as `times` says.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) operation: &'static str,
    pub(crate) status: u16,
    pub(crate) kind: &'static str,
    pub(crate) message: &'static str,
    /// Answer this many requests rightly first.
    pub(crate) after: usize,
    pub(crate) times: usize,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) rows: Vec<Row>,
    pub(crate) page: usize,
    /// ModelId, metric, minutes before now, value.
    pub(crate) samples: Vec<(String, &'static str, i64, f64)>,
    /// Status codes of series, by metric, where they are not Complete.
    pub(crate) status: BTreeMap<&'static str, &'static str>,
    /// Cut every series in two pages: the first has one point of each and is partial.
    pub(crate) metric_pages: bool,
    /// Id, name, model ARNs.
    pub(crate) profiles: Vec<(&'static str, &'static str, Vec<String>)>,
    pub(crate) faults: Vec<Fault>,
    /// Event source mappings, as Lambda lists them.
    pub(crate) mappings: Vec<Value>,
    /// Answers of `GetFunction`, by name.
    pub(crate) functions: BTreeMap<&'static str, Value>,
    /// Attributes of queues, by name.
    pub(crate) queues: BTreeMap<&'static str, Value>,
    /// Operations in the order in which they were asked.
    pub(crate) log: Vec<String>,
}

/// A running account; it ends with the test's process.
pub(crate) struct Account {
    pub(crate) url: String,
    pub(crate) state: Arc<Mutex<State>>,
}

impl Account {
    pub(crate) fn start(state: State) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(state));
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || serve(stream, &shared));
            }
        });
        Self { url, state }
    }

    pub(crate) fn log(&self) -> Vec<String> {
        std::mem::take(&mut self.state.lock().unwrap().log)
    }
}

struct Request {
    path: String,
    target: String,
    body: Vec<u8>,
}

/// Answers one connection's requests until it is closed.
fn serve(stream: TcpStream, state: &Mutex<State>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut writer = stream;
    while let Some(request) = read(&mut reader) {
        let (status, kind, content_type, body) = answer(&request, &mut state.lock().unwrap());
        let error = kind.map(|kind| format!("x-amzn-errortype: {kind}\r\n")).unwrap_or_default();
        let protocol = if content_type == "application/cbor" { "smithy-protocol: rpc-v2-cbor\r\n" } else { "" };
        let head = format!(
            "HTTP/1.1 {status} x\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\n{error}{protocol}\r\n",
            body.len()
        );
        if writer.write_all(head.as_bytes()).and_then(|()| writer.write_all(&body)).is_err() {
            return;
        }
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|&length| length > 0)?;
    let path = line.split(' ').nth(1)?.to_owned();
    let (mut length, mut target, mut gzip) = (0, String::new(), false);
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().ok()?,
            "x-amz-target" => value.trim().clone_into(&mut target),
            "content-encoding" => gzip = value.contains("gzip"),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    if gzip {
        let mut whole = Vec::new();
        flate2::read::GzDecoder::new(body.as_slice()).read_to_end(&mut whole).ok()?;
        body = whole;
    }
    Some(Request { path, target, body })
}

type Answer = (u16, Option<&'static str>, &'static str, Vec<u8>);

fn answer(request: &Request, state: &mut State) -> Answer {
    let operation = if let Some((_, operation)) = request.target.split_once('.') {
        operation.to_owned()
    } else if request.path.contains("/operation/") {
        request.path.rsplit('/').next().unwrap().to_owned()
    } else if request.path.starts_with("/inference-profiles/") {
        "GetInferenceProfile".to_owned()
    } else if request.path.contains("/event-source-mappings") {
        "ListEventSourceMappings".to_owned()
    } else if request.path.contains("/functions/") {
        "GetFunction".to_owned()
    } else {
        "ListInferenceProfiles".to_owned()
    };
    state.log.push(operation.clone());
    let cbor = operation == "GetMetricData";
    if let Some(fault) =
        state.faults.iter_mut().find(|fault| fault.operation == operation && (fault.after > 0 || fault.times > 0))
    {
        if fault.after > 0 {
            fault.after -= 1;
        } else {
            fault.times -= 1;
            if cbor {
                let body = Cbor::Map(vec![(text("__type"), text(fault.kind)), (text("message"), text(fault.message))]);
                return (fault.status, None, "application/cbor", encode(&body));
            }
            let body = json!({"__type": fault.kind, "message": fault.message}).to_string();
            return (fault.status, Some(fault.kind), "application/x-amz-json-1.1", body.into_bytes());
        }
    }
    let ok = |body: Value| (200, None, "application/x-amz-json-1.1", body.to_string().into_bytes());
    let asked = || serde_json::from_slice::<Value>(&request.body).unwrap_or_default();
    match operation.as_str() {
        "ListServiceQuotas" => ok(list(state, &asked(), |row| row.applied)),
        "ListAWSDefaultServiceQuotas" => ok(list(state, &asked(), |row| row.default)),
        "GetServiceQuota" => one(state, &asked(), |row| row.applied),
        "GetAWSDefaultServiceQuota" => one(state, &asked(), |row| row.default),
        "ListInferenceProfiles" => {
            ok(json!({"inferenceProfileSummaries": state.profiles.iter().map(profile).collect::<Vec<_>>()}))
        }
        "GetInferenceProfile" => {
            let found = state.profiles.iter().find(|(id, ..)| request.path.ends_with(id));
            match found {
                Some(found) => ok(profile(found)),
                None => {
                    let body = json!({"message": "no such profile"}).to_string();
                    (404, Some("ResourceNotFoundException"), "application/json", body.into_bytes())
                }
            }
        }
        "ListEventSourceMappings" => {
            // The filter is looked for in the query, percent-encoded as it is.
            let wanted = |mapping: &&Value| {
                ["FunctionArn", "EventSourceArn"].iter().all(|key| {
                    let query = if *key == "FunctionArn" { "FunctionName=" } else { "EventSourceArn=" };
                    let Some((_, value)) = request.path.split_once(query) else { return true };
                    let value = value.split('&').next().unwrap().replace("%3A", ":");
                    mapping[*key].as_str().unwrap().ends_with(&value)
                })
            };
            ok(json!({"EventSourceMappings": state.mappings.iter().filter(wanted).collect::<Vec<_>>()}))
        }
        "GetFunction" => {
            let found = state.functions.iter().find(|(name, _)| request.path.contains(*name));
            match found {
                Some((_, function)) => ok(function.clone()),
                None => {
                    let body = json!({"Message": "Function not found"}).to_string();
                    (404, Some("ResourceNotFoundException"), "application/json", body.into_bytes())
                }
            }
        }
        "GetQueueUrl" => {
            let name = asked()["QueueName"].as_str().unwrap().to_owned();
            if state.queues.contains_key(name.as_str()) {
                ok(json!({"QueueUrl": format!("http://queues/111122223333/{name}")}))
            } else {
                let body = json!({"__type": "com.amazonaws.sqs#QueueDoesNotExist", "message": "no such queue"}).to_string();
                (400, None, "application/x-amz-json-1.0", body.into_bytes())
            }
        }
        "GetQueueAttributes" => {
            let url = asked()["QueueUrl"].as_str().unwrap().to_owned();
            let found = state.queues.iter().find(|(name, _)| url.ends_with(*name));
            ok(json!({"Attributes": found.map(|(_, attributes)| attributes)}))
        }
        "GetMetricData" => (200, None, "application/cbor", encode(&metric_data(state, &request.body))),
        other => {
            (404, Some("UnknownOperationException"), "application/json", format!("{{\"message\": \"{other}\"}}").into_bytes())
        }
    }
}

fn quota(row: &Row, value: Option<f64>) -> Value {
    json!({"ServiceCode": "bedrock", "ServiceName": "Amazon Bedrock", "QuotaCode": row.code, "QuotaName": row.name, "Unit": "None",
           "QuotaArn": format!("arn:aws:servicequotas:us-east-1:111122223333:bedrock/{}", row.code),
           "Value": value, "Adjustable": true, "GlobalQuota": false})
}

fn list(state: &State, asked: &Value, value: fn(&Row) -> Option<f64>) -> Value {
    let rows: Vec<&Row> = state.rows.iter().filter(|row| value(row).is_some()).collect();
    let start: usize = asked["NextToken"].as_str().map_or(0, |token| token.parse().unwrap());
    let page = if state.page == 0 { 100 } else { state.page };
    let end = (start + page).min(rows.len());
    let quotas: Vec<Value> = rows[start..end].iter().map(|row| quota(row, value(row))).collect();
    let next = (end < rows.len()).then(|| end.to_string());
    json!({"Quotas": quotas, "NextToken": next})
}

fn one(state: &State, asked: &Value, value: fn(&Row) -> Option<f64>) -> Answer {
    let row = state.rows.iter().find(|row| asked["QuotaCode"] == row.code && value(row).is_some());
    match row {
        Some(row) => {
            (200, None, "application/x-amz-json-1.1", json!({"Quota": quota(row, value(row))}).to_string().into_bytes())
        }
        None => {
            let body = json!({"__type": "NoSuchResourceException", "Message": "no such quota"}).to_string();
            (400, Some("NoSuchResourceException"), "application/x-amz-json-1.1", body.into_bytes())
        }
    }
}

fn profile((id, name, models): &(&str, &str, Vec<String>)) -> Value {
    let arn = format!("arn:aws:bedrock:us-east-1:111122223333:application-inference-profile/{id}");
    let models: Vec<Value> = models.iter().map(|arn| json!({"modelArn": arn})).collect();
    json!({"inferenceProfileId": id, "inferenceProfileName": name, "inferenceProfileArn": arn, "models": models,
           "status": "ACTIVE", "type": "APPLICATION"})
}

fn text(text: &str) -> Cbor {
    Cbor::Text(text.to_owned())
}

fn encode(value: &Cbor) -> Vec<u8> {
    let mut bytes = Vec::new();
    ciborium::into_writer(value, &mut bytes).unwrap();
    bytes
}

fn get<'v>(value: &'v Cbor, key: &str) -> &'v Cbor {
    value.as_map().unwrap().iter().find(|(name, _)| name.as_text() == Some(key)).map_or(&Cbor::Null, |(_, value)| value)
}

#[expect(clippy::cast_possible_truncation, reason = "times of this century")]
fn seconds(value: &Cbor) -> i64 {
    match value {
        Cbor::Tag(_, inner) => seconds(inner),
        Cbor::Float(seconds) => *seconds as i64,
        Cbor::Integer(seconds) => i128::from(*seconds) as i64,
        other => panic!("{other:?}"),
    }
}

#[expect(clippy::disallowed_methods, reason = "samples are so many minutes old")]
/// Statistics of the samples, as CloudWatch defines them: a period's points, stamped with its start.
fn metric_data(state: &State, body: &[u8]) -> Cbor {
    let asked: Cbor = ciborium::from_reader(body).unwrap();
    let (start, end) = (seconds(get(&asked, "StartTime")), seconds(get(&asked, "EndTime")));
    let second = get(&asked, "NextToken").as_text().is_some();
    let now = jiff::Timestamp::now().as_second();
    let results = get(&asked, "MetricDataQueries").as_array().unwrap().iter().map(|query| {
        let stat = get(query, "MetricStat");
        let metric = get(stat, "Metric");
        let name = get(metric, "MetricName").as_text().unwrap();
        let dimensions = get(metric, "Dimensions").as_array().unwrap();
        let model = get(&dimensions[0], "Value").as_text().unwrap();
        let period = seconds(get(stat, "Period"));
        // A period too fine for the age of the window returns nothing, without an error.
        let age_days = (now - start) / 86_400;
        let too_fine =
            (age_days >= 15 && period % 300 != 0) || (age_days >= 63 && period % 3600 != 0) || (age_days >= 15 && period < 300);
        let mut periods: BTreeMap<i64, Vec<f64>> = BTreeMap::new();
        for (id, sample, minutes_ago, value) in &state.samples {
            let time = now - minutes_ago * 60;
            if !too_fine && id == model && *sample == name && time >= start && time < end {
                periods.entry(start + (time - start) / period * period).or_default().push(*value);
            }
        }
        let points: Vec<(i64, f64)> =
            periods.into_iter().map(|(time, values)| (time, statistic(get(stat, "Stat").as_text().unwrap(), values))).collect();
        let points = match (state.metric_pages, second) {
            (true, false) => points.into_iter().take(1).collect(),
            (true, true) => points.into_iter().skip(1).collect(),
            (false, _) => points,
        };
        let times = points.iter().map(|(time, _)| Cbor::Tag(1, Box::new(Cbor::Integer((*time).into())))).collect();
        let whole = if state.metric_pages && !second { "PartialData" } else { "Complete" };
        let status = state.status.get(name).copied().unwrap_or(whole);
        Cbor::Map(vec![
            (text("Id"), get(query, "Id").clone()),
            (text("Label"), text(name)),
            (text("Timestamps"), Cbor::Array(times)),
            (text("Values"), Cbor::Array(points.into_iter().map(|(_, value)| Cbor::Float(value)).collect())),
            (text("StatusCode"), text(status)),
        ])
    });
    let mut answer = vec![(text("MetricDataResults"), Cbor::Array(results.collect()))];
    if state.metric_pages && !second {
        answer.push((text("NextToken"), text("2")));
    }
    Cbor::Map(answer)
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "ranks of a few samples"
)]
fn statistic(name: &str, mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let count = values.len() as f64;
    match name {
        "Sum" => values.iter().sum(),
        "SampleCount" => count,
        "Average" => values.iter().sum::<f64>() / count,
        "Maximum" => values[values.len() - 1],
        percentile => {
            let share: f64 = percentile.strip_prefix('p').unwrap().parse::<f64>().unwrap() / 100.0;
            values[((share * count).ceil() as usize).max(1) - 1]
        }
    }
}
