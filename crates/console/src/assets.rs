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
    asset!("access-AOED2R6G.js", "text/javascript; charset=utf-8", 2394),
    asset!("agent-VYVVL2AX.js", "text/javascript; charset=utf-8", 3264),
    asset!("agents-LNOPUVLA.js", "text/javascript; charset=utf-8", 2920),
    asset!("audit-VDVRGSUJ.js", "text/javascript; charset=utf-8", 2807),
    asset!("chunk-BDATF4PT.js", "text/javascript; charset=utf-8", 5562),
    asset!("chunk-D2VTAX3U.js", "text/javascript; charset=utf-8", 87465),
    asset!("chunk-HZQBRILM.js", "text/javascript; charset=utf-8", 2211),
    asset!("chunk-IA36X7QY.js", "text/javascript; charset=utf-8", 74767),
    asset!("chunk-M3YGMLDZ.js", "text/javascript; charset=utf-8", 3160),
    asset!("chunk-NT5AQTCD.js", "text/javascript; charset=utf-8", 2688),
    asset!("chunk-S4BFIWO5.js", "text/javascript; charset=utf-8", 6314),
    asset!("context-G6KQVFD5.js", "text/javascript; charset=utf-8", 103),
    asset!("create-MYYAWFK4.js", "text/javascript; charset=utf-8", 1932),
    asset!("feed-L2QOPJ2J.js", "text/javascript; charset=utf-8", 6231),
    asset!("health-U6QPNXDW.js", "text/javascript; charset=utf-8", 2905),
    asset!("hygiene-YQLKIRSM.js", "text/javascript; charset=utf-8", 4775),
    asset!("icon-5dc7270e.svg", "image/svg+xml", 268),
    asset!("index.html", "text/html; charset=utf-8", 667),
    asset!("keys-ACZWY3W4.js", "text/javascript; charset=utf-8", 5251),
    asset!("knowledge-NZ74P63V.js", "text/javascript; charset=utf-8", 20934),
    asset!("main-R6K4GVYY.js", "text/javascript; charset=utf-8", 422),
    asset!("memory-A5GYHO2B.js", "text/javascript; charset=utf-8", 14885),
    asset!("overview-3PVXZFQT.js", "text/javascript; charset=utf-8", 109),
    asset!("revert-UN2CMK3O.js", "text/javascript; charset=utf-8", 5163),
    asset!("search-UQYI67J5.js", "text/javascript; charset=utf-8", 6457),
    asset!("sessions-YM5CPCSD.js", "text/javascript; charset=utf-8", 3188),
    asset!("settings-WNV4CQQO.js", "text/javascript; charset=utf-8", 6008),
    asset!("style-4R2KIEDN.css", "text/css; charset=utf-8", 28234),
];
