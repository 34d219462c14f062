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
    asset!("access-J7K6IL5V.js", "text/javascript; charset=utf-8", 2541),
    asset!("agent-VHT5ZCN5.js", "text/javascript; charset=utf-8", 3398),
    asset!("agents-2MWKE2FI.js", "text/javascript; charset=utf-8", 3379),
    asset!("audit-AELIZZMW.js", "text/javascript; charset=utf-8", 2836),
    asset!("browse-GHT6JJC3.js", "text/javascript; charset=utf-8", 8615),
    asset!("chunk-2RUCZM27.js", "text/javascript; charset=utf-8", 32289),
    asset!("chunk-3FKEBOS3.js", "text/javascript; charset=utf-8", 712),
    asset!("chunk-44NYDDZS.js", "text/javascript; charset=utf-8", 255),
    asset!("chunk-4MD4TEYR.js", "text/javascript; charset=utf-8", 2306),
    asset!("chunk-6MRPPKKN.js", "text/javascript; charset=utf-8", 1396),
    asset!("chunk-HAZEYP63.js", "text/javascript; charset=utf-8", 5970),
    asset!("chunk-JGVGSGAW.js", "text/javascript; charset=utf-8", 1455),
    asset!("chunk-K6JI5E7O.js", "text/javascript; charset=utf-8", 10109),
    asset!("chunk-QGMQ5RIO.js", "text/javascript; charset=utf-8", 2718),
    asset!("chunk-SDLGHULZ.js", "text/javascript; charset=utf-8", 496),
    asset!("chunk-SYK3RCXO.js", "text/javascript; charset=utf-8", 2665),
    asset!("chunk-T6N4ZDBA.js", "text/javascript; charset=utf-8", 2454),
    asset!("chunk-TSSAZKJW.js", "text/javascript; charset=utf-8", 3255),
    asset!("chunk-U5M7ZSCX.js", "text/javascript; charset=utf-8", 6766),
    asset!("chunk-USYPM4IU.js", "text/javascript; charset=utf-8", 1651),
    asset!("chunk-X4MIDEZ7.js", "text/javascript; charset=utf-8", 2448),
    asset!("chunk-ZQFCL7T2.js", "text/javascript; charset=utf-8", 74946),
    asset!("context-NLEVHJZO.js", "text/javascript; charset=utf-8", 215),
    asset!("create-WNESY3XG.js", "text/javascript; charset=utf-8", 2041),
    asset!("feed-RRG56OJJ.js", "text/javascript; charset=utf-8", 5944),
    asset!("health-POQ4GWZS.js", "text/javascript; charset=utf-8", 3054),
    asset!("hygiene-47YQYWPM.js", "text/javascript; charset=utf-8", 4959),
    asset!("icon-5dc7270e.svg", "image/svg+xml", 268),
    asset!("index.html", "text/html; charset=utf-8", 1280),
    asset!("keys-QWRFS7ZQ.js", "text/javascript; charset=utf-8", 5023),
    asset!("knowledge-2LMFI6R6.js", "text/javascript; charset=utf-8", 20345),
    asset!("main-E7OWYLG4.js", "text/javascript; charset=utf-8", 16571),
    asset!("memory-UO52BFD3.js", "text/javascript; charset=utf-8", 14835),
    asset!("overview-WQH4PHX7.js", "text/javascript; charset=utf-8", 193),
    asset!("revert-XR76V47N.js", "text/javascript; charset=utf-8", 5319),
    asset!("search-SQTOARQV.js", "text/javascript; charset=utf-8", 6552),
    asset!("sessions-B6ASYBW5.js", "text/javascript; charset=utf-8", 3219),
    asset!("settings-MCHO47TF.js", "text/javascript; charset=utf-8", 6184),
    asset!("stores-RLT6LYES.js", "text/javascript; charset=utf-8", 4876),
    asset!("style-XDGSGWDT.css", "text/css; charset=utf-8", 27302),
];
