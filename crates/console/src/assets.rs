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
    asset!("access-CUBRPBCR.js", "text/javascript; charset=utf-8", 2541),
    asset!("agent-RS4UFCFN.js", "text/javascript; charset=utf-8", 3417),
    asset!("agents-5ZDPEGV3.js", "text/javascript; charset=utf-8", 3379),
    asset!("audit-3UXH5W36.js", "text/javascript; charset=utf-8", 2837),
    asset!("browse-F32C4FY6.js", "text/javascript; charset=utf-8", 8789),
    asset!("chunk-5S63LDYF.js", "text/javascript; charset=utf-8", 2465),
    asset!("chunk-ALIRPQQO.js", "text/javascript; charset=utf-8", 1651),
    asset!("chunk-AYFDO6IJ.js", "text/javascript; charset=utf-8", 3255),
    asset!("chunk-BCBUB5RD.js", "text/javascript; charset=utf-8", 255),
    asset!("chunk-D2QOBZSE.js", "text/javascript; charset=utf-8", 74946),
    asset!("chunk-FEYUWCUK.js", "text/javascript; charset=utf-8", 6766),
    asset!("chunk-G4LURBTK.js", "text/javascript; charset=utf-8", 712),
    asset!("chunk-JLIEGYJS.js", "text/javascript; charset=utf-8", 2718),
    asset!("chunk-JWXOQUWG.js", "text/javascript; charset=utf-8", 2306),
    asset!("chunk-PDIAF5WY.js", "text/javascript; charset=utf-8", 1588),
    asset!("chunk-QEQ3U7FX.js", "text/javascript; charset=utf-8", 32396),
    asset!("chunk-QGXAB5OZ.js", "text/javascript; charset=utf-8", 11527),
    asset!("chunk-QOZKHS24.js", "text/javascript; charset=utf-8", 2529),
    asset!("chunk-TNNODPAP.js", "text/javascript; charset=utf-8", 496),
    asset!("chunk-V2O4WNDW.js", "text/javascript; charset=utf-8", 5970),
    asset!("chunk-XLCUKPXR.js", "text/javascript; charset=utf-8", 2831),
    asset!("chunk-YLDSVUTB.js", "text/javascript; charset=utf-8", 1445),
    asset!("context-GUAVYGTO.js", "text/javascript; charset=utf-8", 215),
    asset!("create-NB6OBDRE.js", "text/javascript; charset=utf-8", 2041),
    asset!("feed-AX2UEEPN.js", "text/javascript; charset=utf-8", 6343),
    asset!("health-HVOBDYCS.js", "text/javascript; charset=utf-8", 3054),
    asset!("hygiene-S7NHFTJA.js", "text/javascript; charset=utf-8", 4959),
    asset!("icon-5dc7270e.svg", "image/svg+xml", 268),
    asset!("index.html", "text/html; charset=utf-8", 1280),
    asset!("keys-V3DIHZAM.js", "text/javascript; charset=utf-8", 5308),
    asset!("knowledge-JP7ONQ6P.js", "text/javascript; charset=utf-8", 20345),
    asset!("main-GTJ7CXHE.js", "text/javascript; charset=utf-8", 16762),
    asset!("memory-N5TBFTW3.js", "text/javascript; charset=utf-8", 15064),
    asset!("overview-WMCBYIVJ.js", "text/javascript; charset=utf-8", 193),
    asset!("revert-AYUXRUYA.js", "text/javascript; charset=utf-8", 5319),
    asset!("search-RHRN36ZD.js", "text/javascript; charset=utf-8", 6552),
    asset!("sessions-ROZQ5OFN.js", "text/javascript; charset=utf-8", 3219),
    asset!("settings-FZDOPNFB.js", "text/javascript; charset=utf-8", 6184),
    asset!("stores-ZWUNHAR5.js", "text/javascript; charset=utf-8", 4876),
    asset!("style-377VGW4R.css", "text/css; charset=utf-8", 27510),
];
