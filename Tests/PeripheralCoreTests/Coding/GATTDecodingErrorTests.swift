import PeripheralCore
import Testing

@Suite(.timeLimit(.minutes(1)))
struct GATTDecodingErrorTests {
    @Test(
        arguments: [
            (.tooShort, .invalidAttributeValueLength), (.trailingBytes, .invalidAttributeValueLength),
            (.invalidValue, .valueNotAllowed),
        ] as [(GATTDecodingError.Code, ATTError)]
    )
    func centralsAreToldWhatIsWrong(code: GATTDecodingError.Code, att: ATTError) {
        let error = GATTDecodingError(code: code, message: "reason")
        #expect(error.attError == att)
        #expect(error.description == "reason")
    }

    @Test func aTypeOfItsOwnCanRefuseAValue() {
        let error = GATTDecodingError.invalidValue("3 is no location")
        #expect(error == GATTDecodingError(code: .invalidValue, message: "3 is no location"))
    }
}
