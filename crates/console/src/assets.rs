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
    asset!("access-ICQEDDME.js", "text/javascript; charset=utf-8", 2394),
    asset!("agent-BNMBNYDR.js", "text/javascript; charset=utf-8", 3264),
    asset!("agents-NH6DRN3V.js", "text/javascript; charset=utf-8", 2920),
    asset!("audit-O7GLZNHG.js", "text/javascript; charset=utf-8", 2807),
    asset!("chunk-5INNDB5M.js", "text/javascript; charset=utf-8", 2688),
    asset!("chunk-JP6GQ5OT.js", "text/javascript; charset=utf-8", 74767),
    asset!("chunk-JTWSO4NX.js", "text/javascript; charset=utf-8", 5562),
    asset!("chunk-NHT4X64J.js", "text/javascript; charset=utf-8", 2211),
    asset!("chunk-NN7DA6MW.js", "text/javascript; charset=utf-8", 6314),
    asset!("chunk-SJIG4CNC.js", "text/javascript; charset=utf-8", 87388),
    asset!("chunk-TBCNGQQG.js", "text/javascript; charset=utf-8", 3160),
    asset!("context-GLVIHWNM.js", "text/javascript; charset=utf-8", 103),
    asset!("create-SSFCQMUO.js", "text/javascript; charset=utf-8", 1932),
    asset!("feed-6SR5OW5N.js", "text/javascript; charset=utf-8", 6231),
    asset!("health-XSLIUFY2.js", "text/javascript; charset=utf-8", 2905),
    asset!("hygiene-GKFNTPM2.js", "text/javascript; charset=utf-8", 4775),
    asset!("icon-5dc7270e.svg", "image/svg+xml", 268),
    asset!("index.html", "text/html; charset=utf-8", 667),
    asset!("keys-2W6JHZUL.js", "text/javascript; charset=utf-8", 4837),
    asset!("knowledge-MDSH72KJ.js", "text/javascript; charset=utf-8", 20934),
    asset!("main-L7C3QG4D.js", "text/javascript; charset=utf-8", 422),
    asset!("memory-OVYNMNOS.js", "text/javascript; charset=utf-8", 14885),
    asset!("overview-JCBWAMTY.js", "text/javascript; charset=utf-8", 109),
    asset!("revert-NK4UALG2.js", "text/javascript; charset=utf-8", 5163),
    asset!("search-2HSKLW7L.js", "text/javascript; charset=utf-8", 6457),
    asset!("sessions-YJJMH4YT.js", "text/javascript; charset=utf-8", 3188),
    asset!("settings-G2X6PWTX.js", "text/javascript; charset=utf-8", 6008),
    asset!("style-4R2KIEDN.css", "text/css; charset=utf-8", 28234),
];
