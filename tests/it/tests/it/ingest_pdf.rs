//! Promise: a PDF that unfolds to more than a machine can hold is refused with a reason, and whatever
//! else the command was to do is still in order.

use loci_it::{Loci, Setup};
use std::fs;
use std::path::Path;

const FAILURE: i32 = 1;
const GIB: u64 = 1 << 30;
/// The longest repetition that the format has a code for.
const RUN: usize = 258;

/// Bits of the format DEFLATE: numbers from their lowest bit on, codes from their highest.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    used: u32,
}

impl Bits {
    fn push(&mut self, bit: u32) {
        if self.used == 0 {
            self.bytes.push(0);
        }
        let last = self.bytes.last_mut().expect("just pushed");
        *last |= u8::from(bit != 0) << self.used;
        self.used = (self.used + 1) % 8;
    }

    fn number(&mut self, value: u32, bits: u32) {
        (0..bits).for_each(|at| self.push(value >> at & 1));
    }

    fn code(&mut self, value: u32, bits: u32) {
        (0..bits).rev().for_each(|at| self.push(value >> at & 1));
    }
}

/// A zlib stream of these bytes, the last of which come again and again for so many runs, in the code
/// that needs no tables. Its checksum is wrong, which readers of PDF pass over.
fn repeated(begin: &[u8], period: u32, runs: u64) -> Vec<u8> {
    // The codes of distances up to 16, which repeat a pattern of that length.
    let (distance, extra_bits, extra) = match period {
        length @ 1..=4 => (length - 1, 0, 0),
        length @ 5..=8 => (4 + (length - 5) / 2, 1, (length - 5) % 2),
        length => (6 + (length - 9) / 4, 2, (length - 9) % 4),
    };
    let mut bits = Bits::default();
    bits.number(0x78, 8);
    bits.number(0x01, 8);
    bits.number(0b011, 3);
    for byte in begin.iter().map(|byte| u32::from(*byte)) {
        match byte {
            0..144 => bits.code(0x30 + byte, 8),
            _ => bits.code(0x190 + byte - 144, 9),
        }
    }
    for _ in 0..runs {
        bits.code(0xc5, 8);
        bits.code(distance, 5);
        bits.number(extra, extra_bits);
    }
    bits.code(0, 7);
    bits.bytes.extend([0; 8]);
    bits.bytes
}

/// A document of one page with this as its content.
fn pdf(filters: &str, content: &[u8]) -> Vec<u8> {
    let page = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Contents 4 0 R \
                /Resources << /Font << /F 5 0 R >> >> >>";
    let stream = format!("<< /Length {}{filters} >>\nstream\n", content.len());
    let objects: [Vec<u8>; 5] = [
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_vec(),
        page.as_bytes().to_vec(),
        [stream.as_bytes(), content, b"\nendstream"].concat(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_vec(),
    ];
    let mut file = b"%PDF-1.4\n".to_vec();
    let mut table = "xref\n0 6\n0000000000 65535 f \n".to_owned();
    for (at, object) in objects.iter().enumerate() {
        table.push_str(&format!("{:010} 00000 n \n", file.len()));
        file.extend(format!("{} 0 obj\n", at + 1).as_bytes());
        file.extend(object);
        file.extend(b"\nendobj\n");
    }
    let start = file.len();
    file.extend(table.as_bytes());
    file.extend(
        format!("trailer << /Size 6 /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n").as_bytes(),
    );
    file
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> String {
    let path = folder.join(name);
    fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_pdf_is_read_and_one_that_unfolds_without_end_is_refused() {
    let setup = Setup::new();
    let loci = Loci::on_data(setup.data());
    let plain = b"BT /F 12 Tf 20 20 Td (the lighthouse keeper) Tj ET";
    let good = write(setup.scratch(), "good.pdf", &pdf("", plain));
    let done = loci.json(&["ingest", &good, "--store", "papers", "--create-store"]);
    assert_eq!(done["documents"][0]["written"], 1, "{done}");
    let found = loci.json(&["search", "lighthouse", "--store", "papers"]);
    assert!(found.to_string().contains("the lighthouse keeper"), "{found}");

    let runs = 2 * GIB / RUN as u64;
    let zeros = repeated(&[0], 1, runs);
    // Eight runs take thirteen bytes, again and again, which can be repeated in turn.
    let nested = repeated(&zeros[..1_313], 13, zeros.len() as u64 / RUN as u64);
    assert!(nested.len() < 200_000, "{}", nested.len());
    for (name, filters, content) in [
        ("bomb.pdf", " /Filter /FlateDecode", &zeros),
        ("nested.pdf", " /Filter [/FlateDecode /FlateDecode]", &nested),
    ] {
        let bomb = write(setup.scratch(), name, &pdf(filters, content));
        let args = ["ingest", &bomb, "--store", "papers"];
        let refused = loci.run(&args).expect_code(FAILURE, &args);
        assert!(refused.stderr.contains("cannot be read as PDF"), "{}", refused.stderr);
    }
    let broken = write(setup.scratch(), "broken.pdf", b"%PDF-1.4\nnothing else");
    let args = ["ingest", &broken, "--store", "papers"];
    let refused = loci.run(&args).expect_code(FAILURE, &args);
    assert!(refused.stderr.contains("cannot be read as PDF"), "{}", refused.stderr);
    assert_eq!(loci.json(&["ingest", &good, "--store", "papers"])["documents"][0]["unchanged"], 1);
}
