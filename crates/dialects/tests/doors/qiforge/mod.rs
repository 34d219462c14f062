//! The QiForge door over the in-memory engine: conversations, searches, tools, and that nobody meets
//! what is somebody else's.
//!
//! `world` is the server and its visitors; the other files are what is asked of it.

mod apart;
mod batch;
mod doors;
mod knowledge;
mod messages;
mod tools;
mod world;
