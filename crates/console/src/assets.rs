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
    asset!("access-4WZPU5KK.js", "text/javascript; charset=utf-8", 2541),
    asset!("agent-NLTKWHYE.js", "text/javascript; charset=utf-8", 3417),
    asset!("agents-PACQFS4A.js", "text/javascript; charset=utf-8", 3379),
    asset!("audit-52CA7QSK.js", "text/javascript; charset=utf-8", 2837),
    asset!("browse-VNTSEONW.js", "text/javascript; charset=utf-8", 8753),
    asset!("chunk-2JCUUCJ2.js", "text/javascript; charset=utf-8", 6766),
    asset!("chunk-4BWDVWFA.js", "text/javascript; charset=utf-8", 3255),
    asset!("chunk-4C3F2BR7.js", "text/javascript; charset=utf-8", 2465),
    asset!("chunk-CIJJWMBC.js", "text/javascript; charset=utf-8", 5970),
    asset!("chunk-CRYXDUAI.js", "text/javascript; charset=utf-8", 1445),
    asset!("chunk-FMCTK6ON.js", "text/javascript; charset=utf-8", 496),
    asset!("chunk-GJQSZUXQ.js", "text/javascript; charset=utf-8", 2306),
    asset!("chunk-ILLZ3TUA.js", "text/javascript; charset=utf-8", 11402),
    asset!("chunk-LXYPXOHO.js", "text/javascript; charset=utf-8", 32552),
    asset!("chunk-NBS4NBDK.js", "text/javascript; charset=utf-8", 2718),
    asset!("chunk-NQITBAYO.js", "text/javascript; charset=utf-8", 2529),
    asset!("chunk-RDSMY2OH.js", "text/javascript; charset=utf-8", 2831),
    asset!("chunk-S6UAYL2T.js", "text/javascript; charset=utf-8", 74946),
    asset!("chunk-UUZ7HY6D.js", "text/javascript; charset=utf-8", 1588),
    asset!("chunk-UWOFPV2I.js", "text/javascript; charset=utf-8", 255),
    asset!("chunk-VQEER3J4.js", "text/javascript; charset=utf-8", 712),
    asset!("chunk-YI6JX3KI.js", "text/javascript; charset=utf-8", 1651),
    asset!("context-FK66YKXN.js", "text/javascript; charset=utf-8", 215),
    asset!("create-CL4VCTPS.js", "text/javascript; charset=utf-8", 2041),
    asset!("feed-IBHACYMV.js", "text/javascript; charset=utf-8", 6285),
    asset!("health-NJQ5WS7M.js", "text/javascript; charset=utf-8", 3054),
    asset!("hygiene-SXVZVZ4W.js", "text/javascript; charset=utf-8", 4959),
    asset!("icon-5dc7270e.svg", "image/svg+xml", 268),
    asset!("index.html", "text/html; charset=utf-8", 1280),
    asset!("keys-4QRY6TBR.js", "text/javascript; charset=utf-8", 5308),
    asset!("knowledge-MEBKZCTI.js", "text/javascript; charset=utf-8", 20345),
    asset!("main-LASN6L2F.js", "text/javascript; charset=utf-8", 16762),
    asset!("memory-KIRDEUX5.js", "text/javascript; charset=utf-8", 15064),
    asset!("overview-O7QYFOCZ.js", "text/javascript; charset=utf-8", 193),
    asset!("revert-FZ7DPJHV.js", "text/javascript; charset=utf-8", 5319),
    asset!("search-TSD2M4AX.js", "text/javascript; charset=utf-8", 6552),
    asset!("sessions-E3E4LX4G.js", "text/javascript; charset=utf-8", 3219),
    asset!("settings-BSWUD7XV.js", "text/javascript; charset=utf-8", 6184),
    asset!("stores-D5PG65KG.js", "text/javascript; charset=utf-8", 4876),
    asset!("style-377VGW4R.css", "text/css; charset=utf-8", 27510),
];
