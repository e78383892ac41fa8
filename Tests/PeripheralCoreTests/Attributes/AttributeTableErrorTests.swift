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

    /// Two services of 5 handles each, the second pinned.
    @Test(
        arguments: [
            (0x0010, 0x000B, nil), (0x0010, 0x000C, .handleCollision), (0x0010, 0x0010, .handleCollision),
            (0x0010, 0x0014, .handleCollision), (0x0010, 0x0015, nil), (0x0010, 0x0000, .reservedHandle),
            (0x0010, 0xFFFB, nil), (0x0010, 0xFFFC, .handlesExhausted),
        ] as [(AttributeHandle, AttributeHandle, AttributeTableError.Code?)]
    )
    func handlesOfTwoServicesDoNotOverlap(
        first: AttributeHandle,
        second: AttributeHandle,
        code: AttributeTableError.Code?
    ) {
        let characteristics = [CharacteristicDescription](
            repeating: CharacteristicDescription(uuid: .batteryLevel, properties: .read),
            count: 2
        )
        let services = [
            ServiceDescription(uuid: .battery, characteristics: characteristics),
            ServiceDescription(uuid: .heartRate, handle: second, characteristics: characteristics),
        ]
        guard let code else {
            #expect(throws: Never.self) { try AttributeTable(services: services, firstHandle: first) }
            return
        }
        let error = #expect(throws: AttributeTableError.self) {
            try AttributeTable(services: services, firstHandle: first)
        }
        #expect(error?.code == code)
        #expect(error?.service == 1)
    }

    @Test func aCollisionNamesBothServices() {
        let error = #expect(throws: AttributeTableError.self) {
            try AttributeTable(services: [
                ServiceDescription(uuid: .battery),
                ServiceDescription(uuid: .heartRate, handle: 0x0001),
            ])
        }
        #expect(
            error?.description
                == "service 180d (the one at index 1) needs the handles 0x0001 through 0x0001, "
                + "which overlap the handles of service 180f"
        )
    }
}
