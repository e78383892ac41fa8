import TestSupport
import Testing

@testable import PeripheralBTHome

@Suite(.timeLimit(.minutes(1)))
struct AES128Tests {
    /// FIPS 197, appendices B and C.1; NIST SP 800-38A, F.1.1.
    @Test(arguments: [
        (
            "2b7e151628aed2a6abf7158809cf4f3c", "3243f6a8885a308d313198a2e0370734",
            "3925841d02dc09fbdc118597196a0b32"
        ),
        (
            "000102030405060708090a0b0c0d0e0f", "00112233445566778899aabbccddeeff",
            "69c4e0d86a7b0430d8cdb78070b4c55a"
        ),
        (
            "2b7e151628aed2a6abf7158809cf4f3c", "6bc1bee22e409f96e93d7e117393172a",
            "3ad77bb40d7a3660a89ecaf32466ef97"
        ),
        (
            "2b7e151628aed2a6abf7158809cf4f3c", "f69f2445df4f9b17ad2b417be66c3710",
            "7b0c785e27e8ad3f8223207104725dd4"
        ),
    ])
    func encryptsTheVectorsOfTheStandard(key: String, block: String, encrypted: String) throws {
        let cipher = AES128(key: try #require(BTHomeKey(key)))
        #expect(cipher.encrypt(bytes(block)) == bytes(encrypted))
    }
}

@Suite(.timeLimit(.minutes(1)))
struct CCMTests {
    /// Made with OpenSSL, by the package `cryptography` for Python: messages that end before, at and after
    /// the end of a block.
    @Test(arguments: [
        ("38b4e652e44da7f2370d9e260e271365", "50a4a3a6d07f5c0c332f8b12d2", "89", "c2 088e0c0a"),
        (
            "11e81818f8c99d5d5d9831957504d90e", "945de2e8f54ee781cc75f63609",
            "5aa300165a67036f9b540d6b0be211",
            "772e35381931fc9bdf3b0230646a92 0d22ecce"
        ),
        (
            "24179c3dd9f73817ce6e118d264aad6c", "b6dd210faf94acd3cf92c1901f",
            "5d108cf25930263938b370a1b5769fa0",
            "e4a8ae93424800da0436ebac04ad8585 c1f5d7c7"
        ),
        (
            "f1483f95a90d9df2f130d60fcf04bd93", "f50ae69514da8c659ce2b10cf9",
            "90d19838b0d7ec0b3e97818ecb96c4db22", "3332d107b36a8af58a41f5598a5ce2c17a f80f03bf"
        ),
        (
            "0372555fd235f11829fb388c22e44cb6", "37f01210c3707a90b405420f9e",
            "dfb5b9342405157f54b12eae62d11e887eb0766d1877f8c6eff26b5010af317795",
            "5b900445adde9dc8fa440cca34560f6474ec82c0c8ddba877de9ae3644972660fb 40890b7e"
        ),
    ])
    func sealsAsAnotherImplementation(key: String, nonce: String, message: String, sealed: String) throws {
        let result = CCM(key: try #require(BTHomeKey(key))).seal(bytes(message), nonce: bytes(nonce))
        #expect(result.message + result.check == bytes(sealed))
    }
}

@Suite(.timeLimit(.minutes(1)))
struct BTHomeKeyTests {
    @Test func isReadAndWrittenAsDigits() throws {
        let digits = "231d39c1d7cc1ab1aee224cd096db932"
        let key = try #require(BTHomeKey(digits))
        #expect(key.digits == digits)
        #expect(BTHomeKey(digits.uppercased()) == key)
        #expect(BTHomeKey(bytes(digits)) == key)
        #expect(BTHomeKey(BTHomeKey.random().digits) != nil)
    }

    @Test(arguments: ["", "231d39c1d7cc1ab1aee224cd096db93", "231d39c1d7cc1ab1aee224cd096db93g"])
    func refusesOtherTexts(text: String) {
        #expect(BTHomeKey(text) == nil)
    }

    @Test func refusesOtherLengths() {
        #expect(BTHomeKey([UInt8](repeating: 1, count: 15)) == nil)
        #expect(BTHomeKey([UInt8](repeating: 1, count: 17)) == nil)
    }

    /// Descriptions appear in logs.
    @Test func isNotPartOfItsDescription() throws {
        let key = try #require(BTHomeKey("231d39c1d7cc1ab1aee224cd096db932"))
        #expect("\(key)" == "BTHome key")
    }
}
