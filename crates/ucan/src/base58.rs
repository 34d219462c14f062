//! The text form of keys in DIDs: base58 with Bitcoin's alphabet.
//!
//! Quadratic in its input, so what is read is bounded by its caller to the length of a key.

const ALPHABET: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/// Bytes as text.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    // Digits, the last first.
    let mut digits: Vec<u8> = Vec::with_capacity(bytes.len() * 138 / 100 + 1);
    for &byte in &bytes[zeros..] {
        let mut carry = u32::from(byte);
        for digit in &mut digits {
            carry += u32::from(*digit) << 8;
            *digit = low(carry % 58);
            carry /= 58;
        }
        while carry > 0 {
            digits.push(low(carry % 58));
            carry /= 58;
        }
    }
    let ones = std::iter::repeat_n('1', zeros);
    let rest = digits.iter().rev().map(|digit| char::from(ALPHABET[usize::from(*digit)]));
    ones.chain(rest).collect()
}

/// Text as bytes; nothing if a character is not of the alphabet.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let zeros = text.bytes().take_while(|byte| *byte == b'1').count();
    // Bytes, the last first.
    let mut bytes: Vec<u8> = Vec::with_capacity(text.len());
    for letter in text.bytes().skip(zeros) {
        let digit = ALPHABET.iter().position(|known| *known == letter)?;
        let mut carry = u32::try_from(digit).ok()?;
        for byte in &mut bytes {
            carry += u32::from(*byte) * 58;
            *byte = low(carry & 0xff);
            carry >>= 8;
        }
        while carry > 0 {
            bytes.push(low(carry & 0xff));
            carry >>= 8;
        }
    }
    bytes.extend(std::iter::repeat_n(0, zeros));
    bytes.reverse();
    Some(bytes)
}

fn low(number: u32) -> u8 {
    u8::try_from(number).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_values() {
        // From the draft that describes the encoding.
        assert_eq!(encode(b"Hello World!"), "2NEpo7TZRRrLZSi2U");
        assert_eq!(encode(&[0, 0, 0x28, 0x7f, 0xb4, 0xcd]), "11233QC4");
        assert_eq!(decode("11233QC4").unwrap(), [0, 0, 0x28, 0x7f, 0xb4, 0xcd]);
        assert_eq!((encode(&[]), decode("").unwrap()), (String::new(), vec![]));
        for bad in ["0", "O", "I", "l", "é", " "] {
            assert_eq!(decode(bad), None);
        }
    }

    proptest! {
        #[test]
        fn bytes_come_back(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            prop_assert_eq!(decode(&encode(&bytes)).unwrap(), bytes);
        }
    }
}
