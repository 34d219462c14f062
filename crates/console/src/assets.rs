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
    asset!("access-LS35UDVB.js", "text/javascript; charset=utf-8", 2569),
    asset!("agent-5DSALA63.js", "text/javascript; charset=utf-8", 3417),
    asset!("agents-6LB5K6QL.js", "text/javascript; charset=utf-8", 3079),
    asset!("audit-YURQHJEF.js", "text/javascript; charset=utf-8", 2837),
    asset!("browse-PZ6BVMOQ.js", "text/javascript; charset=utf-8", 8789),
    asset!("chunk-2CVHN5VS.js", "text/javascript; charset=utf-8", 666),
    asset!("chunk-3FNTCU7T.js", "text/javascript; charset=utf-8", 255),
    asset!("chunk-4JPEVX2J.js", "text/javascript; charset=utf-8", 1651),
    asset!("chunk-7O6XQW5T.js", "text/javascript; charset=utf-8", 2465),
    asset!("chunk-EFOGSM7P.js", "text/javascript; charset=utf-8", 32398),
    asset!("chunk-FUFJODAT.js", "text/javascript; charset=utf-8", 2718),
    asset!("chunk-GGXWKBA7.js", "text/javascript; charset=utf-8", 74946),
    asset!("chunk-KCN5X5E5.js", "text/javascript; charset=utf-8", 712),
    asset!("chunk-MIZCLRMK.js", "text/javascript; charset=utf-8", 2306),
    asset!("chunk-QFSL4BFD.js", "text/javascript; charset=utf-8", 6440),
    asset!("chunk-QLVFQI6A.js", "text/javascript; charset=utf-8", 5684),
    asset!("chunk-QPAXBIQS.js", "text/javascript; charset=utf-8", 2529),
    asset!("chunk-QWHJFXBA.js", "text/javascript; charset=utf-8", 1588),
    asset!("chunk-VWT2OUUS.js", "text/javascript; charset=utf-8", 2831),
    asset!("chunk-XULCLR44.js", "text/javascript; charset=utf-8", 3255),
    asset!("chunk-Y7ZBKCJ2.js", "text/javascript; charset=utf-8", 11527),
    asset!("chunk-ZDTRKVWP.js", "text/javascript; charset=utf-8", 1445),
    asset!("chunk-ZE4SPND7.js", "text/javascript; charset=utf-8", 496),
    asset!("context-WJVKOP6I.js", "text/javascript; charset=utf-8", 215),
    asset!("create-KFG2M43Q.js", "text/javascript; charset=utf-8", 2041),
    asset!("feed-FDU5EPKI.js", "text/javascript; charset=utf-8", 6386),
    asset!("health-UGYATDUR.js", "text/javascript; charset=utf-8", 3054),
    asset!("hygiene-MBHE5EIU.js", "text/javascript; charset=utf-8", 4959),
    asset!("icon-5dc7270e.svg", "image/svg+xml", 268),
    asset!("index.html", "text/html; charset=utf-8", 1348),
    asset!("keys-OW276EQT.js", "text/javascript; charset=utf-8", 5027),
    asset!("knowledge-ZJPWO534.js", "text/javascript; charset=utf-8", 20345),
    asset!("main-4ZCGWMPS.js", "text/javascript; charset=utf-8", 16762),
    asset!("memory-TJATDDF3.js", "text/javascript; charset=utf-8", 15092),
    asset!("overview-7FGPBIVA.js", "text/javascript; charset=utf-8", 193),
    asset!("revert-Z7HIHU3E.js", "text/javascript; charset=utf-8", 5319),
    asset!("search-BFSVMI3D.js", "text/javascript; charset=utf-8", 6552),
    asset!("sessions-UEA4DGDC.js", "text/javascript; charset=utf-8", 3219),
    asset!("settings-PQ5VOABT.js", "text/javascript; charset=utf-8", 6212),
    asset!("stores-R6LN5YGK.js", "text/javascript; charset=utf-8", 4548),
    asset!("style-ZSUYUHBZ.css", "text/css; charset=utf-8", 27083),
];
