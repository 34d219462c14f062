//! Encryption on the way to the database. Whenever there is any, the server's certificate and name
//! are checked: encryption towards somebody unknown would only look safe.

use crate::address::Trust;
use crate::open::OpenError;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use std::path::Path;
use std::sync::Arc;
use tokio_postgres_rustls::MakeRustlsConnect;

/// What makes connections private, according to the trust the URL asks for.
pub(crate) fn connector(trust: &Trust) -> Result<MakeRustlsConnect, OpenError> {
    let roots = match trust {
        // Never asked, because nothing is encrypted.
        Trust::Anyone => RootCertStore::empty(),
        Trust::System => system_roots()?,
        Trust::File(path) => roots_of(path)?,
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| OpenError::Io(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

fn system_roots() -> Result<RootCertStore, OpenError> {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        let why = found.errors.first().map_or_else(String::new, |error| format!(": {error}"));
        return Err(OpenError::Io(format!(
            "this system has no trusted certificates{why}; name some with sslrootcert"
        )));
    }
    Ok(roots)
}

fn roots_of(path: &Path) -> Result<RootCertStore, OpenError> {
    let unreadable = |error: &dyn std::fmt::Display| {
        OpenError::Io(format!("cannot read certificates from {}: {error}", path.display()))
    };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(|error| unreadable(&error))? {
        let certificate = certificate.map_err(|error| unreadable(&error))?;
        roots.add(certificate).map_err(|error| unreadable(&error))?;
    }
    if roots.is_empty() {
        return Err(unreadable(&"there are none"));
    }
    Ok(roots)
}
