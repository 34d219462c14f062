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
    asset!("access-3ZS5Q76L.js", "text/javascript; charset=utf-8", 2541),
    asset!("agent-QI4E334B.js", "text/javascript; charset=utf-8", 3398),
    asset!("agents-VSGEWSVD.js", "text/javascript; charset=utf-8", 3379),
    asset!("audit-K7RHIQBE.js", "text/javascript; charset=utf-8", 2820),
    asset!("browse-KJA4FQYB.js", "text/javascript; charset=utf-8", 8305),
    asset!("chunk-5OBOXD22.js", "text/javascript; charset=utf-8", 1651),
    asset!("chunk-7BTOHGL6.js", "text/javascript; charset=utf-8", 74910),
    asset!("chunk-7J2BVZTN.js", "text/javascript; charset=utf-8", 1201),
    asset!("chunk-BEAAY4EH.js", "text/javascript; charset=utf-8", 255),
    asset!("chunk-ENJJTQ7M.js", "text/javascript; charset=utf-8", 2665),
    asset!("chunk-HAEWYHRI.js", "text/javascript; charset=utf-8", 10109),
    asset!("chunk-KXHHDTXH.js", "text/javascript; charset=utf-8", 6730),
    asset!("chunk-MUC2GYHC.js", "text/javascript; charset=utf-8", 5970),
    asset!("chunk-NSUMYTI5.js", "text/javascript; charset=utf-8", 496),
    asset!("chunk-QSFSN4IR.js", "text/javascript; charset=utf-8", 2448),
    asset!("chunk-RKGHWCLN.js", "text/javascript; charset=utf-8", 2334),
    asset!("chunk-U4WMXJRX.js", "text/javascript; charset=utf-8", 2306),
    asset!("chunk-UM7XD7ZM.js", "text/javascript; charset=utf-8", 2718),
    asset!("chunk-UUC3YAQB.js", "text/javascript; charset=utf-8", 1455),
    asset!("chunk-XC4HZCG6.js", "text/javascript; charset=utf-8", 32152),
    asset!("chunk-XVCTVE4M.js", "text/javascript; charset=utf-8", 712),
    asset!("chunk-ZFD6Z6R3.js", "text/javascript; charset=utf-8", 3256),
    asset!("context-5Z3FRUX2.js", "text/javascript; charset=utf-8", 215),
    asset!("create-HDQDYI6T.js", "text/javascript; charset=utf-8", 2041),
    asset!("feed-ZT4VDCGU.js", "text/javascript; charset=utf-8", 5923),
    asset!("health-SY3CVOLE.js", "text/javascript; charset=utf-8", 3055),
    asset!("hygiene-2ACS54SI.js", "text/javascript; charset=utf-8", 4959),
    asset!("icon-5dc7270e.svg", "image/svg+xml", 268),
    asset!("index.html", "text/html; charset=utf-8", 1280),
    asset!("keys-QMQPKWBH.js", "text/javascript; charset=utf-8", 4987),
    asset!("knowledge-CFDII3F7.js", "text/javascript; charset=utf-8", 20345),
    asset!("main-4YLYQ7XM.js", "text/javascript; charset=utf-8", 16433),
    asset!("memory-FTNS4GU6.js", "text/javascript; charset=utf-8", 14835),
    asset!("overview-L3ZPBPZ6.js", "text/javascript; charset=utf-8", 193),
    asset!("revert-RAMS2XXQ.js", "text/javascript; charset=utf-8", 5319),
    asset!("search-7PRNC6KE.js", "text/javascript; charset=utf-8", 6552),
    asset!("sessions-PAKOF6GT.js", "text/javascript; charset=utf-8", 3219),
    asset!("settings-L2TGFLAQ.js", "text/javascript; charset=utf-8", 6184),
    asset!("stores-AV7MAJ76.js", "text/javascript; charset=utf-8", 4876),
    asset!("style-UHKEHDCS.css", "text/css; charset=utf-8", 25714),
];
