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
    asset!("access-5BSPPLEA.js", "text/javascript; charset=utf-8", 2541),
    asset!("agent-B6BTGYHA.js", "text/javascript; charset=utf-8", 3399),
    asset!("agents-33EVKHQM.js", "text/javascript; charset=utf-8", 3379),
    asset!("audit-UBPM4QME.js", "text/javascript; charset=utf-8", 2837),
    asset!("browse-GY4XGYAV.js", "text/javascript; charset=utf-8", 8835),
    asset!("chunk-22NDFPGX.js", "text/javascript; charset=utf-8", 2529),
    asset!("chunk-2BUEPLBZ.js", "text/javascript; charset=utf-8", 2718),
    asset!("chunk-3Q4A6KDF.js", "text/javascript; charset=utf-8", 6766),
    asset!("chunk-5EQVJKF6.js", "text/javascript; charset=utf-8", 496),
    asset!("chunk-66VXW37T.js", "text/javascript; charset=utf-8", 1588),
    asset!("chunk-C3LZOAND.js", "text/javascript; charset=utf-8", 32416),
    asset!("chunk-DKJHZCHZ.js", "text/javascript; charset=utf-8", 11390),
    asset!("chunk-G4IP7YWQ.js", "text/javascript; charset=utf-8", 1445),
    asset!("chunk-IRZIETZN.js", "text/javascript; charset=utf-8", 3255),
    asset!("chunk-KNX7SMP3.js", "text/javascript; charset=utf-8", 1651),
    asset!("chunk-M53BDEMR.js", "text/javascript; charset=utf-8", 2465),
    asset!("chunk-MCHJKYG6.js", "text/javascript; charset=utf-8", 74946),
    asset!("chunk-NBIE7FM5.js", "text/javascript; charset=utf-8", 5970),
    asset!("chunk-NQSNZRQP.js", "text/javascript; charset=utf-8", 712),
    asset!("chunk-P2DBOXZH.js", "text/javascript; charset=utf-8", 2665),
    asset!("chunk-P77ZWMRP.js", "text/javascript; charset=utf-8", 255),
    asset!("chunk-ZNNFBRV2.js", "text/javascript; charset=utf-8", 2306),
    asset!("context-7RKXEST4.js", "text/javascript; charset=utf-8", 215),
    asset!("create-6MI7FUVY.js", "text/javascript; charset=utf-8", 2041),
    asset!("feed-WMHBXDBY.js", "text/javascript; charset=utf-8", 6285),
    asset!("health-HHR4XTA3.js", "text/javascript; charset=utf-8", 3054),
    asset!("hygiene-HELCO2VN.js", "text/javascript; charset=utf-8", 4959),
    asset!("icon-5dc7270e.svg", "image/svg+xml", 268),
    asset!("index.html", "text/html; charset=utf-8", 1280),
    asset!("keys-CW3PFH2D.js", "text/javascript; charset=utf-8", 5024),
    asset!("knowledge-KYKHLBYM.js", "text/javascript; charset=utf-8", 20345),
    asset!("main-PWOM6FBM.js", "text/javascript; charset=utf-8", 16762),
    asset!("memory-OCEW4NFI.js", "text/javascript; charset=utf-8", 15064),
    asset!("overview-64V756X5.js", "text/javascript; charset=utf-8", 193),
    asset!("revert-TYSQTISU.js", "text/javascript; charset=utf-8", 5319),
    asset!("search-J7MIH4XX.js", "text/javascript; charset=utf-8", 6552),
    asset!("sessions-WRUOIEVO.js", "text/javascript; charset=utf-8", 3219),
    asset!("settings-WCYN3FZ4.js", "text/javascript; charset=utf-8", 6184),
    asset!("stores-QRJ7UUBS.js", "text/javascript; charset=utf-8", 4876),
    asset!("style-XDGSGWDT.css", "text/css; charset=utf-8", 27302),
];
