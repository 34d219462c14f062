//! The Model Context Protocol: transports, and the tools that models get.
#![warn(missing_docs)]
