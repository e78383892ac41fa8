import PeripheralCore
import Testing

@Suite(.timeLimit(.minutes(1)))
struct AttributeTableErrorTests {
    @Test(arguments: [0, 1, 2, -1])
    func onlyServicesBeforeCanBeIncluded(included: Int) throws {
        let services = [
            ServiceDescription(uuid: .battery),
            ServiceDescription(uuid: .heartRate, includedServices: [included]),
            ServiceDescription(uuid: .deviceInformation),
        ]
        guard included != 0 else {
            #expect(try AttributeTable(services: services).attributes.count == 4)
            return
        }
        let error = #expect(throws: AttributeTableError.self) { try AttributeTable(services: services) }
        #expect(error?.code == .invalidInclude)
        #expect(error?.service == 1)
        #expect(error?.description.contains("180d") == true)
    }

    @Test func handleZeroIsReserved() {
        let error = #expect(throws: AttributeTableError.self) {
            try AttributeTable(services: [], firstHandle: 0x0000)
        }
        #expect(error?.code == .reservedHandle)
        #expect(error?.service == nil)
    }
}
