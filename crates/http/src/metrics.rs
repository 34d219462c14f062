//! Counts for Prometheus. Labels are the route's pattern, method and status: no ids, no paths, so
//! their number is bounded by the routes we have.
//!
//! Handles are kept for each route, so that counting a request is a map lookup and a few atomic
//! additions.

use crate::ring::Ring;
use http::{Method, StatusCode};
use loci_engine::reading::ReadingCounts;
use loci_engine::search::Mode;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::{Family, MetricConstructor};
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, RwLock};
use std::time::Duration;

/// Upper ends of the histogram's buckets, in seconds: from a cached read to the request timeout.
const BUCKETS: [f64; 14] = [
    0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0,
];

/// Open connections of this process, over all its listeners.
pub(crate) static CONNECTIONS: AtomicI64 = AtomicI64::new(0);

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RequestLabels {
    route: String,
    method: &'static str,
    status: u16,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RouteLabels {
    route: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct SearchLabels {
    mode: &'static str,
}

#[derive(Clone)]
struct Buckets;

impl MetricConstructor<Histogram> for Buckets {
    fn new_metric(&self) -> Histogram {
        Histogram::new(BUCKETS)
    }
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct UnfitLabels {
    why: &'static str,
}

/// What a model did that reads facts beside the rules; the engine counts, this shows.
#[derive(Default)]
struct ReadingMetrics {
    requests: Counter,
    tokens: Counter,
    texts: Counter,
    failures: Counter,
    given_up: Counter,
    facts: Counter,
    unfit: Family<UnfitLabels, Counter>,
}

impl ReadingMetrics {
    fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        for (name, help, counter) in [
            ("requests", "Requests made to the model that reads", &metrics.requests),
            ("tokens", "Tokens they took", &metrics.tokens),
            ("texts", "Texts it read", &metrics.texts),
            ("failures", "Times it did not answer for a text", &metrics.failures),
            ("given_up", "Texts left to the rules", &metrics.given_up),
            ("facts", "Facts it read that the text bears out", &metrics.facts),
        ] {
            registry.register(format!("extraction_{name}"), help, counter.clone());
        }
        let help = "Facts it read that were dropped, by why";
        registry.register("extraction_dropped", help, metrics.unfit.clone());
        metrics
    }

    fn take(&self, counts: &ReadingCounts) {
        for (counter, count) in [
            (&self.requests, counts.requests),
            (&self.tokens, counts.tokens),
            (&self.texts, counts.texts),
            (&self.failures, counts.failures),
            (&self.given_up, counts.given_up),
            (&self.facts, counts.facts),
        ] {
            counter.inner().store(count, Ordering::Relaxed);
        }
        for (why, count) in counts.unfit.iter().copied() {
            let counter = self.unfit.get_or_create_owned(&UnfitLabels { why });
            counter.inner().store(count, Ordering::Relaxed);
        }
    }
}

/// All metrics of one router.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    seconds: Family<RouteLabels, Histogram, Buckets>,
    search_seconds: Family<SearchLabels, Histogram, Buckets>,
    connections: Gauge,
    resident_bytes: Gauge,
    reading: ReadingMetrics,
    routes: RwLock<HashMap<String, Arc<RouteMetrics>>>,
    /// The same minute by minute, in short.
    pub(crate) ring: Ring,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let requests = Family::<RequestLabels, Counter>::default();
        let seconds = Family::<RouteLabels, Histogram, Buckets>::new_with_constructor(Buckets);
        let search_seconds =
            Family::<SearchLabels, Histogram, Buckets>::new_with_constructor(Buckets);
        let (connections, resident_bytes) = (Gauge::default(), Gauge::default());
        let mut registry = Registry::with_prefix("loci");
        registry.register("requests", "Requests answered", requests.clone());
        registry.register_with_unit(
            "request",
            "Time from the end of a request's headers to its answer",
            Unit::Seconds,
            seconds.clone(),
        );
        registry.register_with_unit(
            "search",
            "Time of a search that was answered, by mode, waiting included",
            Unit::Seconds,
            search_seconds.clone(),
        );
        registry.register("connections", "Open connections", connections.clone());
        registry.register_with_unit(
            "resident",
            "Memory of the process that is in RAM",
            Unit::Bytes,
            resident_bytes.clone(),
        );
        let reading = ReadingMetrics::register(&mut registry);
        Self {
            registry,
            requests,
            seconds,
            search_seconds,
            connections,
            resident_bytes,
            reading,
            routes: RwLock::default(),
            ring: Ring::default(),
        }
    }

    /// The handles of a route, by its pattern.
    pub(crate) fn route(&self, name: &str) -> Arc<RouteMetrics> {
        let routes = self.routes.read().unwrap_or_else(|poison| poison.into_inner());
        if let Some(route) = routes.get(name) {
            return Arc::clone(route);
        }
        drop(routes);
        let labels = RouteLabels { route: name.to_owned() };
        let route = Arc::new(RouteMetrics {
            name: name.to_owned(),
            requests: self.requests.clone(),
            seconds: self.seconds.get_or_create_owned(&labels),
            counters: RwLock::default(),
        });
        let mut routes = self.routes.write().unwrap_or_else(|poison| poison.into_inner());
        Arc::clone(routes.entry(name.to_owned()).or_insert(route))
    }

    /// Counts one search that was answered.
    pub(crate) fn count_search(&self, mode: Mode, took: Duration) {
        let mode = match mode {
            Mode::Hybrid => "hybrid",
            Mode::Lexical => "lexical",
            Mode::Semantic => "semantic",
        };
        self.search_seconds.get_or_create(&SearchLabels { mode }).observe(took.as_secs_f64());
    }

    /// Everything as Prometheus text.
    pub(crate) fn render(&self, reading: Option<&ReadingCounts>) -> String {
        self.connections.set(CONNECTIONS.load(Ordering::Relaxed));
        if let Some(bytes) = resident_bytes() {
            self.resident_bytes.set(bytes);
        }
        if let Some(counts) = reading {
            self.reading.take(counts);
        }
        let mut text = String::new();
        encode(&mut text, &self.registry).expect("a String takes everything");
        text
    }
}

/// The metrics of one route.
pub(crate) struct RouteMetrics {
    name: String,
    requests: Family<RequestLabels, Counter>,
    seconds: Histogram,
    counters: RwLock<Vec<(&'static str, u16, Counter)>>,
}

impl RouteMetrics {
    /// The route's pattern.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Counts one answer.
    pub(crate) fn count(&self, method: &Method, status: StatusCode, took: Duration) {
        self.seconds.observe(took.as_secs_f64());
        let (method, status) = (method_label(method), status.as_u16());
        let counters = self.counters.read().unwrap_or_else(|poison| poison.into_inner());
        let is_this = |(m, s, _): &&(&'static str, u16, Counter)| *m == method && *s == status;
        if let Some((_, _, counter)) = counters.iter().find(is_this) {
            counter.inc();
            return;
        }
        drop(counters);
        let labels = RequestLabels { route: self.name.clone(), method, status };
        let counter = self.requests.get_or_create_owned(&labels);
        counter.inc();
        let mut counters = self.counters.write().unwrap_or_else(|poison| poison.into_inner());
        if !counters.iter().any(|known| is_this(&known)) {
            counters.push((method, status, counter));
        }
    }
}

/// Methods are the caller's words; only the ones we know become labels.
fn method_label(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}

/// Linux tells; elsewhere the number stays zero.
fn resident_bytes() -> Option<i64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: i64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_show_up_under_route_method_and_status() {
        let metrics = Metrics::new();
        let route = metrics.route("/v1/stats");
        route.count(&Method::GET, StatusCode::OK, Duration::from_millis(3));
        route.count(&Method::GET, StatusCode::OK, Duration::from_millis(3));
        metrics.route("/v1/stats").count(
            &"BREW".parse().unwrap(),
            StatusCode::NOT_FOUND,
            Duration::ZERO,
        );
        metrics.count_search(Mode::Hybrid, Duration::from_millis(4));
        let text = metrics.render(None);
        assert!(text.contains("loci_search_seconds_count{mode=\"hybrid\"} 1"), "{text}");
        let line = "loci_requests_total{route=\"/v1/stats\",method=\"GET\",status=\"200\"} 2";
        assert!(text.contains(line), "{text}");
        assert!(text.contains("method=\"other\",status=\"404\"} 1"), "{text}");
        assert!(text.contains("loci_request_seconds_count{route=\"/v1/stats\"} 3"), "{text}");
        assert!(text.contains("loci_connections "), "{text}");
    }
}
