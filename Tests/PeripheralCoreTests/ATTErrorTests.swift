import PeripheralCore
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ATTErrorTests {
    @Test(
        arguments: [
            (.invalidHandle, 0x01, "invalid handle (0x01)"),
            (.readNotPermitted, 0x02, "read not permitted (0x02)"),
            (.writeNotPermitted, 0x03, "write not permitted (0x03)"),
            (.invalidPDU, 0x04, "invalid PDU (0x04)"),
            (.insufficientAuthentication, 0x05, "insufficient authentication (0x05)"),
            (.requestNotSupported, 0x06, "request not supported (0x06)"),
            (.invalidOffset, 0x07, "invalid offset (0x07)"),
            (.insufficientAuthorization, 0x08, "insufficient authorization (0x08)"),
            (.prepareQueueFull, 0x09, "prepare queue full (0x09)"),
            (.attributeNotFound, 0x0A, "attribute not found (0x0a)"),
            (.attributeNotLong, 0x0B, "attribute not long (0x0b)"),
            (.encryptionKeySizeTooShort, 0x0C, "encryption key size too short (0x0c)"),
            (.invalidAttributeValueLength, 0x0D, "invalid attribute value length (0x0d)"),
            (.unlikelyError, 0x0E, "unlikely error (0x0e)"),
            (.insufficientEncryption, 0x0F, "insufficient encryption (0x0f)"),
            (.unsupportedGroupType, 0x10, "unsupported group type (0x10)"),
            (.insufficientResources, 0x11, "insufficient resources (0x11)"),
            (.databaseOutOfSync, 0x12, "database out of sync (0x12)"),
            (.valueNotAllowed, 0x13, "value not allowed (0x13)"),
            (.writeRequestRejected, 0xFC, "write request rejected (0xfc)"),
            (
                .clientCharacteristicConfigurationImproperlyConfigured, 0xFD,
                "client characteristic configuration improperly configured (0xfd)"
            ),
            (.procedureAlreadyInProgress, 0xFE, "procedure already in progress (0xfe)"),
            (.outOfRange, 0xFF, "out of range (0xff)"),
            (ATTError(rawValue: 0x80), 0x80, "application error (0x80)"),
            (ATTError(rawValue: 0x14), 0x14, "reserved error (0x14)"),
        ] as [(ATTError, UInt8, String)]
    )
    func codesAndNamesAreThoseOfTheSpecification(error: ATTError, code: UInt8, text: String) {
        #expect(error.rawValue == code)
        #expect(error == ATTError(rawValue: code))
        #expect(error.description == text)
    }

    @Test func onlyTheApplicationsRangeIsTheirs() {
        for code in UInt8.min...UInt8.max {
            let isTheirs = (0x80...0x9F).contains(code)
            let application = ATTError.ApplicationCode(rawValue: code).map(ATTError.application)
            #expect(application?.rawValue == (isTheirs ? code : nil))
            #expect(ATTError(rawValue: code).isApplicationError == isTheirs)
        }
    }
}
