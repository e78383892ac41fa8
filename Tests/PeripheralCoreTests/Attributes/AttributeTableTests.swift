import PeripheralCore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct AttributeTableTests {
    private static let services = [
        ServiceDescription(
            uuid: .heartRate,
            characteristics: [
                CharacteristicDescription(uuid: .heartRateMeasurement, properties: .notify),
                CharacteristicDescription(uuid: .bodySensorLocation, properties: .read),
                CharacteristicDescription(uuid: .heartRateControlPoint, properties: .write),
            ]
        ),
        ServiceDescription(
            uuid: "5c3a0001-7c1e-4b39-9d3e-0a4d2f6b8c11",
            isPrimary: false,
            includedServices: [0],
            characteristics: [
                CharacteristicDescription(
                    uuid: "5c3a0002-7c1e-4b39-9d3e-0a4d2f6b8c11",
                    properties: [.read, .indicate, .writableAuxiliaries],
                    descriptors: [
                        DescriptorDescription(
                            uuid: .characteristicUserDescription,
                            permissions: [.read, .write]
                        ),
                        DescriptorDescription(uuid: .characteristicPresentationFormat),
                    ]
                ),
                CharacteristicDescription(uuid: .batteryLevel, properties: [.write, .reliableWrite]),
            ]
        ),
    ]

    @Test func handlesAreThoseOfBlueZ() throws {
        let table = try AttributeTable(services: Self.services, firstHandle: 0x0010)
        let expected: [(AttributeHandle, BluetoothUUID, AttributeTable.Kind)] = [
            (0x0010, .primaryService, .serviceDeclaration(service: 0)),
            (0x0011, .characteristic, .characteristicDeclaration(service: 0, characteristic: 0)),
            (0x0012, .heartRateMeasurement, .characteristicValue(service: 0, characteristic: 0)),
            (
                0x0013, .clientCharacteristicConfiguration,
                .clientCharacteristicConfiguration(service: 0, characteristic: 0)
            ),
            (0x0014, .characteristic, .characteristicDeclaration(service: 0, characteristic: 1)),
            (0x0015, .bodySensorLocation, .characteristicValue(service: 0, characteristic: 1)),
            (0x0016, .characteristic, .characteristicDeclaration(service: 0, characteristic: 2)),
            (0x0017, .heartRateControlPoint, .characteristicValue(service: 0, characteristic: 2)),
            (0x0018, .secondaryService, .serviceDeclaration(service: 1)),
            (0x0019, .include, .include(service: 1, include: 0)),
            (0x001A, .characteristic, .characteristicDeclaration(service: 1, characteristic: 0)),
            (
                0x001B, "5c3a0002-7c1e-4b39-9d3e-0a4d2f6b8c11",
                .characteristicValue(service: 1, characteristic: 0)
            ),
            (
                0x001C, .clientCharacteristicConfiguration,
                .clientCharacteristicConfiguration(service: 1, characteristic: 0)
            ),
            (
                0x001D, .characteristicExtendedProperties,
                .extendedProperties(service: 1, characteristic: 0)
            ),
            (
                0x001E, .characteristicUserDescription,
                .descriptor(service: 1, characteristic: 0, descriptor: 0)
            ),
            (
                0x001F, .characteristicPresentationFormat,
                .descriptor(service: 1, characteristic: 0, descriptor: 1)
            ),
            (0x0020, .characteristic, .characteristicDeclaration(service: 1, characteristic: 1)),
            (0x0021, .batteryLevel, .characteristicValue(service: 1, characteristic: 1)),
            (
                0x0022, .characteristicExtendedProperties,
                .extendedProperties(service: 1, characteristic: 1)
            ),
        ]
        #expect(table.attributes.map(\.handle) == expected.map(\.0))
        #expect(table.attributes.map(\.type) == expected.map(\.1))
        #expect(table.attributes.map(\.kind) == expected.map(\.2))
        #expect(table.handles == 0x0010...0x0022)
        #expect(table.serviceRange(0) == 0x0010...0x0017)
        #expect(table.serviceRange(1) == 0x0018...0x0022)
        #expect(table.declarationHandle(service: 1, characteristic: 0) == 0x001A)
        #expect(table.valueHandle(service: 1, characteristic: 0) == 0x001B)
        #expect(table.clientConfigurationHandle(service: 1, characteristic: 0) == 0x001C)
        #expect(table.clientConfigurationHandle(service: 1, characteristic: 1) == nil)
        #expect(table.descriptorHandle(service: 1, characteristic: 0, descriptor: 1) == 0x001F)
    }

    @Test func handlesOutsideAreNotInUse() throws {
        let table = try AttributeTable(services: Self.services, firstHandle: 0x0010)
        for handle in [0x0000, 0x000F, 0x0023, 0xFFFF] as [AttributeHandle] {
            #expect(table[handle] == nil)
        }
        #expect(table[0x0010]?.kind == .serviceDeclaration(service: 0))
        #expect(table[0x0022]?.kind == .extendedProperties(service: 1, characteristic: 1))
    }

    /// What is pinned stands there; any other service behind all those before it.
    @Test func pinnedServicesStandWhereTheyWantToBe() throws {
        func service(_ number: UInt16, at handle: AttributeHandle? = nil) -> ServiceDescription {
            ServiceDescription(
                uuid: BluetoothUUID(number),
                handle: handle,
                characteristics: [CharacteristicDescription(uuid: .batteryLevel, properties: .read)]
            )
        }
        let table = try AttributeTable(
            services: [
                service(0xA000), service(0xA001, at: 0x0040), service(0xA002), service(0xA003, at: 0x0001),
                service(0xA004, at: 0xFFFD),
            ],
            firstHandle: 0x0010
        )
        let ranges: [ClosedRange<AttributeHandle>] = [
            0x0010...0x0012, 0x0040...0x0042, 0x0043...0x0045, 0x0001...0x0003, 0xFFFD...0xFFFF,
        ]
        #expect(table.services.indices.map(table.serviceRange) == ranges)
        #expect(table.handles == 0x0001...0xFFFF)
        #expect(table.attributes.map(\.handle) == table.attributes.map(\.handle).sorted())
        for (service, range) in ranges.enumerated() {
            let attributes = table.attributes(ofService: service)
            #expect(attributes.first?.handle == range.lowerBound)
            #expect(attributes.last?.handle == range.upperBound)
            #expect(attributes.allSatisfy { $0.kind.service == service })
        }
        #expect(table.valueHandle(service: 3, characteristic: 0) == 0x0003)
        #expect(table.declarationHandle(service: 1, characteristic: 0) == 0x0041)
        for handle in 0...0xFFFF {
            let handle = AttributeHandle(rawValue: UInt16(handle))
            let service = ranges.firstIndex { $0.contains(handle) }
            #expect(table[handle]?.kind.service == service)
            #expect(
                table.index(of: handle).map { table.attributes[$0].handle } == service.map { _ in handle }
            )
        }
    }

    @Test func noServicesNeedNoHandles() throws {
        let table = try AttributeTable(services: [])
        #expect(table.handles == nil)
        #expect(table.attributes == [])
        #expect(table[0x0001] == nil)
    }

    @Test func anAttributeKnowsItsOwners() throws {
        let table = try AttributeTable(services: Self.services)
        for attribute in table.attributes {
            let expected = attribute.kind.characteristic.map {
                table.services[attribute.kind.service].characteristics[$0]
            }
            #expect(table.characteristic(of: attribute.kind) == expected)
            #expect(table.serviceRange(attribute.kind.service).contains(attribute.handle))
        }
        #expect(table.characteristic(of: .include(service: 1, include: 0)) == nil)
        #expect(
            table.characteristic(of: .characteristicValue(service: 0, characteristic: 1))?.uuid
                == .bodySensorLocation
        )
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func anyServicesAreFoundAgain(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let services = (0..<Int.random(in: 1...5, using: &generator)).map { index in
                ServiceDescription.random(at: index, using: &generator)
            }
            let first = AttributeHandle(rawValue: UInt16.random(in: 1...0x8000, using: &generator))
            let table = try AttributeTable(services: services, firstHandle: first)
            #expect(table == (try AttributeTable(services: services, firstHandle: first)))
            for (index, attribute) in table.attributes.enumerated() {
                #expect(Int(attribute.handle.rawValue) == Int(first.rawValue) + index)
                #expect(table[attribute.handle] == attribute)
                #expect(table.handle(of: attribute.kind) == attribute.handle, "seed \(seed)")
            }
        }
    }

    /// 1 for the service and 2 for each characteristic fill all 65 535 handles.
    @Test func theLastHandleIsInUse() throws {
        let characteristics = [CharacteristicDescription](
            repeating: CharacteristicDescription(uuid: .batteryLevel, properties: .read),
            count: 32_767
        )
        let service = ServiceDescription(uuid: .battery, characteristics: characteristics)
        let table = try AttributeTable(services: [service])
        #expect(table.handles == 0x0001...0xFFFF)
        #expect(table[0xFFFF]?.kind == .characteristicValue(service: 0, characteristic: 32_766))

        let error = #expect(throws: AttributeTableError.self) {
            try AttributeTable(services: [service], firstHandle: 0x0002)
        }
        #expect(error?.code == .handlesExhausted)
        #expect(error?.service == 0)
        let second = #expect(throws: AttributeTableError.self) {
            try AttributeTable(services: [service, ServiceDescription(uuid: .heartRate)])
        }
        #expect(second?.service == 1)
        #expect(second?.description.contains("180d") == true)
    }
}

extension AttributeTable {
    /// The handle that the functions for looking up give to an attribute of this kind.
    fileprivate func handle(of kind: Kind) -> AttributeHandle? {
        switch kind {
        case .serviceDeclaration(let service):
            serviceRange(service).lowerBound
        case .include(let service, let include):
            AttributeHandle(rawValue: serviceRange(service).lowerBound.rawValue + 1 + UInt16(include))
        case .characteristicDeclaration(let service, let characteristic):
            declarationHandle(service: service, characteristic: characteristic)
        case .characteristicValue(let service, let characteristic):
            valueHandle(service: service, characteristic: characteristic)
        case .clientCharacteristicConfiguration(let service, let characteristic):
            clientConfigurationHandle(service: service, characteristic: characteristic)
        case .extendedProperties(let service, let characteristic):
            AttributeHandle(
                rawValue: (clientConfigurationHandle(service: service, characteristic: characteristic)
                    ?? valueHandle(service: service, characteristic: characteristic)).rawValue + 1
            )
        case .descriptor(let service, let characteristic, let descriptor):
            descriptorHandle(service: service, characteristic: characteristic, descriptor: descriptor)
        }
    }
}

extension ServiceDescription {
    fileprivate static func random(at index: Int, using generator: inout SeededGenerator)
        -> ServiceDescription
    {
        ServiceDescription(
            uuid: BluetoothUUID(UInt16.random(in: .min ... .max, using: &generator)),
            isPrimary: Bool.random(using: &generator),
            includedServices: (0..<index).filter { _ in generator.next() % 4 == 0 },
            characteristics: (0..<Int.random(in: 0...4, using: &generator)).map { _ in
                CharacteristicDescription(
                    uuid: BluetoothUUID(UInt32.random(in: .min ... .max, using: &generator)),
                    properties: CharacteristicProperties(
                        rawValue: UInt16(truncatingIfNeeded: generator.next())
                    ),
                    descriptors: (0..<Int.random(in: 0...3, using: &generator)).map { _ in
                        DescriptorDescription(uuid: .characteristicUserDescription)
                    }
                )
            }
        )
    }
}
