//! Every file of the page, packed with brotli. Written by console/build.mjs with the files themselves; not
//! edited by hand.

use crate::Packed;

/// The page that all others are shown in.
pub(crate) const INDEX: &str = "index.html";

macro_rules! asset {
    ($name:literal, $media_type:literal, $bytes:literal) => {
        Packed {
            name: $name,
            media_type: $media_type,
            bytes: $bytes,
            packed: include_bytes!(concat!("../assets/", $name, ".br")),
        }
    };
}

#[rustfmt::skip]
pub(crate) const ASSETS: &[Packed] = &[
    asset!("access-A63232OC.js", "text/javascript; charset=utf-8", 2394),
    asset!("agent-3EQL2QBK.js", "text/javascript; charset=utf-8", 3264),
    asset!("agents-YVRUJG42.js", "text/javascript; charset=utf-8", 2920),
    asset!("audit-FMD7PHZF.js", "text/javascript; charset=utf-8", 2869),
    asset!("chunk-EV72QQXE.js", "text/javascript; charset=utf-8", 2688),
    asset!("chunk-IQVJCEMH.js", "text/javascript; charset=utf-8", 74767),
    asset!("chunk-M2DIG3BX.js", "text/javascript; charset=utf-8", 2211),
    asset!("chunk-OHSPJT7X.js", "text/javascript; charset=utf-8", 5562),
    asset!("chunk-S5FZ4FB4.js", "text/javascript; charset=utf-8", 3160),
    asset!("chunk-U4HG7PBN.js", "text/javascript; charset=utf-8", 6314),
    asset!("chunk-UEI3YCEE.js", "text/javascript; charset=utf-8", 87465),
    asset!("context-R2WBPJGH.js", "text/javascript; charset=utf-8", 103),
    asset!("create-KIQ4VTKI.js", "text/javascript; charset=utf-8", 1932),
    asset!("feed-AQSAKANP.js", "text/javascript; charset=utf-8", 6231),
    asset!("health-FE6DRUHY.js", "text/javascript; charset=utf-8", 2905),
    asset!("hygiene-JETRXPDM.js", "text/javascript; charset=utf-8", 4775),
    asset!("icon-5dc7270e.svg", "image/svg+xml", 268),
    asset!("index.html", "text/html; charset=utf-8", 667),
    asset!("keys-2XEDOTMA.js", "text/javascript; charset=utf-8", 5251),
    asset!("knowledge-V25GHQJZ.js", "text/javascript; charset=utf-8", 20934),
    asset!("main-JH7CC47E.js", "text/javascript; charset=utf-8", 422),
    asset!("memory-QPR6XNDN.js", "text/javascript; charset=utf-8", 14885),
    asset!("overview-IMQOWLTK.js", "text/javascript; charset=utf-8", 109),
    asset!("revert-JBU6L44G.js", "text/javascript; charset=utf-8", 5163),
    asset!("search-YOTTVRC3.js", "text/javascript; charset=utf-8", 6457),
    asset!("sessions-AN2ZZRS6.js", "text/javascript; charset=utf-8", 3188),
    asset!("settings-6ROZ4DIB.js", "text/javascript; charset=utf-8", 6008),
    asset!("style-JTO5UXH4.css", "text/css; charset=utf-8", 28257),
];
