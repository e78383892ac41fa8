import PeripheralCore
import Testing

@Suite(.timeLimit(.minutes(1)))
struct AttributeHandleTests {
    @Test func theTextIsHexadecimal() {
        #expect((0x0012 as AttributeHandle).description == "0x0012")
        #expect(AttributeHandle(rawValue: .max).description == "0xffff")
    }

    @Test func handlesAreOrderedByNumber() {
        #expect((0x0012 as AttributeHandle) < 0x0100)
        #expect(!((0x0012 as AttributeHandle) < 0x0012))
    }
}
