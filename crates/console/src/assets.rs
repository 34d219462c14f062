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
    asset!("access-HDDR64RH.js", "text/javascript; charset=utf-8", 2541),
    asset!("agent-I5VZZS3L.js", "text/javascript; charset=utf-8", 3394),
    asset!("agents-4DAIFLPP.js", "text/javascript; charset=utf-8", 3379),
    asset!("audit-CSONA4GG.js", "text/javascript; charset=utf-8", 2836),
    asset!("browse-EUWDGUZL.js", "text/javascript; charset=utf-8", 8835),
    asset!("chunk-27PQJ4UM.js", "text/javascript; charset=utf-8", 2306),
    asset!("chunk-2MRU7SQX.js", "text/javascript; charset=utf-8", 2665),
    asset!("chunk-3TEELYYI.js", "text/javascript; charset=utf-8", 2529),
    asset!("chunk-6VZB5VS5.js", "text/javascript; charset=utf-8", 712),
    asset!("chunk-AGYDBW26.js", "text/javascript; charset=utf-8", 5960),
    asset!("chunk-BMITANXQ.js", "text/javascript; charset=utf-8", 74946),
    asset!("chunk-BZPMEYMH.js", "text/javascript; charset=utf-8", 2718),
    asset!("chunk-EMOGQYAP.js", "text/javascript; charset=utf-8", 255),
    asset!("chunk-EU5YCMPW.js", "text/javascript; charset=utf-8", 2448),
    asset!("chunk-FVWCH5MW.js", "text/javascript; charset=utf-8", 32325),
    asset!("chunk-GNLF3GLM.js", "text/javascript; charset=utf-8", 3255),
    asset!("chunk-J2JTMCOW.js", "text/javascript; charset=utf-8", 496),
    asset!("chunk-QFPJXHE5.js", "text/javascript; charset=utf-8", 1651),
    asset!("chunk-R4S6K5GS.js", "text/javascript; charset=utf-8", 11390),
    asset!("chunk-SJ2557UA.js", "text/javascript; charset=utf-8", 1455),
    asset!("chunk-UTCF62VX.js", "text/javascript; charset=utf-8", 1588),
    asset!("chunk-XWNXPA4B.js", "text/javascript; charset=utf-8", 6766),
    asset!("context-LZ65BIWH.js", "text/javascript; charset=utf-8", 215),
    asset!("create-6INTMRB2.js", "text/javascript; charset=utf-8", 2041),
    asset!("feed-L6NUE4SA.js", "text/javascript; charset=utf-8", 6285),
    asset!("health-QV3VPFYK.js", "text/javascript; charset=utf-8", 3054),
    asset!("hygiene-R2KLO4XC.js", "text/javascript; charset=utf-8", 4959),
    asset!("icon-5dc7270e.svg", "image/svg+xml", 268),
    asset!("index.html", "text/html; charset=utf-8", 1280),
    asset!("keys-KNHHSKFS.js", "text/javascript; charset=utf-8", 5024),
    asset!("knowledge-JRRJEHU6.js", "text/javascript; charset=utf-8", 20345),
    asset!("main-67EUKHIB.js", "text/javascript; charset=utf-8", 16757),
    asset!("memory-FPF2V46G.js", "text/javascript; charset=utf-8", 15064),
    asset!("overview-2FFX4FVT.js", "text/javascript; charset=utf-8", 193),
    asset!("revert-V4BWJW6T.js", "text/javascript; charset=utf-8", 5319),
    asset!("search-JXXJODNJ.js", "text/javascript; charset=utf-8", 6552),
    asset!("sessions-WSPJ65EI.js", "text/javascript; charset=utf-8", 3219),
    asset!("settings-3OY2LZFS.js", "text/javascript; charset=utf-8", 6184),
    asset!("stores-KC5BQMOP.js", "text/javascript; charset=utf-8", 4876),
    asset!("style-XDGSGWDT.css", "text/css; charset=utf-8", 27302),
];
