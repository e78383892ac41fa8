import PeripheralBlueZModel
import PeripheralCore
import Testing

@Suite(.timeLimit(.minutes(1)))
struct RequestRefusalTests {
    private static let named: [UInt8: String] = [
        0x06: "NotSupported", 0x07: "InvalidOffset", 0x08: "NotAuthorized", 0x0D: "InvalidValueLength",
        0xFD: "ImproperlyConfigured", 0xFE: "InProgress",
    ]

    @Test(arguments: [RequestRefusal.Operation.read, .write])
    func everyErrorHasAName(operation: RequestRefusal.Operation) {
        for code in UInt8.min ... .max {
            let error = ATTError(rawValue: code)
            let refusal = RequestRefusal(error, operation: operation, version: .v5_87)
            let notPermitted: UInt8 = operation == .read ? 0x02 : 0x03
            switch code {
            case notPermitted:
                #expect(refusal.name == "org.bluez.Error.NotPermitted")
                #expect(refusal.received == error)
            case 0x80...0x9F:
                #expect(refusal.name == "org.bluez.Error.Failed")
                #expect(refusal.message == "0x" + String(code, radix: 16))
                #expect(refusal.received == error)
            case _ where Self.named[code] != nil:
                #expect(refusal.name == "org.bluez.Error." + (Self.named[code] ?? ""))
                #expect(refusal.received == error)
            default:
                // The text must not be taken for an application error.
                #expect(refusal.name == "org.bluez.Error.Failed")
                #expect(refusal.message == "0x0e")
                #expect(refusal.received == .unlikelyError)
            }
        }
    }

    @Test(arguments: [
        (BlueZVersion("5.75"), ATTError.unlikelyError),
        ("5.76", .clientCharacteristicConfigurationImproperlyConfigured),
    ])
    func oneNameIsNewerThanTheOthers(version: BlueZVersion, received: ATTError) {
        let refusal = RequestRefusal(
            .clientCharacteristicConfigurationImproperlyConfigured,
            operation: .write,
            version: version
        )
        #expect(refusal.received == received)
    }
}
