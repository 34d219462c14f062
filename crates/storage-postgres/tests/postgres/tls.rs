//! The way to a server that is not here: encrypted, and only to who can prove that it is the one the
//! URL names.
use loci_storage::Storage;
use loci_storage_postgres::{OpenError, PostgresOptions, PostgresStorage};
use loci_test_postgres::{Build, Postgres};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;
use std::time::Duration;
use tokio_postgres::{Client, NoTls};

/// Somebody who signs certificates, in a file that names them.
fn authority(file: &Path) -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new([]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    fs::write(file, authority.pem()).unwrap();
    authority
}

/// Gives the server a certificate for the name `localhost`.
async fn certify(server: &Postgres, by: &CertifiedIssuer<'static, KeyPair>) -> Client {
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(["localhost".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, by).unwrap();
    let account = fs::metadata(server.data()).unwrap();
    for (name, text) in [("server.crt", certificate.pem()), ("server.key", key.serialize_pem())] {
        let path = server.data().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        chown(&path, Some(account.uid()), Some(account.gid())).unwrap();
    }
    let (client, connection) = tokio_postgres::connect(&server.url(), NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute("alter system set ssl = on").await.unwrap();
    client.batch_execute("select pg_reload_conf()").await.unwrap();
    for _ in 0..2400 {
        let row = client.query_one("show ssl", &[]).await.unwrap();
        if row.get::<_, &str>(0) == "on" {
            return client;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("the server takes no certificate: {}", server.log());
}

async fn open(url: &str) -> Result<PostgresStorage, OpenError> {
    let patience = Duration::from_secs(20);
    PostgresStorage::open(&PostgresOptions { patience, ..PostgresOptions::new(url) }, 1).await
}

#[tokio::test]
async fn a_server_must_prove_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let (ours, theirs) = (dir.path().join("ours.pem"), dir.path().join("theirs.pem"));
    let issuer = authority(&ours);
    authority(&theirs);
    let server = Postgres::start(Build::Floor).unwrap();
    let client = certify(&server, &issuer).await;
    let named = server.url().replace("127.0.0.1", "localhost");
    let with = |url: &str, file: &Path| format!("{url}?sslrootcert={}", file.display());

    let storage = open(&with(&named, &ours)).await.unwrap();
    storage.ready().await.unwrap();
    let encrypted = "select bool_and(s.ssl) from pg_stat_ssl as s
        inner join pg_stat_activity as a on a.pid = s.pid where a.application_name = 'loci'";
    let row = client.query_one(encrypted, &[]).await.unwrap();
    assert_eq!(row.get::<_, Option<bool>>(0), Some(true));
    drop(storage);

    for (url, why) in [
        (with(&named, &theirs), "signed by somebody else"),
        (with(&server.url(), &ours), "of another name"),
        (format!("{named}?sslmode=require"), "signed by nobody the system knows"),
    ] {
        let refused = open(&url).await.err().expect(why);
        let is_about_it = matches!(&refused, OpenError::Unreachable(said) if said.contains("cert"))
            || matches!(&refused, OpenError::Io(said) if said.contains("cert"));
        assert!(is_about_it, "{why}: {refused}");
    }
    open(&format!("{named}?sslmode=disable")).await.unwrap();
}
