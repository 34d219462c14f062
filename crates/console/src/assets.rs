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
    asset!("access-26PYSZYI.js", "text/javascript; charset=utf-8", 2394),
    asset!("agent-UBWMZFIG.js", "text/javascript; charset=utf-8", 3264),
    asset!("agents-WVHS53IB.js", "text/javascript; charset=utf-8", 2920),
    asset!("audit-UJPBX3K6.js", "text/javascript; charset=utf-8", 2807),
    asset!("chunk-3GCRY5DL.js", "text/javascript; charset=utf-8", 5562),
    asset!("chunk-6SVSASXZ.js", "text/javascript; charset=utf-8", 2688),
    asset!("chunk-GH4TJ33U.js", "text/javascript; charset=utf-8", 74767),
    asset!("chunk-GHEVVZRE.js", "text/javascript; charset=utf-8", 3160),
    asset!("chunk-P63VZTTM.js", "text/javascript; charset=utf-8", 87348),
    asset!("chunk-YSBWOKVD.js", "text/javascript; charset=utf-8", 2211),
    asset!("chunk-ZL7GF55S.js", "text/javascript; charset=utf-8", 6314),
    asset!("context-QGQITXKH.js", "text/javascript; charset=utf-8", 103),
    asset!("create-SDCGTR2F.js", "text/javascript; charset=utf-8", 1932),
    asset!("feed-CCMILT2K.js", "text/javascript; charset=utf-8", 6223),
    asset!("health-GRF5WOFS.js", "text/javascript; charset=utf-8", 2905),
    asset!("hygiene-ORGNOQUT.js", "text/javascript; charset=utf-8", 4775),
    asset!("icon-5dc7270e.svg", "image/svg+xml", 268),
    asset!("index.html", "text/html; charset=utf-8", 667),
    asset!("keys-272J7IOQ.js", "text/javascript; charset=utf-8", 4837),
    asset!("knowledge-NXLX4Q2X.js", "text/javascript; charset=utf-8", 20934),
    asset!("main-BZSMOOP6.js", "text/javascript; charset=utf-8", 422),
    asset!("memory-3N6CH4ZA.js", "text/javascript; charset=utf-8", 14885),
    asset!("overview-RPC6FARM.js", "text/javascript; charset=utf-8", 109),
    asset!("revert-BHKLFAYS.js", "text/javascript; charset=utf-8", 5163),
    asset!("search-HDC4OIL7.js", "text/javascript; charset=utf-8", 6457),
    asset!("sessions-6TJ3LTGJ.js", "text/javascript; charset=utf-8", 3188),
    asset!("settings-A3U77IJE.js", "text/javascript; charset=utf-8", 6008),
    asset!("style-TI4VDJFQ.css", "text/css; charset=utf-8", 28148),
];
