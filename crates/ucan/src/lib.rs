//! Tokens of the QiForge door: UCAN 0.9.1 in a CAR archive, verified link by link.
#![warn(missing_docs)]
