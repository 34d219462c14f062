//! The credential of a browser that signed in to the console: a key in a cookie, and what a request
//! must show so that no other page can send it.
//!
//! The cookie is `SameSite=Strict` and cannot be read by scripts, so another site's page neither
//! knows it nor makes browsers send it. Beside that, whoever writes must send a header that pages of
//! other origins cannot add without asking first, and what the browser says about where a request
//! comes from must be this server.

use http::header::{COOKIE, HOST, ORIGIN};
use http::{HeaderMap, HeaderName, HeaderValue, Method};

/// What the cookie is called.
const NAME: &str = "loci_console";
const ASKED_BY_PAGE: HeaderName = HeaderName::from_static("x-loci-console");
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// What a request with the cookie is told that the page of this server did not send.
pub(crate) const NOT_OUR_PAGE: &str =
    "a request with the console's cookie must come from the console's own page";

/// The secret in the cookie of a request.
pub(crate) fn shown(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|value| value.split(';'));
    pairs.find_map(|pair| {
        let (name, value) = pair.trim().split_once('=')?;
        (name == NAME && !value.is_empty()).then_some(value)
    })
}

/// Whether a request can only come from our own page, as far as its headers tell.
pub(crate) fn is_own_page(method: &Method, headers: &HeaderMap) -> bool {
    let is_read = matches!(*method, Method::GET | Method::HEAD);
    let is_asked = headers.get(&ASKED_BY_PAGE).is_some_and(|value| value == "1");
    let is_near = match headers.get(&FETCH_SITE).map(HeaderValue::as_bytes) {
        None | Some(b"same-origin") => true,
        // Typed into the address bar.
        Some(b"none") => is_read,
        Some(_) => false,
    };
    let is_own_origin = headers.get(ORIGIN).is_none_or(|origin| is_host(origin, headers.get(HOST)));
    (is_read || is_asked) && is_near && is_own_origin
}

fn is_host(origin: &HeaderValue, host: Option<&HeaderValue>) -> bool {
    let named = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
    let host = host.and_then(|host| host.to_str().ok());
    named.zip(host).is_some_and(|((_, named), host)| named.eq_ignore_ascii_case(host))
}

/// A cookie for somebody who signed in, for so many seconds. Whether the page came over TLS is known
/// to the browser only, which says so in the origin it names.
pub(crate) fn set(secret: &str, secs: i64, headers: &HeaderMap) -> HeaderValue {
    let is_tls = headers.get(ORIGIN).is_some_and(|origin| origin.as_bytes().starts_with(b"https:"));
    let secure = if is_tls { "; Secure" } else { "" };
    let text =
        format!("{NAME}={secret}; Path=/; Max-Age={secs}; HttpOnly; SameSite=Strict{secure}");
    HeaderValue::try_from(text).expect("secrets that we make are plain ASCII")
}

/// The cookie of somebody who signed out.
pub(crate) fn cleared() -> HeaderValue {
    const CLEARED: &str = "loci_console=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict";
    HeaderValue::from_static(CLEARED)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let parsed = pairs
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        parsed.collect()
    }

    #[test]
    fn the_secret_is_found_among_other_cookies() {
        let check = |cookie, expected| assert_eq!(shown(&headers(&[("cookie", cookie)])), expected);
        check("loci_console=abc", Some("abc"));
        check("theme=dark; loci_console=abc; x=y", Some("abc"));
        check("not_loci_console=abc", None);
        check("loci_console=", None);
        check("loci_console", None);
        assert_eq!(shown(&HeaderMap::new()), None);
    }

    #[test]
    fn only_our_own_page_may_send_it() {
        let check = |method: Method, pairs: &[(&'static str, &'static str)], expected: bool| {
            assert_eq!(is_own_page(&method, &headers(pairs)), expected, "{method} {pairs:?}");
        };
        let (asked, host) = (("x-loci-console", "1"), ("host", "loci.test:8700"));
        check(Method::GET, &[], true);
        check(Method::GET, &[("sec-fetch-site", "none")], true);
        check(Method::GET, &[("sec-fetch-site", "cross-site")], false);
        check(Method::GET, &[("sec-fetch-site", "same-site")], false);
        check(Method::POST, &[], false);
        check(Method::POST, &[asked], true);
        check(Method::POST, &[("x-loci-console", "0")], false);
        check(Method::DELETE, &[asked, ("sec-fetch-site", "same-origin")], true);
        check(Method::POST, &[asked, ("sec-fetch-site", "none")], false);
        check(Method::POST, &[asked, host, ("origin", "http://loci.test:8700")], true);
        check(Method::POST, &[asked, host, ("origin", "https://LOCI.test:8700")], true);
        check(Method::POST, &[asked, host, ("origin", "http://loci.test")], false);
        check(Method::POST, &[asked, host, ("origin", "http://evil.test")], false);
        check(Method::POST, &[asked, host, ("origin", "null")], false);
        check(Method::POST, &[asked, ("origin", "http://loci.test:8700")], false);
        check(Method::GET, &[host, ("origin", "http://evil.test")], false);
    }

    #[test]
    fn scripts_and_other_sites_never_get_the_cookie() {
        let plain = set("s3cret", 60, &headers(&[("origin", "http://loci.test")]));
        let text = "loci_console=s3cret; Path=/; Max-Age=60; HttpOnly; SameSite=Strict";
        assert_eq!(plain, text);
        let over_tls = set("s3cret", 60, &headers(&[("origin", "https://loci.test")]));
        assert_eq!(over_tls, format!("{text}; Secure"));
        assert!(cleared().to_str().unwrap().contains("Max-Age=0; HttpOnly; SameSite=Strict"));
    }
}
